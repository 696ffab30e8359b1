//! Calls on contexts and address spaces.
//!
//! i915 `i915_gem_context.c`. Not modelled: virtual, bonded and parallel engines (`ENODEV`, as i915 says of legacy
//! submission), slices of execution units.
use alloc::vec::Vec;

use kernel::dma::PAGE_SIZE;
use kernel::error::{Result, code::EINVAL, code::EIO, code::ENODEV, code::ENOENT, code::EPERM};

use kernel::uaccess::UserPtr;

use super::Call;
use crate::intel::context::{Context, Parameters};
use crate::intel::extension;
use crate::intel::uapi::context::{
    CLASS_INVALID, CREATE_SINGLE_TIMELINE, CREATE_USE_EXTENSIONS, CreateExt, CreateExtSetparam,
    Destroy, EXT_SETPARAM, EngineClassInstance, Param, ParamSseu, ResetStats, VmControl, param,
};
use crate::intel::uapi::exec::RING_MASK;

/// `I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE`; bonds and parallel submission come behind it.
const ENGINE_LOAD_BALANCE: u32 = 0;
/// `I915_CONTEXT_SSEU_FLAG_ENGINE_INDEX`.
const SSEU_ENGINE_INDEX: u32 = 1;

pub(super) fn create(call: &Call<'_>, arg: &mut CreateExt) -> Result {
    if arg.flags & !(CREATE_USE_EXTENSIONS | CREATE_SINGLE_TIMELINE) != 0 {
        return Err(EINVAL);
    }
    let banned = call.file.client().is_banned() || call.program().is_banned();
    if call.device.is_wedged() || banned {
        return Err(EIO);
    }
    // A timeline for all engines is for execution lists.
    if arg.flags & CREATE_SINGLE_TIMELINE != 0 {
        return Err(EINVAL);
    }
    let mut parameters = Parameters::default();
    if arg.flags & CREATE_USE_EXTENSIONS != 0 {
        extension::walk(call, arg.extensions, |name, at| {
            if name != EXT_SETPARAM {
                return Err(EINVAL);
            }
            let link: CreateExtSetparam = extension::read(call, at)?;
            if link.param.ctx_id != 0 {
                return Err(EINVAL);
            }
            set(call, &mut parameters, &link.param, false)
        })?;
    }
    arg.ctx_id = call.file.add_context(parameters)?;
    Ok(())
}

pub(super) fn destroy(call: &Call<'_>, arg: &mut Destroy) -> Result {
    if arg.pad != 0 {
        return Err(EINVAL);
    }
    call.file.remove_context(arg.ctx_id)
}

pub(super) fn getparam(call: &Call<'_>, arg: &mut Param) -> Result {
    let context = call.file.context(arg.ctx_id)?;
    if arg.param == param::SSEU {
        return get_sseu(call, &context, arg);
    }
    let parameters = context.parameters();
    let value = match arg.param {
        param::GTT_SIZE => (call.device.ggtt().entries() * PAGE_SIZE) as u64,
        param::NO_ERROR_CAPTURE => u64::from(parameters.no_error_capture),
        param::BANNABLE => u64::from(parameters.bannable),
        param::RECOVERABLE => u64::from(parameters.recoverable),
        param::PERSISTENCE => u64::from(parameters.persistent),
        param::PRIORITY | param::PROTECTED_CONTENT => 0,
        // No address space but the global one.
        param::VM => return Err(ENODEV),
        _ => return Err(EINVAL),
    };
    arg.size = 0;
    arg.value = value;
    Ok(())
}

/// The execution units of an engine: this family has no choice of them, so all masks are empty (get_sseu).
fn get_sseu(call: &Call<'_>, context: &Context, arg: &mut Param) -> Result {
    let size = size_of::<ParamSseu>() as u32;
    if arg.size != 0 {
        if arg.size < size {
            return Err(EINVAL);
        }
        let user = UserPtr::<ParamSseu>::new(call.task.memory(), arg.value)?;
        let asked = user.read()?;
        if asked.rsvd != 0 || asked.flags & !SSEU_ENGINE_INDEX != 0 {
            return Err(EINVAL);
        }
        let (class, instance) = (asked.engine.engine_class, asked.engine.engine_instance);
        let by_index = asked.flags & SSEU_ENGINE_INDEX != 0;
        let engine = match (by_index, context.parameters().engines.is_some()) {
            // lookup_user_engine: an index is for contexts with a map, a class for those without one.
            (true, true) => context.engine(usize::from(instance)),
            (false, false) if instance == 0 => call.device.info().engine(class),
            _ => None,
        };
        engine.ok_or(EINVAL)?;
        user.write(&ParamSseu {
            slice_mask: 0,
            subslice_mask: 0,
            min_eus_per_subslice: 0,
            max_eus_per_subslice: 0,
            ..asked
        })?;
    }
    arg.size = size;
    Ok(())
}

