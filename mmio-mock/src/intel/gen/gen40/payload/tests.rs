//! Payload bits against the tables of PRM vol4 3.3.9 and 5.10.6.

use super::*;
use crate::intel::ff::payload::pixels::{MAX_REGISTERS, PixelParts, Subspan};
use crate::intel::ff::wiz::iz::{IzCase, IzInputs};

fn group() -> PixelGroup {
    let mut group = PixelGroup::default();
    for i in 0..3u16 {
        group.push(Subspan {
            x: 10 + 2 * i,
            y: 20,
            mask: if i == 1 { 0b0110 } else { 0b1111 },
            depth: [0.25, 0.5, 0.75, 1.0],
            destination_depth: [u32::from(i), 2, 3, 4],
            destination_stencil: 0x0403_0201 + u32::from(i),
            alpha: 0x4321 + i,
            ..Subspan::default()
        });
    }
    group
}

fn build(state: &PayloadState<'_>) -> Vec<Grf> {
    let mut registers = [Grf::default(); MAX_REGISTERS];
    build_into(&mut registers, state, &group())
}

fn build_into(registers: &mut [Grf], state: &PayloadState<'_>, group: &PixelGroup) -> Vec<Grf> {
    let mut payload = Payload::into(registers);
    Layout.pixels(&mut payload, state, group);
    let count = payload.count();
    registers[..count].to_vec()
}

#[test]
fn headers_follow_the_manuals_table() {
    let r = build(&PayloadState {
        color_calc_state: 0x0011_2080,
        sampler_state: 0x0011_2020,
        scratch_space: 3,
        scratch_base: 0x0004_0400,
        binding_table: 0xc0,
        fftid: 9,
        debug: crate::intel::debug::ThreadDebug {
            id: 5,
            flag: true,
            capture: false,
            primitive: 0x0012_3456,
        }
        .r0(),
        start: [1.5, -2.0],
        back_facing: true,
        topology: 5,
        antialias: false,
        viewport_index: 2,
        render_target_array_index: 7,
        parts: PixelParts::default(),
        ..PayloadState::default()
    });
    assert_eq!(r.len(), 2);
    // Dispatched pixel enables 31:16, pixel enables 15:0.
    assert_eq!(r[0][0], 0x0f6f_0f6f);
    assert_eq!(r[0][1], 0x0011_2080);
    assert_eq!(r[0][3], 0x0011_2023);
    assert_eq!(r[0][4], 0xc0);
    assert_eq!(r[0][5], 0x0004_0409);
    assert_eq!(r[0][6], 5);
    assert_eq!(r[0][7], 0x8012_3456);
    assert_eq!(r[1][0], 0x3fc0_0000);
    assert_eq!(r[1][1], 0xc000_0000);
    assert_eq!(r[1][2..6], [0x0014_000a, 0x0014_000c, 0x0014_000e, 0]);
    assert_eq!(r[1][6], 0x8000_0005);
    assert_eq!(r[1][7], 2 << 27 | 7 << 16);
    assert_eq!(group().dispatch_mask(), 0x0fff);
}

#[test]
fn a_late_test_carries_everything() {
    let case = IzCase::new(IzInputs {
        kill: true,
        depth_test: true,
        depth_write: true,
        stencil_test: true,
        stencil_write: true,
        early: true,
        ..IzInputs::default()
    });
    let r = build(&PayloadState {
        parts: case.parts(),
        antialias: true,
        ..PayloadState::default()
    });
    assert_eq!(r.len(), 7);
    assert_eq!(r[1][6], 1 << 29 | 1 << 28 | 1 << 27 | 1 << 26);
    // Source depth of slots 7:0, then 15:8.
    assert_eq!(r[2][4], 0.25f32.to_bits());
    assert_eq!(r[3][3], 1.0f32.to_bits());
    assert_eq!(r[3][4..], [0; 4]);
    // Stencil in dwords 0 to 3, antialias alpha of subspans 1, 0 in dword 6, of 3, 2 in dword 7.
    assert_eq!(r[4][..4], [0x0403_0201, 0x0403_0202, 0x0403_0203, 0]);
    assert_eq!(r[4][6..], [0x4322_4321, 0x4323]);
    // Destination depth.
    assert_eq!(r[5], [0, 2, 3, 4, 1, 2, 3, 4]);
    assert_eq!(r[6], [2, 2, 3, 4, 0, 0, 0, 0]);
}

#[test]
fn a_reused_payload_keeps_nothing() {
    let late = IzCase::new(IzInputs {
        computed_depth: true,
        depth_test: true,
        early: true,
        ..IzInputs::default()
    });
    let mut registers = [[u32::MAX; 8]; MAX_REGISTERS];
    let late = PayloadState {
        parts: late.parts(),
        ..PayloadState::default()
    };
    let mut build = |state: &_, group: &_| build_into(&mut registers, state, group);
    assert_eq!(build(&late, &group()).len(), 4);
    let mut one = PixelGroup::default();
    one.push(Subspan {
        mask: 1,
        ..Subspan::default()
    });
    let r = build(&late, &one);
    assert_eq!(r[1][3], 0);
    assert_eq!(r[3], [0; 8]);
    assert_eq!(build(&PayloadState::default(), &one).len(), 2);
}

#[test]
fn the_sign_of_the_negated_facing_dword_is_the_other_facing() {
    // `asr.nz null -g1.6 31` is how kernels ask for the front side.
    for back_facing in [false, true] {
        for topology in [0x01, 0x04, 0x05, 0x06, 0x0d, 0x0e, 0x0f, 0x16] {
            let r = build(&PayloadState {
                back_facing,
                topology,
                ..PayloadState::default()
            });
            let facing = r[1][6].cast_signed();
            assert_eq!(facing >> 31 != 0, back_facing);
            assert_eq!(facing.wrapping_neg() >> 31 != 0, !back_facing);
        }
    }
}
