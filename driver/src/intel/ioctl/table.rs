//! The table of calls: which there are and who may make them.
//!
//! drm_ioctl.c (`drm_ioctls`) and i915 `i915_driver.c` of Linux 6.1.
use kernel::error::Result;

use super::refused::REFUSED;
use super::{Call, auth, base, context, domain, mmap, mode, object, query, syncobj, tiling, with};
use crate::intel::exec;
use crate::intel::file::{File, Node};
use crate::intel::uapi::{self, Request};

pub(super) type Handler = fn(&Call<'_>, &mut [u8]) -> Result;

/// Who may make a call (`enum drm_ioctl_flags`), as bits.
#[derive(Clone, Copy)]
pub(super) struct Access(pub(super) u8);

impl Access {
    /// Any file of the primary node.
    pub(super) const ANY: Self = Access(0);
    /// Files of a render node as well.
    pub(super) const RENDER: Self = Access(1);
    /// Files that are authenticated.
    pub(super) const AUTH: Self = Access(2);
    /// The device's master.
    pub(super) const MASTER: Self = Access(4);
    /// Privileged callers.
    pub(super) const ROOT: Self = Access(8);

    /// Both conditions.
    pub(super) const fn and(self, other: Self) -> Self {
        Access(self.0 | other.0)
    }

    const fn asks(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether a call may be made (drm_ioctl_permit).
    pub(super) fn permits(self, file: &File, admin: bool) -> bool {
        let render = file.node() == Node::Render;
        let seat = &file.device().user().seat;
        (!self.asks(Self::ROOT) || admin)
            && (!self.asks(Self::AUTH) || render || file.member.is_authenticated())
            && (!self.asks(Self::MASTER) || file.member.is_master(seat))
            && (self.asks(Self::RENDER) || !render)
    }
}

/// One row of the table.
pub(super) struct Row {
    pub(super) request: Request,
    pub(super) access: Access,
    pub(super) run: Handler,
}

macro_rules! rows {
    ($([$access:ident] $($request:path: $argument:ty => $handler:path;)*)*) => {
        &[$($(Row {
            request: $request,
            access: Access::$access,
            run: |call, block| with::<$argument>(call, block, $handler),
        }),*),*]
    };
}

/// The calls that do something.
pub(super) static ROWS: &[Row] = rows! {
    [RENDER]
    uapi::drm::VERSION: uapi::drm::Version => base::version;
    uapi::drm::GET_CAP: uapi::drm::GetCap => base::get_cap;
    uapi::drm::GEM_CLOSE: uapi::drm::GemClose => base::gem_close;
    uapi::drm::PRIME_HANDLE_TO_FD: uapi::drm::PrimeHandle => base::prime_handle_to_fd;
    uapi::drm::PRIME_FD_TO_HANDLE: uapi::drm::PrimeHandle => base::prime_fd_to_handle;
    uapi::syncobj::CREATE: uapi::syncobj::Create => syncobj::create;
    uapi::syncobj::DESTROY: uapi::syncobj::Destroy => syncobj::destroy;
    uapi::syncobj::HANDLE_TO_FD: uapi::syncobj::Handle => syncobj::handle_to_fd;
    uapi::syncobj::FD_TO_HANDLE: uapi::syncobj::Handle => syncobj::fd_to_handle;
    uapi::syncobj::WAIT: uapi::syncobj::Wait => syncobj::wait;
    uapi::syncobj::RESET: uapi::syncobj::Array => syncobj::reset;
    uapi::syncobj::SIGNAL: uapi::syncobj::Array => syncobj::signal;
    uapi::syncobj::TIMELINE_WAIT: uapi::syncobj::TimelineWait => syncobj::timeline_wait;
    uapi::syncobj::QUERY: uapi::syncobj::TimelineArray => syncobj::query;
    uapi::syncobj::TRANSFER: uapi::syncobj::Transfer => syncobj::transfer;
    uapi::syncobj::TIMELINE_SIGNAL: uapi::syncobj::TimelineArray => syncobj::timeline_signal;
    uapi::query::GETPARAM: uapi::query::Getparam => query::getparam;
    uapi::query::QUERY: uapi::query::Query => query::query;
    uapi::query::REG_READ: uapi::query::RegRead => query::reg_read;
    uapi::gem::CREATE: uapi::gem::Create => object::create;
    uapi::gem::CREATE_EXT: uapi::gem::CreateExt => object::create_ext;
    uapi::gem::PREAD: uapi::gem::Transfer => object::pread;
    uapi::gem::PWRITE: uapi::gem::Transfer => object::pwrite;
    uapi::gem::MADVISE: uapi::gem::Madvise => object::madvise;
    uapi::gem::USERPTR: uapi::gem::Userptr => object::userptr;
    uapi::gem::GET_APERTURE: uapi::gem::GetAperture => object::get_aperture;
    uapi::gem::MMAP: uapi::gem::Mmap => mmap::mmap;
    uapi::gem::MMAP_OFFSET: uapi::gem::MmapOffset => mmap::mmap_offset;
    uapi::gem::SET_DOMAIN: uapi::gem::SetDomain => domain::set_domain;
    uapi::gem::SW_FINISH: uapi::gem::SwFinish => domain::sw_finish;
    uapi::gem::SET_CACHING: uapi::gem::Caching => domain::set_caching;
    uapi::gem::GET_CACHING: uapi::gem::Caching => domain::get_caching;
    uapi::gem::BUSY: uapi::gem::Busy => domain::busy;
    uapi::gem::WAIT: uapi::gem::Wait => domain::wait;
    uapi::gem::THROTTLE: [u8; 0] => domain::throttle;
    uapi::gem::SET_TILING: uapi::gem::SetTiling => tiling::set_tiling;
    uapi::gem::GET_TILING: uapi::gem::GetTiling => tiling::get_tiling;
    uapi::context::CREATE_EXT: uapi::context::CreateExt => context::create;
    uapi::context::DESTROY: uapi::context::Destroy => context::destroy;
    uapi::context::GETPARAM: uapi::context::Param => context::getparam;
    uapi::context::SETPARAM: uapi::context::Param => context::setparam;
    uapi::context::GET_RESET_STATS: uapi::context::ResetStats => context::reset_stats;
    uapi::context::VM_CREATE: uapi::context::VmControl => context::vm_create;
    uapi::context::VM_DESTROY: uapi::context::VmControl => context::vm_destroy;
    uapi::exec::EXECBUFFER2_WR: uapi::exec::Execbuffer2 => exec::user;
    [ANY]
    uapi::drm::GET_UNIQUE: uapi::drm::Unique => auth::get_unique;
    uapi::drm::GET_MAGIC: uapi::drm::Auth => auth::get_magic;
    uapi::drm::GET_CLIENT: uapi::drm::Client => auth::get_client;
    uapi::drm::GET_STATS: uapi::drm::Stats => auth::get_stats;
    uapi::drm::SET_CLIENT_CAP: uapi::drm::SetClientCap => base::set_client_cap;
    uapi::mode::GET_RESOURCES: uapi::mode::CardResources => mode::get_resources;
    uapi::mode::GET_PLANE_RESOURCES: uapi::mode::PlaneResources => mode::get_plane_resources;
    uapi::drm::SET_MASTER: [u8; 0] => auth::set_master;
    uapi::drm::DROP_MASTER: [u8; 0] => auth::drop_master;
    [AUTH]
    uapi::drm::GEM_FLINK: uapi::drm::GemFlink => base::gem_flink;
    uapi::drm::GEM_OPEN: uapi::drm::GemOpen => base::gem_open;
    [MASTER]
    uapi::drm::SET_VERSION: uapi::drm::SetVersion => auth::set_version;
    uapi::drm::AUTH_MAGIC: uapi::drm::Auth => auth::auth_magic;
};

/// What is known of a number.
pub(super) enum Known {
    /// It does something.
    Served(&'static Row),
    /// It does nothing, with or without an error.
    Refused(&'static super::refused::Row),
}

/// The row of a number. As in Linux neither the size nor the direction of a request matters for this.
pub(super) fn find(number: u32) -> Option<Known> {
    let is = |request: Request| request.number() == number;
    let served = ROWS.iter().find(|row| is(row.request));
    let refused = || REFUSED.iter().find(|row| is(row.request));
    served
        .map(Known::Served)
        .or_else(|| refused().map(Known::Refused))
}
