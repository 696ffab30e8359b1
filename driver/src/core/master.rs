//! Masters of a device: who may do what, and who vouches for whom.
//!
//! drm_auth.c of Linux 6.1. A file of the primary node that is opened while there is no master becomes master; a file that is not
//! privileged shows its master a magic number, and the master lets it share objects by name. Not modelled: leases.
use alloc::sync::Arc;

use kernel::error::{Result, code::EACCES, code::EBUSY, code::EINVAL};
use kernel::sync::{AtomicBool, Ordering, SpinLock};

use crate::core::handles::Handles;

/// Which node was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// `/dev/dri/cardN`: the first to open it is master, see [`Opener`].
    Primary,
    /// `/dev/dri/renderDN`.
    Render,
}

/// Who opens a file.
#[derive(Clone, Copy, Debug)]
pub struct Opener {
    /// Number of the process.
    pub pid: u32,
    /// Whether it is privileged (`CAP_SYS_ADMIN`).
    pub admin: bool,
}

impl Opener {
    /// The privileged one, for those who share a process with the driver.
    pub const ROOT: Opener = Opener {
        pid: 0,
        admin: true,
    };
}

/// A master and the files that were opened under it (`drm_master`).
#[derive(Default)]
pub(crate) struct Master {
    /// Files that wait for its word, by their magic; `None` once it has given it (the number stays taken).
    magics: SpinLock<Handles<Option<Arc<AtomicBool>>>>,
    /// Whether SET_VERSION has tied it to the device's name.
    named: AtomicBool,
}

/// The master of a device, if there is one; taken before anything else of this file.
pub(crate) type Seat = SpinLock<Option<Arc<Master>>>;

struct State {
    master: Option<Arc<Master>>,
    /// The master was made for this file.
    own: bool,
    /// It has been the device's master at some time.
    was_master: bool,
    magic: Option<(Arc<Master>, u32)>,
}

/// What a file is under the masters of its device.
pub(crate) struct Membership {
    opener: Opener,
    authenticated: Arc<AtomicBool>,
    state: SpinLock<State>,
}

impl Membership {
    /// That of a new file (drm_master_open; render nodes have no masters).
    pub(crate) fn new(node: Node, seat: &Seat, opener: Opener) -> Self {
        let member = Membership {
            opener,
            authenticated: Arc::new(AtomicBool::new(opener.admin)),
            state: SpinLock::new(State {
                master: None,
                own: false,
                was_master: false,
                magic: None,
            }),
        };
        if node == Node::Primary {
            let mut seat = seat.lock();
            match &*seat {
                Some(master) => member.state.lock().master = Some(Arc::clone(master)),
                None => member.ascend(&mut seat),
            }
        }
        member
    }

    /// Makes a master of this file and sets it in (drm_new_set_master).
    fn ascend(&self, seat: &mut Option<Arc<Master>>) {
        let master = Arc::new(Master::default());
        *seat = Some(Arc::clone(&master));
        self.authenticated.store(true, Ordering::Release);
        let mut state = self.state.lock();
        state.master = Some(master);
        (state.own, state.was_master) = (true, true);
    }

    /// Whether it is privileged or a master vouches for it.
    pub(crate) fn is_authenticated(&self) -> bool {
        self.authenticated.load(Ordering::Acquire)
    }

    /// Whether it has been the device's master at some time.
    pub(crate) fn was_master(&self) -> bool {
        self.state.lock().was_master
    }

    /// Whether it is the device's master now.
    pub(crate) fn is_master(&self, seat: &Seat) -> bool {
        let seat = seat.lock();
        self.sits(seat.as_ref())
    }

    fn sits(&self, seat: Option<&Arc<Master>>) -> bool {
        let state = self.state.lock();
        let own = state.own.then_some(state.master.as_ref()).flatten();
        own.zip(seat)
            .is_some_and(|(own, seat)| Arc::ptr_eq(own, seat))
    }

    fn master(&self) -> Result<Arc<Master>> {
        self.state.lock().master.clone().ok_or(EINVAL)
    }

    /// The number by which its master knows it (drm_getmagic).
    pub(crate) fn magic(&self) -> Result<u32> {
        let mut state = self.state.lock();
        if let Some((_, magic)) = &state.magic {
            return Ok(*magic);
        }
        let master = state.master.clone().ok_or(EINVAL)?;
        let waiting = Some(Arc::clone(&self.authenticated));
        let magic = master.magics.lock().insert(waiting)?;
        state.magic = Some((master, magic));
        Ok(magic)
    }

    /// Gives the word of this file's master for another one, once; `EINVAL` when no file has that number or it has the
    /// word already (drm_authmagic).
    pub(crate) fn vouch(&self, magic: u32) -> Result {
        let master = self.master()?;
        let mut magics = master.magics.lock();
        let waiting = magics.get_mut(magic).and_then(Option::take);
        waiting.ok_or(EINVAL)?.store(true, Ordering::Release);
        Ok(())
    }

    /// Ties its master to the device's name (drm_set_busid).
    pub(crate) fn name_master(&self) -> Result {
        self.master()?.named.store(true, Ordering::Release);
        Ok(())
    }

    /// Whether its master has been tied to the device's name.
    pub(crate) fn is_named(&self) -> Result<bool> {
        Ok(self.master()?.named.load(Ordering::Acquire))
    }

    /// drm_master_check_perm.
    fn may_change(&self, caller: Opener) -> Result {
        let before = self.opener.pid == caller.pid && self.state.lock().was_master;
        if before || caller.admin {
            Ok(())
        } else {
            Err(EACCES)
        }
    }

    /// Becomes master; `EBUSY` when another one is (drm_setmaster_ioctl).
    pub(crate) fn set_master(&self, seat: &Seat, caller: Opener) -> Result {
        let mut seat = seat.lock();
        self.may_change(caller)?;
        if self.sits(seat.as_ref()) {
            return Ok(());
        }
        if seat.is_some() {
            return Err(EBUSY);
        }
        let own = {
            let state = self.state.lock();
            state.own.then(|| state.master.clone()).flatten()
        };
        match own {
            Some(master) => *seat = Some(master),
            None => self.ascend(&mut seat),
        }
        Ok(())
    }

    /// Is master no more; `EINVAL` when it is not (drm_dropmaster_ioctl).
    pub(crate) fn drop_master(&self, seat: &Seat, caller: Opener) -> Result {
        let mut seat = seat.lock();
        self.may_change(caller)?;
        if !self.sits(seat.as_ref()) {
            return Err(EINVAL);
        }
        *seat = None;
        Ok(())
    }

    /// The file is closed (drm_master_release).
    pub(crate) fn release(&self, seat: &Seat) {
        let mut seat = seat.lock();
        if self.sits(seat.as_ref()) {
            *seat = None;
        }
        if let Some((master, magic)) = self.state.lock().magic.take() {
            master.magics.lock().remove(magic);
        }
    }
}
