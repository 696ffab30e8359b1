//! i915_drm.h: contexts, address spaces, extensions, reset statistics.
//!
//! Not modelled: bonded and parallel engines.
use super::drm::COMMAND_BASE;
use super::{Request, structures};

structures! {
    /// `i915_user_extension`: one link of a chain.
    UserExtension {
        /// The next link, or 0.
        next_extension: u64,
        /// What this is.
        name: u32,
        /// Must be zero.
        flags: u32,
        /// Must be zero.
        rsvd: [u32; 4],
    }
    /// `i915_engine_class_instance`.
    EngineClassInstance {
        /// `CLASS_*`.
        engine_class: u16,
        /// Number within the class.
        engine_instance: u16,
    }
    /// `drm_i915_gem_context_create`.
    Create {
        /// The new context.
        ctx_id: u32,
        /// Must be zero.
        pad: u32,
    }
    /// `drm_i915_gem_context_create_ext`.
    CreateExt {
        /// The new context.
        ctx_id: u32,
        /// `CREATE_*`.
        flags: u32,
        /// Chain of extensions.
        extensions: u64,
    }
    /// `drm_i915_gem_context_destroy`.
    Destroy {
        /// The context.
        ctx_id: u32,
        /// Must be zero.
        pad: u32,
    }
    /// `drm_i915_gem_context_param`.
    Param {
        /// The context.
        ctx_id: u32,
        /// Bytes behind a pointer in `value`.
        size: u32,
        /// Which parameter, see [`param`].
        param: u64,
        /// Its value.
        value: u64,
    }
    /// `drm_i915_gem_context_create_ext_setparam`.
    CreateExtSetparam {
        /// Link of the chain.
        base: UserExtension,
        /// The parameter.
        param: Param,
    }
    /// `drm_i915_gem_context_param_sseu`.
    ParamSseu {
        /// The engine.
        engine: EngineClassInstance,
        /// Flags.
        flags: u32,
        /// Slices.
        slice_mask: u64,
        /// Subslices.
        subslice_mask: u64,
        /// Fewest execution units.
        min_eus_per_subslice: u16,
        /// Most execution units.
        max_eus_per_subslice: u16,
        /// Must be zero.
        rsvd: u32,
    }
    /// `drm_i915_gem_vm_control`.
    VmControl {
        /// Chain of extensions.
        extensions: u64,
        /// Must be zero.
        flags: u32,
        /// The address space.
        vm_id: u32,
    }
    /// `drm_i915_reset_stats`.
    ResetStats {
        /// The context.
        ctx_id: u32,
        /// Must be zero.
        flags: u32,
        /// Resets of the device, for privileged callers.
        reset_count: u32,
        /// Batches of the context that hung.
        batch_active: u32,
        /// Batches of the context that a reset took away.
        batch_pending: u32,
        /// Must be zero.
        pad: u32,
    }
}

/// `DRM_IOCTL_I915_GEM_CONTEXT_CREATE`: the shorter form of the next.
pub const CREATE: Request = Request::iowr::<Create>(COMMAND_BASE + 0x2d);
/// `DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT`.
pub const CREATE_EXT: Request = Request::iowr::<CreateExt>(COMMAND_BASE + 0x2d);
/// `DRM_IOCTL_I915_GEM_CONTEXT_DESTROY`.
pub const DESTROY: Request = Request::iow::<Destroy>(COMMAND_BASE + 0x2e);
/// `DRM_IOCTL_I915_GET_RESET_STATS`.
pub const GET_RESET_STATS: Request = Request::iowr::<ResetStats>(COMMAND_BASE + 0x32);
/// `DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM`.
pub const GETPARAM: Request = Request::iowr::<Param>(COMMAND_BASE + 0x34);
/// `DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM`.
pub const SETPARAM: Request = Request::iowr::<Param>(COMMAND_BASE + 0x35);
/// `DRM_IOCTL_I915_GEM_VM_CREATE`.
pub const VM_CREATE: Request = Request::iowr::<VmControl>(COMMAND_BASE + 0x3a);
/// `DRM_IOCTL_I915_GEM_VM_DESTROY`.
pub const VM_DESTROY: Request = Request::iow::<VmControl>(COMMAND_BASE + 0x3b);

/// `I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS`.
pub const CREATE_USE_EXTENSIONS: u32 = 1 << 0;
/// `I915_CONTEXT_CREATE_FLAGS_SINGLE_TIMELINE`.
pub const CREATE_SINGLE_TIMELINE: u32 = 1 << 1;
/// `I915_CONTEXT_CREATE_EXT_SETPARAM`.
pub const EXT_SETPARAM: u32 = 0;
/// `I915_ENGINE_CLASS_RENDER`.
pub const CLASS_RENDER: u16 = 0;
/// `I915_ENGINE_CLASS_COPY`.
pub const CLASS_COPY: u16 = 1;
/// `I915_ENGINE_CLASS_VIDEO`.
pub const CLASS_VIDEO: u16 = 2;
/// `I915_ENGINE_CLASS_INVALID`, as 16 bits.
pub const CLASS_INVALID: u16 = u16::MAX;
/// `I915_CONTEXT_MAX_USER_PRIORITY`; the least is its negative.
pub const MAX_USER_PRIORITY: i64 = 1023;

/// Parameters of a context (`I915_CONTEXT_PARAM_*`).
pub mod param {
    /// Obsolete.
    pub const BAN_PERIOD: u64 = 0x1;
    /// Obsolete.
    pub const NO_ZEROMAP: u64 = 0x2;
    /// Bytes of the address space.
    pub const GTT_SIZE: u64 = 0x3;
    /// Hangs are not captured.
    pub const NO_ERROR_CAPTURE: u64 = 0x4;
    /// Hangs may ban the context.
    pub const BANNABLE: u64 = 0x5;
    /// Priority of its requests.
    pub const PRIORITY: u64 = 0x6;
    /// Slices, subslices, execution units.
    pub const SSEU: u64 = 0x7;
    /// Goes on after a hang.
    pub const RECOVERABLE: u64 = 0x8;
    /// Address space.
    pub const VM: u64 = 0x9;
    /// Engine map.
    pub const ENGINES: u64 = 0xa;
    /// Requests outlive the context.
    pub const PERSISTENCE: u64 = 0xb;
    /// Bytes of the ring.
    pub const RINGSIZE: u64 = 0xc;
    /// May use protected objects.
    pub const PROTECTED_CONTENT: u64 = 0xd;
}
