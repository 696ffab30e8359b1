//! The calls of i915 that do something, and who may make them.
//!
//! i915 `i915_driver.c` (`i915_ioctls`) of Linux 6.1.
use super::{Call, context, domain, mmap, object, query, tiling};
use crate::core::ioctl::table::{Row, rows};
use crate::intel::exec;
use crate::intel::uapi;

/// The rows.
pub(super) static ROWS: &[Row] = rows! {
    Call::of;
    [RENDER]
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
};
