//! Contexts: life, parameters, statistics.
use kernel::error::code::{E2BIG, EFAULT, EINVAL, EIO, ENODEV, ENOENT, EPERM};

use super::*;
use crate::intel::uapi::context::{
    CreateExt, CreateExtSetparam, Destroy, Param, ResetStats, UserExtension, VmControl,
};

fn create(bench: &Bench, flags: u32, extensions: u64) -> Result<u32> {
    let mut arg = CreateExt {
        ctx_id: 0,
        flags,
        extensions,
    };
    let outcome = bench.call(uapi::context::CREATE_EXT, &mut arg);
    outcome.map(|_| arg.ctx_id)
}

fn set(bench: &Bench, ctx_id: u32, param: u64, size: u32, value: u64) -> Result<i32> {
    let mut arg = Param {
        ctx_id,
        size,
        param,
        value,
    };
    bench.call(uapi::context::SETPARAM, &mut arg)
}

fn get(bench: &Bench, ctx_id: u32, param: u64) -> Result<u64> {
    let mut arg = Param {
        ctx_id,
        size: 77,
        param,
        value: 77,
    };
    bench.call(uapi::context::GETPARAM, &mut arg)?;
    assert_eq!(arg.size, 0);
    Ok(arg.value)
}

#[test]
fn contexts_come_and_go() {
    let bench = Bench::new();
    let mut short = uapi::context::Create::default();
    assert_eq!(bench.call(uapi::context::CREATE, &mut short), Ok(0));
    assert_eq!(short.ctx_id, 1);
    assert_eq!(create(&bench, 0, 0), Ok(2));
    assert_eq!(create(&bench, 2, 0), Err(EINVAL), "single timeline");
    assert_eq!(create(&bench, 4, 0), Err(EINVAL));
    assert_eq!(create(&bench, 1, 0x10), Err(EFAULT));
    let destroy = |ctx_id, pad| {
        let mut arg = Destroy { ctx_id, pad };
        bench.call(uapi::context::DESTROY, &mut arg)
    };
    assert_eq!(destroy(1, 1), Err(EINVAL));
    assert_eq!(destroy(1, 0), Ok(0));
    assert_eq!(destroy(1, 0), Err(ENOENT));
    assert_eq!(destroy(0, 0), Err(ENOENT), "the default context stays");
    assert!(bench.device.reset().is_err());
    assert_eq!(create(&bench, 0, 0), Err(EIO));
}

#[test]
fn parameters_of_a_context() {
    let bench = Bench::new();
    let id = create(&bench, 0, 0).unwrap();
    assert_eq!(get(&bench, id, 3), Ok(32768 * 4096), "GTT_SIZE");
    for (param, default) in [(4, 0), (5, 1), (6, 0), (8, 1), (11, 1), (13, 0)] {
        assert_eq!(get(&bench, id, param), Ok(default), "{param}");
        assert_eq!(get(&bench, 0, param), Ok(default), "{param}");
    }
    for none in [1, 2, 10, 12, 14, u64::MAX] {
        assert_eq!(get(&bench, id, none), Err(EINVAL), "{none}");
    }
    assert_eq!(get(&bench, id, 9), Err(ENODEV), "VM");
    assert_eq!(get(&bench, 9, 3), Err(ENOENT));

    // i915_gem_context.c `get_sseu`; 32 bytes: engine, flags, masks, numbers, what must be zero.
    let sseu = |size, value| {
        let mut arg = Param {
            ctx_id: id,
            param: 7,
            size,
            value,
        };
        let outcome = bench.call(uapi::context::GETPARAM, &mut arg);
        outcome.map(|_| arg.size)
    };
    let memory = &bench.process.memory;
    assert_eq!(sseu(0, 0x10), Ok(32), "asks how long it is");
    assert_eq!(sseu(31, 0x10), Err(EINVAL));
    assert_eq!(sseu(32, 0x10), Err(EFAULT));
    let asked = memory.place(&[0u32, 0, 9, 9, 9, 9, 9, 0]);
    assert_eq!(sseu(32, asked), Ok(32));
    assert_eq!(memory.get::<[u32; 8]>(asked).unwrap(), [0; 8]);
    for (at, word) in [(0, 9), (0, 1 << 16), (1, 1), (1, 2), (7, 1)] {
        let mut words = [0u32; 8];
        words[at] = word;
        assert_eq!(sseu(32, memory.place(&words)), Err(EINVAL), "{at}: {word}");
    }

    for flag in [4, 8] {
        for value in [1, 0] {
            assert_eq!(set(&bench, id, flag, 0, value), Ok(0));
            assert_eq!(get(&bench, id, flag), Ok(value));
        }
        assert_eq!(set(&bench, id, flag, 4, 0), Err(EINVAL));
    }
    assert_eq!(set(&bench, id, 5, 0, 0), Err(EPERM));
    bench.process.admin.store(true, Ordering::Relaxed);
    assert_eq!(set(&bench, id, 5, 0, 0), Ok(0));
    assert_eq!(get(&bench, id, 5), Ok(0));
    assert_eq!(set(&bench, id, 6, 0, 0), Err(ENODEV), "PRIORITY");
    assert_eq!(set(&bench, id, 6, 8, 0), Err(EINVAL));
    assert_eq!(set(&bench, id, 7, 31, 0), Err(EINVAL), "SSEU");
    assert_eq!(set(&bench, id, 7, 32, 0), Err(ENODEV));
    assert_eq!(set(&bench, id, 11, 0, 1), Ok(0));
    assert_eq!(set(&bench, id, 11, 0, 0), Err(ENODEV));
    for none in [1, 2, 3, 9, 10, 12, 13, 14] {
        assert_eq!(set(&bench, id, none, 0, 0), Err(EINVAL), "{none}");
    }
    assert_eq!(set(&bench, 9, 4, 0, 0), Err(ENOENT));
}

