//! Threads that are said to be alike send the same, whatever is their own.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::Alike;
use crate::r#gen::{GEN40, GEN50, GEN60, GEN70, InstructionSet};
use crate::tests::{TestPort, dst, grf, imm, op, run_in, send, vec8};
use crate::{Grf, KernelCache, Stop, Thread, ThreadInit};
use fastrand::Rng;
use isa::inst::SendDesc;
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode};

/// End of thread, so many registers, to the data port; the place of the length is that of the generation.
fn desc(set: InstructionSet, length: u32) -> u32 {
    match set.generation() {
        isa::Verx10::GEN40 => 1 << 31 | 5 << 24 | length << 20,
        _ => 1 << 31 | length << 25,
    }
}

/// The last message: from m0 on, whose first register is r0 before Sandy Bridge.
fn last(set: InstructionSet, length: u32) -> Inst {
    let null = Dst {
        ty: Type::Ud,
        ..Dst::NULL
    };
    let mut last = send(null, vec8(0, Type::Ud), 0, Some(desc(set, length)));
    last.exec_size = 16;
    last.send = Some(SendDesc {
        eot: true,
        sfid: 5,
        ..last.send.unwrap()
    });
    if set.generation() == GEN60.generation() {
        last.src[0].file = RegFile::Mrf;
    }
    last
}

fn message(nr: u8, ty: Type) -> Dst {
    Dst {
        file: RegFile::Mrf,
        ..dst(nr, ty)
    }
}

/// What two threads send whose own registers differ, and what is said of their kernel.
fn both(
    set: InstructionSet,
    kernel: &[Inst],
    own: usize,
    rng: &mut Rng,
) -> (Alike, [Vec<Grf>; 2], [[Grf; 2]; 2]) {
    let mut cache = KernelCache::of(set);
    let common: Vec<Grf> = (0..12)
        .map(|_| std::array::from_fn(|_| rng.u32(..)))
        .collect();
    let mut headers = [[[0; 8]; 2]; 2];
    let sent = [0, 1].map(|n: usize| {
        let mut t = Thread::of(set);
        t.dispatch(&ThreadInit {
            dispatch_mask: 0xffff,
            grf_count: 128,
            ..ThreadInit::default()
        });
        t.load(12).copy_from_slice(&common);
        for register in t.load(own) {
            *register = std::array::from_fn(|_| rng.u32(..));
        }
        headers[n].copy_from_slice(&t.grf()[..2]);
        let mut port = TestPort::new(Vec::new());
        let (stop, _) = run_in(&mut cache, &mut t, &mut port, kernel, 1000);
        assert_eq!(stop, Stop::EndOfThread);
        port.sent.pop().unwrap().payload
    });
    (cache.alike(0, own), sent, headers)
}

/// Any straight instruction over few registers, so that values meet.
fn any(rng: &mut Rng) -> Inst {
    let types = [Type::Ud, Type::D, Type::F, Type::Uw, Type::W, Type::Ub];
    let ops = [
        Opcode::Mov,
        Opcode::Mov,
        Opcode::Mov,
        Opcode::Add,
        Opcode::Mul,
        Opcode::And,
        Opcode::Shl,
    ];
    let opcode = ops[rng.usize(..ops.len())];
    let integer = matches!(opcode, Opcode::And | Opcode::Shl);
    let mut ty = || {
        types[if integer {
            rng.usize(..2)
        } else {
            rng.usize(..types.len())
        }]
    };
    let (to, from) = (ty(), ty());
    let exec = [1, 2, 4, 8, 8, 8, 16][rng.usize(..7)];
    let regions = [
        Region::VEC8,
        Region::SCALAR,
        Region {
            vstride: 4,
            width: 4,
            hstride: 1,
        },
    ];
    let mut source = || {
        if rng.u8(..3) == 0 {
            let ty = if from.size() == 1 { Type::Ud } else { from };
            return imm(ty, rng.u32(..) & 0x7fff);
        }
        let sub = rng.u8(..2) * 16;
        grf(rng.u8(..11), sub, from, regions[rng.usize(..3)])
    };
    let first = source();
    let second = source();
    let mut to = if rng.bool() {
        message(rng.u8(..8), to)
    } else {
        dst(rng.u8(..11), to)
    };
    if exec < 8
        && let Addr::Direct { subnr, .. } = &mut to.addr
    {
        *subnr = rng.u8(..4) * 4;
    }
    let mut sources = vec![first];
    if opcode != Opcode::Mov {
        // Only the last source may be an immediate.
        sources[0] = Src {
            file: RegFile::Grf,
            ..vec8(rng.u8(..11), from)
        };
        sources.push(second);
    }
    op(opcode, exec, to, &sources)
}

