//! Regions against a byte-wise reading of their definition.
//!
//! PRM: volume 4, 11.3.6 (Figures 11-11, 11-12), 11.3.10, 11.5.

use super::{Rng, dst, grf, op, run, run_in, thread};
use crate::{KernelCache, Stop, Thread};
use isa::Opcode;
use isa::inst::Compression;
use isa::operand::{Addr, Dst, RegFile, Region, Type};

fn bytes(t: &Thread) -> Vec<u8> {
    t.grf()
        .iter()
        .flatten()
        .flat_map(|d| d.to_le_bytes())
        .collect()
}

fn random_thread(rng: &mut Rng) -> Thread {
    let mut t = thread();
    for r in t.grf_mut() {
        *r = std::array::from_fn(|_| rng.u32(..));
    }
    t
}

/// The manual's pseudocode: channel by channel, row by row.
fn oracle(mem: &[u8], base: usize, size: usize, r: Region, exec: usize) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut row_base = base;
    while out.len() < exec {
        for col in 0..usize::from(r.width) {
            let at = row_base + col * usize::from(r.hstride) * size;
            out.push(
                (0..size)
                    .map(|b| mem.get(at + b).copied().unwrap_or(0))
                    .collect(),
            );
        }
        row_base += usize::from(r.vstride) * size;
    }
    out.truncate(exec);
    out
}

// covers: 11.3.6-01, 11.3.11-01
#[test]
fn every_source_region_and_destination_stride() {
    let mut rng = Rng::with_seed(21);
    for ty in [Type::Ud, Type::Uw, Type::Ub] {
        let size = ty.size();
        for vstride in [0, 1, 2, 4, 8, 16, 32] {
            for width in [1, 2, 4, 8, 16] {
                for hstride in [0, 1, 2, 4] {
                    for exec in [1, 2, 4, 8, 16] {
                        for dh in [1, 2, 4] {
                            let mut t = random_thread(&mut rng);
                            let before = bytes(&t);
                            let region = Region {
                                vstride,
                                width,
                                hstride,
                            };
                            let subnr = (rng.u64(..32 / size as u64) as usize * size) as u8;
                            let mut d = dst(100, ty);
                            d.hstride = dh;
                            let mut i = op(Opcode::Mov, exec, d, &[grf(10, subnr, ty, region)]);
                            i.compression = Compression::None;
                            run(&mut t, &[i]);
                            let base = 320 + usize::from(subnr);
                            let want = oracle(&before, base, size, region, usize::from(exec));
                            let after = bytes(&t);
                            let mut expect = before;
                            for (c, v) in want.iter().enumerate() {
                                let at = 3200 + c * usize::from(dh) * size;
                                expect[at..at + size].copy_from_slice(v);
                            }
                            assert_eq!(
                                after, expect,
                                "{ty:?} {region:?} exec {exec} dst stride {dh}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// The two examples of the manual: r4.1<16;8,2>:w and the interleaved r5.0<1;8,2>:w.
// covers: 11.3.6-02
#[test]
fn the_manuals_example_regions() {
    let mut t = thread();
    for r in 0..16 {
        for c in 0..8 {
            let w = (r * 16 + 2 * c) as u32;
            t.grf_mut()[r][c] = w | (w + 1) << 16;
        }
    }
    let mut a = grf(
        4,
        2,
        Type::W,
        Region {
            vstride: 16,
            width: 8,
            hstride: 2,
        },
    );
    let b = grf(
        5,
        0,
        Type::W,
        Region {
            vstride: 1,
            width: 8,
            hstride: 2,
        },
    );
    a.negate = false;
    run(
        &mut t,
        &[
            op(Opcode::Mov, 16, dst(20, Type::W), &[a]),
            op(Opcode::Mov, 16, dst(21, Type::W), &[b]),
        ],
    );
    let words = |nr: usize| -> Vec<u32> {
        t.grf()[nr]
            .iter()
            .flat_map(|d| [d & 0xffff, d >> 16])
            .collect()
    };
    let odd: Vec<u32> = (0..16).map(|i| 65 + 2 * i).collect();
    assert_eq!(words(20), odd);
    let inter: Vec<u32> = (0..16).map(|i| 80 + 2 * (i % 8) + i / 8).collect();
    assert_eq!(words(21), inter);
}

/// 11.5: the second half moves one register on; scalars stay; packed words fill one register.
// covers: 11.5-01
#[test]
fn compressed_halves() {
    let mut t = thread();
    for r in 0..16 {
        t.grf_mut()[r] = std::array::from_fn(|c| (r * 8 + c) as u32);
    }
    t.grf_mut()[6] = std::array::from_fn(|c| (2 * c as u32) | (2 * c as u32 + 1) << 16);
    let sum = op(
        Opcode::Add,
        16,
        dst(20, Type::D),
        &[
            grf(2, 0, Type::D, Region::VEC8),
            grf(1, 4, Type::D, Region::SCALAR),
        ],
    );
    let packed = op(
        Opcode::Mov,
        16,
        dst(22, Type::D),
        &[grf(6, 0, Type::Uw, Region::VEC8)],
    );
    run(&mut t, &[sum, packed]);
    for c in 0..16u32 {
        let at = |nr: usize| t.grf()[nr + c as usize / 8][c as usize % 8];
        assert_eq!(at(20), 16 + c + 9);
        assert_eq!(at(22), c);
    }
}

/// Registers past the end: sources read zero, destinations write nothing, nothing panics.
// covers: 11.3.2-05, 11.3.3-03
#[test]
fn operands_past_the_register_file() {
    let mut rng = Rng::with_seed(8);
    for nr in [126, 127, 128, 200, 255] {
        for file in [RegFile::Grf, RegFile::Mrf] {
            let mut t = random_thread(&mut rng);
            let d = Dst {
                file,
                ty: Type::Ud,
                addr: Addr::Direct { nr, subnr: 31 },
                hstride: 4,
                ..Dst::NULL
            };
            let s = grf(
                nr,
                29,
                Type::Ud,
                Region {
                    vstride: 32,
                    width: 2,
                    hstride: 4,
                },
            );
            let before = t.mrf().to_vec();
            run(
                &mut t,
                &[
                    op(Opcode::Add, 16, d, &[s, s]),
                    op(Opcode::Mov, 16, dst(50, Type::Ud), &[s]),
                ],
            );
            if nr >= 128 {
                assert_eq!(t.grf()[50], [0; 8]);
                assert_eq!(t.grf()[51], [0; 8]);
            }
            assert_eq!(t.mrf(), before);
        }
    }
    let far = [op(
        Opcode::Mov,
        1,
        dst(1, Type::Ud),
        &[super::imm(Type::Ud, 1)],
    )];
    let mut t = thread();
    t.set_ip(0xffff_fff0);
    let mut port = super::TestPort::new(Vec::new());
    let stop = run_in(
        &mut KernelCache::new(isa::Verx10::GEN40).unwrap(),
        &mut t,
        &mut port,
        &far,
        5,
    )
    .0;
    assert_eq!(stop, Stop::Fault(super::Outside(0xffff_fff0)));
}
