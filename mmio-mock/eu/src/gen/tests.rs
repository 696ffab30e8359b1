//! Later generations: descriptors, jump units, COMPR4, NoCMask, pln.
//!
//! PRM: volume 4, 2.6, 11.3.4.7; layouts: Mesa 22.3.6 brw_eu.h, brw_inst.h.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod compacted;

use crate::tests::{Outside, TestPort, dst, imm, null, op, run_in, scalar, send, thread, vec8};
use crate::{KernelCache, Stop, Thread};
use isa::inst::{Branch, Compression, SendDesc};
use isa::operand::{Dst, RegFile, Src, Type};
use isa::{Inst, Opcode, Verx10};

fn go(generation: u8, t: &mut Thread, port: &mut TestPort, code: &[Inst]) -> Stop<Outside> {
    let mut cache = KernelCache::new(Verx10::from_times_ten(generation)).unwrap();
    run_in(&mut cache, t, port, code, 50).0
}

fn later(mut inst: Inst, sfid: u8, eot: bool) -> Inst {
    let desc = inst.send.unwrap();
    inst.send = Some(SendDesc { sfid, eot, ..desc });
    inst
}

/// Ironlake: message length 28:25, response length 24:20, target and end of thread beside them.
#[test]
fn ironlake_descriptors() {
    let mut t = thread();
    let mut port = TestPort::new(Vec::new());
    port.fill = 0x55;
    let desc = 2 << 25 | 17 << 20 | 1 << 19 | 0x0f04;
    let ask = later(send(dst(40, Type::Ud), Src::NULL, 3, Some(desc)), 2, false);
    let end = later(send(null(Type::Ud), Src::NULL, 1, Some(1 << 25)), 6, true);
    assert_eq!(go(50, &mut t, &mut port, &[ask, end]), Stop::EndOfThread);
    let seen: Vec<_> = port
        .sent
        .iter()
        .map(|s| (s.sfid, s.payload.len(), s.eot))
        .collect();
    assert_eq!(seen, [(2, 2, false), (6, 1, true)]);
    assert_eq!(t.grf()[40], [0x55; 8]);
    assert_eq!(t.grf()[56], [0x55; 8]);
    assert_eq!(t.grf()[57], [0; 8]);
}

/// The end of thread stands in the instruction, so that a register may hold the descriptor.
#[test]
fn ironlake_ends_with_a_descriptor_in_a_register() {
    let mut t = thread();
    let mut port = TestPort::new(Vec::new());
    let set = op(
        Opcode::Mov,
        1,
        crate::tests::arf(0x10, 0, Type::Ud),
        &[imm(Type::Ud, 1 << 25)],
    );
    let end = later(send(null(Type::Ud), Src::NULL, 1, None), 6, true);
    assert_eq!(go(50, &mut t, &mut port, &[set, end]), Stop::EndOfThread);
    assert_eq!(port.sent[0].payload.len(), 1);
}

fn jump(count: i32) -> Inst {
    let mut i = op(
        Opcode::Jmpi,
        1,
        crate::tests::arf(0xa0, 0, Type::Ud),
        &[
            crate::tests::arf_src(0xa0, 0, Type::Ud),
            imm(Type::D, count as u32),
        ],
    );
    i.no_mask = true;
    i
}

fn mark(n: u8) -> Inst {
    op(Opcode::Mov, 1, dst(n, Type::Ud), &[imm(Type::Ud, 1)])
}

/// `jmpi` counts from the next instruction, in instructions or in halves of them.
#[test]
fn jumps_count_in_the_generation_s_unit() {
    for (generation, count) in [(40, 1), (45, 1), (50, 2)] {
        let mut t = thread();
        let mut port = TestPort::new(Vec::new());
        go(
            generation,
            &mut t,
            &mut port,
            &[jump(count), mark(1), mark(2)],
        );
        assert_eq!([t.grf()[1][0], t.grf()[2][0]], [0, 1], "{generation}");
    }
}

/// `if` counts from itself.
#[test]
fn branches_count_in_the_generation_s_unit() {
    for (generation, count) in [(40, 2), (45, 2), (50, 4)] {
        let mut t = thread();
        let mut port = TestPort::new(Vec::new());
        let mut cond = op(Opcode::If, 8, null(Type::Ud), &[]);
        cond.pred_ctrl = isa::inst::PredCtrl::Normal;
        cond.branch = Some(Branch {
            jump: count,
            pop_or_uip: 0,
        });
        let mut other = mark(2);
        other.no_mask = true;
        go(generation, &mut t, &mut port, &[cond, mark(1), other]);
        assert_eq!([t.grf()[1][0], t.grf()[2][0]], [0, 1], "{generation}");
    }
}

