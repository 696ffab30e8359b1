//! Who may make a call.
//!
//! drm_ioctl.c (`drm_ioctl_permit`) of Linux 6.1.
use crate::core::file::File;
use crate::core::master::Node;

/// Who may make a call (`enum drm_ioctl_flags`), as bits.
#[derive(Clone, Copy)]
pub(crate) struct Access(pub(crate) u8);

impl Access {
    /// Any file of the primary node.
    pub(crate) const ANY: Self = Access(0);
    /// Files of a render node as well.
    pub(crate) const RENDER: Self = Access(1);
    /// Files that are authenticated.
    pub(crate) const AUTH: Self = Access(2);
    /// The device's master.
    pub(crate) const MASTER: Self = Access(4);
    /// Privileged callers.
    pub(crate) const ROOT: Self = Access(8);

    /// Both conditions.
    pub(crate) const fn and(self, other: Self) -> Self {
        Access(self.0 | other.0)
    }

    const fn asks(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether a call may be made (drm_ioctl_permit).
    pub(crate) fn permits(self, file: &File, admin: bool) -> bool {
        let render = file.node() == Node::Render;
        let seat = &file.device().user().seat;
        (!self.asks(Self::ROOT) || admin)
            && (!self.asks(Self::AUTH) || render || file.member.is_authenticated())
            && (!self.asks(Self::MASTER) || file.member.is_master(seat))
            && (self.asks(Self::RENDER) || !render)
    }
}
