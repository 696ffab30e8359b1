//! Calls on contexts and address spaces.
//!
//! i915 `i915_gem_context.c`. Not modelled: virtual, bonded and parallel engines (`ENODEV`, as i915 says of legacy
//! submission), slices of execution units.
use alloc::vec::Vec;

use kernel::dma::PAGE_SIZE;
use kernel::error::{Result, code::EINVAL, code::EIO, code::ENODEV, code::ENOENT, code::EPERM};

use super::Call;
use crate::intel::context::{Context, Parameters};
use crate::intel::extension;
use crate::intel::uapi::context::{
    CLASS_INVALID, CREATE_SINGLE_TIMELINE, CREATE_USE_EXTENSIONS, CreateExt, CreateExtSetparam,
    Destroy, EXT_SETPARAM, EngineClassInstance, Param, ParamSseu, ResetStats, VmControl, param,
};
use crate::intel::uapi::exec::RING_MASK;

/// Extensions of an engine map: load balancing, bonds, parallel submission.
const ENGINE_EXTENSIONS: u32 = 3;

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
        Err(if name < ENGINE_EXTENSIONS {
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
    arg.reset_count = if call.task.is_admin() {
        call.device.reset_count()
    } else {
        0
    };
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
