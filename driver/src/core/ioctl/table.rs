//! The table of calls that do something: the core's, and a vendor's beside.
//!
//! drm_ioctl.c (`drm_ioctls`) of Linux 6.1.
use kernel::error::Result;

use super::access::Access;
use super::{Call, auth, base, mode, refused, syncobj};
use crate::core::uapi::{self, Request};

pub(crate) type Handler = fn(&Call<'_>, &mut [u8]) -> Result;

/// One row of the table.
pub(crate) struct Row {
    pub(crate) request: Request,
    pub(crate) access: Access,
    pub(crate) run: Handler,
}

/// Rows of a table: `call` makes what the handlers take of a [`Call`].
macro_rules! rows {
    ($call:path; $([$access:ident] $($request:path: $argument:ty => $handler:path;)*)*) => {
        &[$($($crate::core::ioctl::table::Row {
            request: $request,
            access: $crate::core::ioctl::access::Access::$access,
            run: |call, block| $crate::core::ioctl::with::<$argument>(call, block, |call, argument| {
                $handler(&$call(call)?, argument)
            }),
        }),*),*]
    };
}
pub(crate) use rows;

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape of what vendors do here"
)]
fn same<'a>(call: &Call<'a>) -> Result<Call<'a>> {
    Ok(*call)
}

/// The core's calls that do something.
static ROWS: &[Row] = rows! {
    same;
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

/// The calls of a vendor beside the core's.
pub(crate) struct Table {
    /// Those that do something.
    pub(crate) rows: &'static [Row],
    /// Those that do nothing.
    pub(crate) refused: &'static [refused::Row],
}

impl Table {
    /// All calls that do something, the core's first.
    pub(crate) fn served(&self) -> impl Iterator<Item = &'static Row> + use<> {
        ROWS.iter().chain(self.rows)
    }

    /// All calls that do nothing.
    pub(crate) fn refused(&self) -> impl Iterator<Item = &'static refused::Row> + use<> {
        refused::REFUSED.iter().chain(self.refused)
    }
}

/// What is known of a number.
pub(crate) enum Known {
    /// It does something.
    Served(&'static Row),
    /// It does nothing, with or without an error.
    Refused(&'static refused::Row),
}

/// The row of a number. As in Linux neither the size nor the direction of a request matters for this.
pub(crate) fn find(vendor: &Table, number: u32) -> Option<Known> {
    let is = |request: Request| request.number() == number;
    let served = vendor.served().find(|row| is(row.request));
    let refused = || vendor.refused().find(|row| is(row.request));
    served
        .map(Known::Served)
        .or_else(|| refused().map(Known::Refused))
}
