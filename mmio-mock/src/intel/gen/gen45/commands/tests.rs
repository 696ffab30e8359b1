//! Commands: words of a captured frame (G45, gears), and hand-made ones.
//!
//! Bits: genxml gen45.

use super::*;
use crate::intel::cs::reader::PostSync;

#[test]
fn captured_commands() {
    for (command, media) in [
        (0x6904_0000, Some(false)),
        (0x6904_0001, Some(true)),
        (0x6904_0002, None),
    ] {
        assert_eq!(Reader.pipeline_select(&[command]), media);
    }
    assert!(Reader.vf_statistics(&[0x680b_0001]));
    assert!(!Reader.vf_statistics(&[0x680b_0000]));
    let bases = Reader.state_base_address(&[0x6101_0004, 1, 0x0011_2001, 1, 0xffff_f001, 1]);
    assert_eq!(bases.general_state_base, Some(0));
    assert_eq!(bases.surface_state_base, Some(0x0011_2000));
    assert_eq!(bases.general_state_upper_bound, Some(0xffff_f000));
    assert_eq!(bases.indirect_object_upper_bound, Some(0));
    assert!(!bases.kernels_apart);
    // PIPE_CONTROL with Texture Cache Flush alone (bit 10).
    let flush = Reader.pipe_control(&[0x7a00_0402, 0, 0, 0]);
    assert!(flush.flush_writes && !flush.invalidate_instructions);
    assert_eq!(flush.post_sync, PostSync::Nothing);
}

#[test]
fn commands_of_an_image_have_the_generations_opcodes() {
    let mut out = Vec::new();
    Reader.put_pipeline_select(true, &mut out);
    Reader.put_vf_statistics(true, &mut out);
    assert_eq!(out, [0x6904_0001, 0x680b_0001]);
    // Six dwords: the last one holds offsets of coordinates.
    let short = Reader.depth_buffer(&[0x7905_0003, 1, 2, 3, 4]);
    assert_eq!(short.len(), 6);
    assert_eq!(short[5], 0);
}