#[test]
fn what_is_said_to_be_alike_is() {
    let mut rng = Rng::with_seed(0xa11c);
    let mut counts = [0; 3];
    for round in 0..30_000 {
        let set = [GEN40, GEN50, GEN60][round % 3];
        let own = rng.usize(2..4);
        let mut kernel: Vec<Inst> = (0..rng.usize(..6)).map(|_| any(&mut rng)).collect();
        if rng.bool() {
            // The header as drivers make it.
            kernel.push(op(
                Opcode::Mov,
                8,
                message(0, Type::Ud),
                &[vec8(0, Type::Ud)],
            ));
            kernel.push(op(
                Opcode::Mov,
                8,
                message(1, Type::Ud),
                &[vec8(1, Type::Ud)],
            ));
        }
        kernel.push(last(set, rng.u32(1..8)));
        let (said, [a, b], headers) = both(set, &kernel, own, &mut rng);
        match said {
            Alike::Unknown => panic!("round {round}: {kernel:?}"),
            Alike::No => counts[0] += 1,
            Alike::Message { header: false } => {
                counts[1] += 1;
                assert_eq!(a, b, "round {round}: {kernel:?}");
            }
            Alike::Message { header: true } => {
                counts[2] += 1;
                assert_eq!(a[2..], b[2..], "round {round}: {kernel:?}");
                assert_eq!(
                    [&a[..2], &b[..2]],
                    [&headers[0], &headers[1]],
                    "round {round}"
                );
            }
        }
    }
    println!("{counts:?}");
    assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
}

#[test]
fn what_depends_on_more_is_not_alike() {
    let mut rng = Rng::with_seed(5);
    let mut said = |kernel: &[Inst]| {
        let kernel = [kernel, &[last(GEN60, 4)]].concat();
        both(GEN60, &kernel, 2, &mut rng).0
    };
    let plain = op(
        Opcode::Mov,
        16,
        message(0, Type::F),
        &[imm(Type::F, 0x3f80_0000)],
    );
    assert_eq!(said(&[plain]), Alike::Message { header: false });
    let own = op(Opcode::Mov, 8, message(3, Type::F), &[vec8(1, Type::F)]);
    assert_eq!(said(&[plain, own]), Alike::No);
    // Part of a register of its own, though the rest is overwritten.
    let part = op(Opcode::Mov, 1, message(3, Type::Ud), &[imm(Type::Ud, 7)]);
    assert_eq!(said(&[own, part]), Alike::No);
    let whole = op(Opcode::Mov, 8, message(3, Type::Ud), &[imm(Type::Ud, 7)]);
    assert_eq!(said(&[own, whole]), Alike::Message { header: false });
    // A register that nothing was written to is zero.
    assert_eq!(said(&[]), Alike::Message { header: false });
    let state = op(
        Opcode::Mov,
        1,
        message(0, Type::Ud),
        &[crate::tests::arf_src(0x70, 0, Type::Ud)],
    );
    assert_eq!(said(&[state]), Alike::No);
}

/// Where payloads are general registers a message of constants is alike, and one of a thread's own registers is not.
#[test]
fn payloads_in_general_registers_are_looked_at() {
    let mut rng = Rng::with_seed(0x70);
    let constant = |nr| {
        let five = imm(Type::Ud, 5);
        op(Opcode::Mov, 8, dst(nr, Type::Ud), &[five])
    };
    let said = |kernel: &[Inst], length, first, rng: &mut Rng| {
        let mut end = last(GEN70, length);
        end.src[0] = vec8(first, Type::Ud);
        both(GEN70, &[kernel, &[end]].concat(), 2, rng).0
    };
    let kernel = [constant(20), constant(21)];
    let message = Alike::Message { header: false };
    assert_eq!(said(&kernel, 2, 20, &mut rng), message);
    // r1 is the thread's own, and no header alone.
    assert_eq!(said(&kernel, 2, 1, &mut rng), Alike::No);
    // r0 and r1 as they were, and constants behind them.
    let own = |nr, from| op(Opcode::Mov, 8, dst(nr, Type::Ud), &[vec8(from, Type::Ud)]);
    let kernel = [own(18, 0), own(19, 1), constant(20)];
    assert_eq!(
        said(&kernel, 3, 18, &mut rng),
        Alike::Message { header: true }
    );
}
