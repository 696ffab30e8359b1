//! Numbers and sizes against what a C compiler makes of the headers.
//!
//! Literals printed by a C program over drm.h and i915_drm.h of libdrm-dev 2.4.114-1+b1 (Debian 12, amd64).
use super::*;

const NUMBERS: &[(Request, u32)] = &[
    (drm::VERSION, 0xc040_6400),
    (drm::GET_CAP, 0xc010_640c),
    (drm::SET_CLIENT_CAP, 0x4010_640d),
    (drm::GEM_CLOSE, 0x4008_6409),
    (drm::GEM_FLINK, 0xc008_640a),
    (drm::GEM_OPEN, 0xc010_640b),
    (drm::PRIME_HANDLE_TO_FD, 0xc00c_642d),
    (drm::PRIME_FD_TO_HANDLE, 0xc00c_642e),
    (syncobj::CREATE, 0xc008_64bf),
    (syncobj::DESTROY, 0xc008_64c0),
    (syncobj::HANDLE_TO_FD, 0xc010_64c1),
    (syncobj::FD_TO_HANDLE, 0xc010_64c2),
    (syncobj::WAIT, 0xc020_64c3),
    (syncobj::RESET, 0xc010_64c4),
    (syncobj::SIGNAL, 0xc010_64c5),
    (syncobj::TIMELINE_WAIT, 0xc028_64ca),
    (syncobj::QUERY, 0xc018_64cb),
    (syncobj::TRANSFER, 0xc020_64cc),
    (syncobj::TIMELINE_SIGNAL, 0xc018_64cd),
    (query::GETPARAM, 0xc010_6446),
    (query::SETPARAM, 0x4008_6447),
    (exec::EXECBUFFER2, 0x4040_6469),
    (exec::EXECBUFFER2_WR, 0xc040_6469),
    (gem::BUSY, 0xc008_6457),
    (gem::SET_CACHING, 0x4008_646f),
    (gem::GET_CACHING, 0xc008_6470),
    (gem::THROTTLE, 0x0000_6458),
    (gem::CREATE, 0xc010_645b),
    (gem::CREATE_EXT, 0xc018_647c),
    (gem::PREAD, 0x4020_645c),
    (gem::PWRITE, 0x4020_645d),
    (gem::MMAP, 0xc028_645e),
    (gem::MMAP_GTT, 0xc010_6464),
    (gem::MMAP_OFFSET, 0xc020_6464),
    (gem::SET_DOMAIN, 0x400c_645f),
    (gem::SW_FINISH, 0x4004_6460),
    (gem::SET_TILING, 0xc010_6461),
    (gem::GET_TILING, 0xc010_6462),
    (gem::GET_APERTURE, 0x8010_6463),
    (gem::MADVISE, 0xc00c_6466),
    (gem::WAIT, 0xc010_646c),
    (context::CREATE, 0xc008_646d),
    (context::CREATE_EXT, 0xc010_646d),
    (context::DESTROY, 0x4008_646e),
    (query::REG_READ, 0xc010_6471),
    (context::GET_RESET_STATS, 0xc018_6472),
    (gem::USERPTR, 0xc018_6473),
    (context::GETPARAM, 0xc018_6474),
    (context::SETPARAM, 0xc018_6475),
    (query::QUERY, 0xc010_6479),
    (context::VM_CREATE, 0xc010_647a),
    (context::VM_DESTROY, 0x4010_647b),
];

