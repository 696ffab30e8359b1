//! Saturation of integers to floats; the instructions that G45 adds.
//!
//! PRM: volume 4, 10.4.4.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use crate::tests::{TestPort, dst, op, run, run_in, send, thread, vec8};
use crate::{KernelCache, Stop};
use isa::operand::{Src, Type};
use isa::{Inst, Opcode, Verx10};

fn mov(to: Type, from: Type) -> Inst {
    op(Opcode::Mov, 8, dst(10, to), &[vec8(2, from)])
}

/// A float destination saturates to [0,1] whatever the source was.
#[test]
fn integers_saturate_as_the_floats_they_become() {
    let mut t = thread();
    t.grf_mut()[2] = [-3, -1, 0, 1, 2, 1000, i32::MIN, i32::MAX].map(|v| v as u32);
    let mut i = mov(Type::F, Type::D);
    i.saturate = true;
    run(&mut t, &[i]);
    let got = t.grf()[10].map(f32::from_bits);
    assert_eq!(got, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0]);
}

/// `sendc`, `movi` and `nenop`, which G45 adds.
#[test]
fn additions_of_g45() {
    let mut t = thread();
    t.grf_mut()[2] = [3; 8];
    let mut end = send(
        crate::tests::null(Type::Ud),
        Src::NULL,
        1,
        Some(0x8610_0000),
    );
    end.opcode = Opcode::Sendc;
    let code = [
        op(Opcode::Movi, 8, dst(10, Type::Ud), &[vec8(2, Type::Ud)]),
        op(Opcode::Nenop, 1, isa::operand::Dst::NULL, &[]),
        end,
    ];
    let mut port = TestPort::new(Vec::new());
    let mut cache = KernelCache::new(Verx10::from_times_ten(45)).unwrap();
    let (stop, stats) = run_in(&mut cache, &mut t, &mut port, &code, 10);
    assert_eq!(
        (stop, stats.instructions, stats.sends),
        (Stop::EndOfThread, 3, 1)
    );
    assert_eq!(t.grf()[10], [3; 8]);
    assert_eq!(port.sent.len(), 1);
}
