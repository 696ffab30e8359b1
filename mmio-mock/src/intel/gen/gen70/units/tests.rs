//! Words from captures and what the reader makes of them.

use mem::Memory;

use super::*;
use crate::intel::shared::context::StateBases;

fn state(commands: &[(CommandId, &[u32])]) -> PipelineState {
    let mut state = PipelineState {
        bases: StateBases {
            dynamic_state_base: Some(0x11_4000),
            ..StateBases::default()
        },
        constants_absolute: true,
        ..PipelineState::default()
    };
    for (id, words) in commands {
        state.kept.insert(*id, words.to_vec());
    }
    state
}

/// b_flat of the captures: 3DSTATE_VS, its entries, and constants of the pixel shader.
#[test]
fn the_vertex_shader_of_a_captured_draw() {
    let state = state(&[
        (
            CommandId::State3dVs,
            &[0x7810_0004, 0, 0, 0, 0x0010_0800, 0x4600_0401],
        ),
        (CommandId::State3dUrbVs, &[0x7830_0000, 0x0400_0200]),
        (
            CommandId::State3dConstantPs,
            &[0x7817_0005, 1, 0, 0x0019_0001, 0, 0, 0],
        ),
        (
            CommandId::State3dBindingTablePointersPs,
            &[0x782a_0000, 0x2e0],
        ),
    ]);
    let vs = vs(&state);
    assert!(vs.enable && !vs.vertex_cache_disable && vs.unit.statistics);
    // A register for constants and vertices: one; two elements of a vertex.
    assert_eq!(vs.unit.kernel.urb_start, 1);
    assert_eq!((vs.unit.read_offset, vs.unit.read_rows), (0, 1));
    // 512 entries of 64 bytes from byte 16384 on.
    assert_eq!((vs.unit.urb_entries, vs.unit.urb_entry_rows), (512, 2));
    assert_eq!(section(&[0x7830_0000, 0x0400_0200]), (512, 512, 2));
    let pushed = pushed(&state, &PS).unwrap();
    assert_eq!(pushed.buffers[0], (GpuAddr(0x19_0000), 1));
    assert_eq!(pushed.buffers[1].1, 0);
    assert_eq!(super::pushed(&state, &VS), None);
    assert_eq!(context(&state, &PS, (0, 0)).binding_table_pointer, 0x2e0);
}

/// There are 128 registers, whatever the four lengths of sixteen bits say.
#[test]
fn constants_are_no_more_than_registers() {
    let rows = |lengths: [u32; 2]| {
        let words = [0x7815_0005, lengths[0], lengths[1], 0, 0, 0, 0];
        let state = state(&[(CommandId::State3dConstantVs, &words)]);
        pushed(&state, &VS).unwrap().buffers.map(|(_, rows)| rows)
    };
    assert_eq!(rows([0xffff_ffff; 2]), [128, 0, 0, 0]);
    assert_eq!(rows([0x0014_000a, 0x7fff_0005]), [10, 20, 5, 93]);
    assert_eq!(rows([0x0020_0020; 2]), [32; 4]);
}

/// b_flat: 3DSTATE_SF and 3DSTATE_SBE of a flat triangle; genxml gen7 for the fields.
// covers: V-0207
#[test]
fn setup_takes_attributes_from_another_command() {
    let mut sbe = [0; 14];
    sbe[0] = 0x781f_000c;
    // One attribute, swizzles for attributes 16 to 31, read from row 1 on.
    sbe[1] = 1 << 28 | 1 << 22 | 1 << 21 | 1 << 11 | 1 << 4;
    sbe[2] = 3 << 6 | 7;
    let ps = [0x7820_0006, 0, 0, 0, 1 << 10, 0, 0, 0];
    let commands: [(CommandId, &[u32]); 3] = [
        (
            CommandId::State3dSf,
            &[0x7813_0005, 0x400, 0x2200_0800, 0x4c00_4808, 0, 0, 0],
        ),
        (CommandId::State3dSbe, &sbe),
        (CommandId::State3dPs, &ps),
    ];
    let mem = Memory::default();
    let setup = super::setup(&mem, &state(&commands), 0).unwrap();
    assert_eq!(setup.cull, CullMode::Neither);
    assert_eq!(setup.point_width, Some(1.0));
    assert_eq!(setup.provoking_triangle, 2);
    assert_eq!((setup.attributes, setup.read_offset), (1, 1));
    let source = setup.source(16);
    assert!(source.facing && source.replicate_w);
    assert_eq!((source.source, setup.source(0).source), (7, 0));
    // Attribute Enable of 3DSTATE_PS is what threads go by.
    let without = super::setup(&mem, &state(&commands[..2]), 0).unwrap();
    assert_eq!(without.attributes, 0);
}

/// 3DSTATE_SBE: Attribute Swizzle Control Mode chooses which sixteen attributes have swizzles and wrap-shortest enables (bits 7:4 of
/// dword 12 are those of attribute 1); masks of sprites and of constant attributes, dwords 10 and 11, have all 32.
// covers: V-0207, V-0209
#[test]
fn swizzles_are_for_one_half_and_masks_for_both() {
    let with = |mode: u32, enable: u32| {
        let mut sbe = [0; 14];
        sbe[0] = 0x781f_000c;
        sbe[1] = mode << 28 | 32 << 22 | enable << 21;
        // Attribute 1 from attribute 7: bits 20:16; its x and w are constants, 1 (bits 26:25 and 31:28).
        sbe[2] = (7 | 2 << 9 | 0b1001 << 12) << 16;
        sbe[10] = 0x8001_0001;
        sbe[11] = 0x4002_0002;
        sbe[12] = 0b1010 << 4;
        let commands: [(CommandId, &[u32]); 1] = [(CommandId::State3dSbe, &sbe)];
        super::setup(&Memory::default(), &state(&commands), 0).unwrap()
    };
    for (mode, first, other) in [(0, 1, 17), (1, 17, 1)] {
        let setup = with(mode, 1);
        let source = setup.source(first);
        assert_eq!((source.source, source.overrides), (7, 0b1001));
        assert_eq!(source.constant, ConstantSource::Ones);
        assert_eq!(setup.wraps(first), 0b1010);
        // The other half goes through.
        let through = AttributeSource {
            source: other,
            ..AttributeSource::default()
        };
        assert_eq!(setup.source(other), through);
        assert_eq!(setup.wraps(other), 0);
        assert_eq!((setup.sprites, setup.constant), (0x8001_0001, 0x4002_0002));
    }
    // Without swizzles all attributes go through.
    for mode in [0, 1] {
        let setup = with(mode, 0);
        assert!((0..32).all(|n| setup.source(n).source == n));
        assert_eq!(setup.wraps(1), 0b1010);
    }
}