pub(super) fn setparam(call: &Call<'_>, arg: &mut Param) -> Result {
    let context: alloc::sync::Arc<Context> = call.file.peek_context(arg.ctx_id)?;
    let mut parameters = context.parameters();
    set(call, &mut parameters, arg, context.is_final())?;
    context.set_parameters(parameters);
    Ok(())
}

/// Sets a parameter of a context that is being made, or one that has been used.
fn set(call: &Call<'_>, parameters: &mut Parameters, arg: &Param, used: bool) -> Result {
    let flag = if arg.size == 0 {
        Ok(arg.value != 0)
    } else {
        Err(EINVAL)
    };
    match arg.param {
        param::NO_ERROR_CAPTURE => parameters.no_error_capture = flag?,
        param::BANNABLE => {
            let bannable = flag?;
            if !bannable && !call.task.is_admin() {
                return Err(EPERM);
            }
            parameters.bannable = bannable;
        }
        param::RECOVERABLE => parameters.recoverable = flag?,
        // Legacy rings know no priorities (validate_priority).
        param::PRIORITY => return Err(if arg.size == 0 { ENODEV } else { EINVAL }),
        param::SSEU => {
            let enough = arg.size as usize >= size_of::<ParamSseu>();
            return Err(if enough { ENODEV } else { EINVAL });
        }
        // Engines cannot be reset alone, so requests cannot be cancelled.
        param::PERSISTENCE => {
            if !flag? {
                return Err(ENODEV);
            }
        }
        param::VM if !used => return Err(if arg.size == 0 { ENODEV } else { EINVAL }),
        param::ENGINES if !used => {
            if parameters.engines.is_some() {
                return Err(EINVAL);
            }
            parameters.engines = Some(engines(call, arg)?);
        }
        param::PROTECTED_CONTENT if !used => {
            if arg.value != 0 {
                return Err(ENODEV);
            }
        }
        _ => return Err(EINVAL),
    }
    Ok(())
}

/// Reads an engine map (set_proto_ctx_engines).
fn engines(call: &Call<'_>, arg: &Param) -> Result<Vec<Option<usize>>> {
    let slot = size_of::<EngineClassInstance>() as u64;
    let bytes = u64::from(arg.size).checked_sub(8).ok_or(EINVAL)?;
    if bytes % slot != 0 || bytes / slot > RING_MASK + 1 {
        return Err(EINVAL);
    }
    let user = call.slice(arg.value, u64::from(arg.size))?;
    let mut map = Vec::new();
    for index in 0..bytes / slot {
        let engine: EngineClassInstance = user.read(8 + index * slot)?;
        let class = (engine.engine_class, engine.engine_instance);
        map.push(match class {
            (CLASS_INVALID, CLASS_INVALID) => None,
            (class, 0) => Some(call.device.info().engine(class).ok_or(ENOENT)?),
            _ => return Err(ENOENT),
        });
    }
    let extensions: u64 = user.read(0)?;
    extension::walk(call, extensions, |name, _| {
        // Virtual engines are for execution lists; the others want a virtual engine or several.
        Err(if name == ENGINE_LOAD_BALANCE {
            ENODEV
        } else {
            EINVAL
        })
    })?;
    Ok(map)
}

pub(super) fn reset_stats(call: &Call<'_>, arg: &mut ResetStats) -> Result {
    if arg.flags != 0 || arg.pad != 0 {
        return Err(EINVAL);
    }
    let context = call.file.context(arg.ctx_id)?;
    // Resets of an engine alone do not count (i915_reset_count, intel_engine_reset).
    let counts = call.task.is_admin() && !call.device.info().resets_engines;
    arg.reset_count = if counts { call.device.reset_count() } else { 0 };
    (arg.batch_active, arg.batch_pending) = context.reset_stats();
    Ok(())
}

pub(super) fn vm_create(_: &Call<'_>, _: &mut VmControl) -> Result {
    Err(ENODEV)
}

pub(super) fn vm_destroy(_: &Call<'_>, arg: &mut VmControl) -> Result {
    if arg.flags != 0 || arg.extensions != 0 {
        return Err(EINVAL);
    }
    // None can have been made.
    Err(ENOENT)
}