/// COMPR4: the halves of a compressed instruction go to m2 and m6 (G45, Ironlake).
#[test]
fn compr4_writes_registers_four_apart() {
    for generation in [45, 50] {
        let mut t = thread();
        t.grf_mut()[10] = [1; 8];
        t.grf_mut()[11] = [2; 8];
        let to = Dst {
            file: RegFile::Mrf,
            compr4: true,
            ..dst(2, Type::Ud)
        };
        let mov = op(Opcode::Mov, 16, to, &[vec8(10, Type::Ud)]);
        assert_eq!(mov.compression, Compression::Compressed);
        go(generation, &mut t, &mut TestPort::new(Vec::new()), &[mov]);
        assert_eq!(
            [t.mrf()[2], t.mrf()[3], t.mrf()[6]],
            [[1; 8], [0; 8], [2; 8]]
        );
    }
}

/// Both mask control bits: the continue mask is left out, and nothing else.
#[test]
fn no_cmask_leaves_out_the_continue_mask_alone() {
    let mut t = thread();
    let mut masks = t.view().masks;
    (masks.cmask, masks.lmask, masks.imask) = (0x0f, 0xf3, 0xdf);
    t.set_masks(masks);
    let mut i = op(Opcode::Mov, 8, dst(1, Type::Ud), &[scalar(10, Type::Ud)]);
    t.grf_mut()[10][0] = 9;
    (i.no_mask, i.mask_ctrl_ex) = (true, true);
    go(50, &mut t, &mut TestPort::new(Vec::new()), &[i]);
    assert_eq!(t.grf()[1], [9, 9, 0, 0, 9, 0, 9, 9]);
}

/// Sandy Bridge PRM volume 4 part 2, 8.3.53: src0.0 * src1 + src0.1 * (src1 + 1 register) + src0.3.
#[test]
fn pln_evaluates_a_plane_at_pairs_of_registers() {
    for generation in [45, 50] {
        let mut t = thread();
        t.grf_mut()[2][4..].copy_from_slice(&[2f32, 10.0, 777.0, 0.5].map(f32::to_bits));
        for n in 0..4 {
            // u of channels 0 to 7, v of them, u of channels 8 to 15, v of them.
            t.grf_mut()[20 + n] = std::array::from_fn(|i| (n as f32 * 8.0 + i as f32).to_bits());
        }
        let plane = crate::tests::grf(2, 16, Type::F, isa::operand::Region::SCALAR);
        let narrow = op(
            Opcode::Pln,
            8,
            dst(40, Type::F),
            &[plane, vec8(20, Type::F)],
        );
        let wide = op(
            Opcode::Pln,
            16,
            dst(50, Type::F),
            &[plane, vec8(20, Type::F)],
        );
        go(
            generation,
            &mut t,
            &mut TestPort::new(Vec::new()),
            &[narrow, wide],
        );
        let want = |n: usize, i: usize| {
            let (u, v) = ((n * 16 + i) as f32, (n * 16 + 8 + i) as f32);
            (2.0 * u + 10.0 * v + 0.5).to_bits()
        };
        for i in 0..8 {
            assert_eq!(t.grf()[40][i], want(0, i));
            assert_eq!(t.grf()[50][i], want(0, i));
            assert_eq!(t.grf()[51][i], want(1, i));
        }
    }
}

/// Noise as kernels: whatever decodes runs without a panic, on every generation.
#[test]
fn noise_runs_on_every_generation() {
    for generation in [40, 45, 50] {
        let mut rng = fastrand::Rng::with_seed(0x9e37_79b9 + u64::from(generation));
        for _ in 0..400 {
            let mut words: Vec<[u32; 4]> = (0..64)
                .map(|_| std::array::from_fn(|_| rng.u32(..)))
                .collect();
            for w in &mut words {
                // Opcodes that exist are rare among random ones.
                let ops = [
                    1, 2, 5, 16, 34, 36, 37, 39, 42, 44, 45, 46, 47, 49, 50, 64, 65, 73, 90,
                ];
                w[0] = w[0] & !0xff | ops[rng.u64(..ops.len() as u64) as usize];
            }
            let mut t = thread();
            let mut cache = KernelCache::new(Verx10::from_times_ten(generation)).unwrap();
            let mut port = TestPort::new(words);
            // A jump back may meet what stops the thread again and again.
            for _ in 0..200 {
                if t.ip() >= 64 * 16 {
                    break;
                }
                // Past what stops the thread: the next word is another instruction.
                let (stop, _) = run_in(&mut cache, &mut t, &mut port, &[], 200);
                let next = t.ip().wrapping_add(16);
                t.set_ip(if stop == Stop::Budget { u32::MAX } else { next });
            }
        }
    }
}