const SIZES: &[(usize, usize)] = &[
    (size_of::<drm::Version>(), 64),
    (size_of::<drm::GetCap>(), 16),
    (size_of::<drm::SetClientCap>(), 16),
    (size_of::<drm::GemClose>(), 8),
    (size_of::<drm::GemFlink>(), 8),
    (size_of::<drm::GemOpen>(), 16),
    (size_of::<drm::PrimeHandle>(), 12),
    (size_of::<syncobj::Create>(), 8),
    (size_of::<syncobj::Destroy>(), 8),
    (size_of::<syncobj::Handle>(), 16),
    (size_of::<syncobj::Wait>(), 32),
    (size_of::<syncobj::TimelineWait>(), 40),
    (size_of::<syncobj::Array>(), 16),
    (size_of::<syncobj::TimelineArray>(), 24),
    (size_of::<syncobj::Transfer>(), 32),
    (size_of::<query::Getparam>(), 16),
    (size_of::<query::Setparam>(), 8),
    (size_of::<gem::Create>(), 16),
    (size_of::<gem::CreateExt>(), 24),
    (size_of::<gem::Transfer>(), 32),
    (size_of::<gem::Mmap>(), 40),
    (size_of::<gem::MmapGtt>(), 16),
    (size_of::<gem::MmapOffset>(), 32),
    (size_of::<gem::SetDomain>(), 12),
    (size_of::<gem::SwFinish>(), 4),
    (size_of::<exec::Relocation>(), 32),
    (size_of::<exec::Object>(), 56),
    (size_of::<exec::Fence>(), 8),
    (size_of::<exec::TimelineFences>(), 56),
    (size_of::<exec::Execbuffer2>(), 64),
    (size_of::<gem::Busy>(), 8),
    (size_of::<gem::Caching>(), 8),
    (size_of::<gem::SetTiling>(), 16),
    (size_of::<gem::GetTiling>(), 16),
    (size_of::<gem::GetAperture>(), 16),
    (size_of::<gem::Madvise>(), 12),
    (size_of::<gem::Wait>(), 16),
    (size_of::<context::Create>(), 8),
    (size_of::<context::CreateExt>(), 16),
    (size_of::<context::CreateExtSetparam>(), 56),
    (size_of::<context::Destroy>(), 8),
    (size_of::<context::Param>(), 24),
    (size_of::<context::ParamSseu>(), 32),
    (size_of::<query::RegRead>(), 16),
    (size_of::<context::ResetStats>(), 24),
    (size_of::<gem::Userptr>(), 24),
    (size_of::<context::VmControl>(), 16),
    (size_of::<context::UserExtension>(), 32),
    (size_of::<query::Query>(), 16),
    (size_of::<query::QueryItem>(), 24),
    (size_of::<query::QueryMemoryRegions>(), 16),
    (size_of::<query::MemoryRegionInfo>(), 88),
    (size_of::<query::QueryEngineInfo>(), 16),
    (size_of::<query::EngineInfo>(), 56),
    (size_of::<query::TopologyInfo>(), 16),
    (size_of::<context::EngineClassInstance>(), 4),
];

#[test]
fn ioctl_numbers_are_those_of_the_headers() {
    for (index, (ours, theirs)) in NUMBERS.iter().enumerate() {
        assert_eq!(ours.0, *theirs, "row {index}: {:#010x}", ours.0);
    }
}

#[test]
fn sizes_are_those_of_the_headers() {
    for (index, (ours, theirs)) in SIZES.iter().enumerate() {
        assert_eq!(ours, theirs, "row {index}");
    }
}

#[test]
fn flags_are_those_of_the_headers() {
    assert_eq!(exec::HANDLE_LUT, 0x1000);
    assert_eq!(exec::NO_RELOC, 0x800);
    assert_eq!(exec::FENCE_ARRAY, 0x80000);
    assert_eq!(exec::BATCH_FIRST, 0x40000);
    assert_eq!(exec::UNKNOWN_FLAGS, 0xffffffffffc00000);
    assert_eq!(exec::OBJECT_UNKNOWN_FLAGS, 0xffff_ffff_ffff_ff00);
    assert_eq!(exec::FENCE_UNKNOWN_FLAGS, 0xffff_fffc);
    assert_eq!(exec::CONSTANTS_MASK, 0xc0);
    assert_eq!(exec::RESOURCE_STREAMER, 0x8000);
    assert_eq!(exec::USE_EXTENSIONS, 0x200000);
    assert_eq!(exec::FENCE_IN, 0x10000);
    assert_eq!(exec::FENCE_OUT, 0x20000);
    assert_eq!(exec::FENCE_SUBMIT, 0x100000);
    assert_eq!(exec::SECURE, 0x200);
    assert_eq!(exec::IS_PINNED, 0x400);
    assert_eq!(exec::BSD_MASK, 0x6000);
    assert_eq!(exec::OBJECT_PINNED, 0x10);
    assert_eq!(exec::OBJECT_PAD_TO_SIZE, 0x20);
    assert_eq!(exec::OBJECT_ASYNC, 0x40);
    assert_eq!(exec::OBJECT_CAPTURE, 0x80);
    assert_eq!(exec::OBJECT_SUPPORTS_48B_ADDRESS, 0x8);
}