#[test]
fn engine_maps_are_set_before_the_first_use() {
    let bench = Bench::new();
    let memory = &bench.process.memory;
    let id = create(&bench, 0, 0).unwrap();
    assert_eq!(set(&bench, id, 9, 0, 1), Err(ENODEV), "VM of an unused one");
    // Render, nothing, then one that is not there.
    let map = memory.place(&[0u32, 0, 0, u32::MAX, 1]);
    assert_eq!(set(&bench, id, 10, 7, map), Err(EINVAL));
    assert_eq!(set(&bench, id, 10, 10, map), Err(EINVAL));
    assert_eq!(set(&bench, id, 10, 8 + 65 * 4, map), Err(EINVAL));
    assert_eq!(set(&bench, id, 10, 12, 0x10), Err(EFAULT));
    assert_eq!(set(&bench, id, 10, 20, map), Err(ENOENT));
    assert_eq!(set(&bench, id, 10, 16, map), Ok(0));
    assert_eq!(set(&bench, id, 10, 16, map), Err(EINVAL), "twice");
    let batch = bench.batch();
    let run = |ring| {
        let mut list = objects(&[batch]);
        bench
            .exec_with(&mut list, |arg| {
                arg.flags = ring;
                arg.rsvd1 = u64::from(id);
            })
            .map(drop)
    };
    assert_eq!(run(0), Ok(()));
    assert_eq!(run(1), Err(EINVAL));
    assert_eq!(run(2), Err(EINVAL));
    // With an extension: load balancing is for execution lists.
    let link = memory.place(&UserExtension::default());
    let map = memory.place(&[link, 0]);
    let other = create(&bench, 0, 0).unwrap();
    assert_eq!(set(&bench, other, 10, 12, map), Err(ENODEV));
}

#[test]
fn parameters_at_creation() {
    let bench = Bench::new();
    let memory = &bench.process.memory;
    let mut link = CreateExtSetparam::default();
    (link.param.param, link.param.value) = (8, 0);
    let id = create(&bench, 1, memory.place(&link)).unwrap();
    assert_eq!(get(&bench, id, 8), Ok(0));
    (link.param.param, link.param.value) = (13, 1);
    assert_eq!(create(&bench, 1, memory.place(&link)), Err(ENODEV));
    link.param.ctx_id = 1;
    assert_eq!(create(&bench, 1, memory.place(&link)), Err(EINVAL));
    link.base.name = 1;
    assert_eq!(create(&bench, 1, memory.place(&link)), Err(EINVAL), "clone");
    // A chain that bites its own tail.
    let mut link = CreateExtSetparam::default();
    link.param.param = 8;
    let at = memory.place(&link);
    UserMemory::write(memory, at, &at.to_le_bytes()).unwrap();
    assert_eq!(create(&bench, 1, at), Err(E2BIG));
}

#[test]
fn hangs_are_counted_and_ban() {
    let bench = Bench::stuck();
    bench.fake.on_config_write(Box::new(|fake, offset, value| {
        if offset == 0xc0 {
            fake.set_config(0xc0, (value as u8 & 1) * 3);
            // What runs again after the reset ends.
            fake.on_write(Box::new(finish));
        }
    }));
    let id = create(&bench, 0, 0).unwrap();
    set(&bench, id, 8, 0, 0).unwrap();
    let stats = |ctx_id| {
        let mut arg = ResetStats {
            ctx_id,
            ..Default::default()
        };
        let outcome = bench.call(uapi::context::GET_RESET_STATS, &mut arg);
        outcome.map(|_| (arg.reset_count, arg.batch_active, arg.batch_pending))
    };
    assert_eq!(stats(id), Ok((0, 0, 0)));
    let batch = bench.batch();
    let run = |id: u32| {
        let mut list = objects(&[batch]);
        let run = bench.exec_with(&mut list, |arg| arg.rsvd1 = u64::from(id));
        run.map(drop)
    };
    run(id).unwrap();
    run(0).unwrap();
    let mut wait = uapi::gem::Wait {
        bo_handle: batch,
        flags: 0,
        timeout_ns: -1,
    };
    // The engine stands still, is found out and reset; waiting itself succeeds.
    assert_eq!(bench.call(uapi::gem::WAIT, &mut wait), Ok(0));
    assert!(bench.device.error_state().is_some());
    assert_eq!(stats(id), Ok((0, 1, 0)));
    assert_eq!(stats(0), Ok((0, 0, 1)));
    bench.process.admin.store(true, Ordering::Relaxed);
    assert_eq!(stats(0), Ok((1, 0, 1)));
    assert_eq!(run(id), Err(EIO), "banned: it cannot recover");
    assert_eq!(run(0), Ok(()));
    assert_eq!(stats(7), Err(ENOENT));
    let mut arg = ResetStats {
        flags: 1,
        ..Default::default()
    };
    assert_eq!(
        bench.call(uapi::context::GET_RESET_STATS, &mut arg),
        Err(EINVAL)
    );
}

#[test]
fn there_is_one_address_space() {
    let bench = Bench::new();
    let mut arg = VmControl::default();
    assert_eq!(bench.call(uapi::context::VM_CREATE, &mut arg), Err(ENODEV));
    assert_eq!(bench.call(uapi::context::VM_DESTROY, &mut arg), Err(ENOENT));
    arg.flags = 1;
    assert_eq!(bench.call(uapi::context::VM_DESTROY, &mut arg), Err(EINVAL));
}
