//! Registers as kernels of Mesa's compiler read them.
//!
//! brw_vec4_generator.cpp of 22.3.6, for Ivy Bridge and Bay Trail.

use super::*;
use crate::intel::shared::context::ThreadContext;
use crate::intel::urb::UrbHandle;
use tess::Point;

fn unit() -> UnitConfig {
    UnitConfig {
        context: ThreadContext {
            sampler_state_pointer: 0x1240,
            binding_table_pointer: 0x560,
            scratch_base: 0x7000,
            ..ThreadContext::default()
        },
        scratch_power: 3,
        ..UnitConfig::default()
    }
}

#[test]
fn threads_of_a_patch_know_its_vertices() {
    let vertices: Vec<UrbHandle> = (0..9).map(|n| UrbHandle(100 + n)).collect();
    let mut registers = [[0; 8]; PATCH_REGISTERS];
    let header = PatchHeader {
        entry: UrbHandle(0x321),
        number: 77,
        instance: 5,
        barrier: 9,
        vertices: &vertices,
    };
    let count = patch(&mut registers, &unit(), &header, [1, 2]);
    assert_eq!(count, 3);
    let r0 = registers[0];
    assert_eq!(
        r0,
        [0x321, 77, 5 << 16 | 9 << 12, 0x1243, 0x560, 0x7000, 1, 2]
    );
    // Instance 2i of the shader is the lower half of thread i: bits 22:16 shifted by one less.
    assert_eq!((r0[2] & 0x7f_0000) >> 15, 10);
    // The barrier of a message, bits 27:24: bits 15:12 shifted by 12.
    assert_eq!((r0[2] & 0xf000) << 12, 9 << 24);
    // Handle i in g[1 + i / 8].[i % 8].
    assert_eq!(registers[1], [100, 101, 102, 103, 104, 105, 106, 107]);
    assert_eq!(registers[2][0], 108);
    let none = PatchHeader {
        vertices: &[],
        ..header
    };
    assert_eq!(patch(&mut registers, &unit(), &none, [0; 2]), 1);
    let all = vec![UrbHandle(1); 40];
    let many = PatchHeader {
        vertices: &all,
        ..header
    };
    let count = patch(&mut registers, &unit(), &many, [0; 2]);
    assert_eq!(count, PATCH_REGISTERS);
}

#[test]
fn threads_of_points_know_where_they_are() {
    let header = DomainHeader {
        entries: [UrbHandle(0x10), UrbHandle(0x20)],
        points: [
            Point {
                u: 0x4000,
                v: 0x8000,
            },
            Point { u: 0, v: 0x10000 },
        ],
        count: 2,
        patch: UrbHandle(0x1ff0),
        number: 3,
        third: true,
    };
    let [r0, r1] = domain(&unit(), &header, [1, 2]);
    assert_eq!(r0, [0x10, 0x20, 0, 0x1243, 0x560, 0x7000, 1, 2]);
    let bits = f32::to_bits;
    // Coordinates in g1.0 to g1.2 and g1.4 to g1.6, the patch in g1.3, its number in g1.7.
    let expected = [
        bits(0.25),
        bits(0.5),
        bits(0.25),
        0x1ff0,
        bits(0.0),
        bits(1.0),
        bits(0.0),
        3,
    ];
    assert_eq!(r1, expected);
    let one = DomainHeader {
        count: 1,
        third: false,
        ..header
    };
    let [r0, r1] = domain(&unit(), &one, [0; 2]);
    assert_eq!(r0[..2], [0x10, 0]);
    assert_eq!(r1, [bits(0.25), bits(0.5), 0, 0x1ff0, 0, 0, 0, 3]);
}
