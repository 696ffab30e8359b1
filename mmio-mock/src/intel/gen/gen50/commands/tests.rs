//! Commands: words of a captured frame (Ironlake, gears), and hand-made ones.
//!
//! Bits: genxml gen5.

use super::*;
use crate::intel::cs::reader::Chosen;

#[test]
fn kernels_have_a_base_of_their_own() {
    let words = [
        0x6101_0006,
        1,
        0x0011_2001,
        1,
        0x0010_4001,
        0xffff_f001,
        1,
        1,
    ];
    let bases = Reader.state_base_address(&words);
    assert!(bases.kernels_apart);
    assert_eq!(bases.general_state_base, Some(0));
    assert_eq!(bases.surface_state_base, Some(0x0011_2000));
    assert_eq!(bases.indirect_object_base, Some(0));
    assert_eq!(bases.instruction_base, Some(0x0010_4000));
    assert_eq!(bases.general_state_upper_bound, Some(0xffff_f000));
    assert_eq!(bases.indirect_object_upper_bound, Some(0));
    assert_eq!(bases.instruction_upper_bound, Some(0));
    let mut out = Vec::new();
    let kept = StateBases {
        surface_state_base: 0x0011_2000,
        instruction_base: Some(0x0010_4000),
        general_state_upper_bound: 0xffff_f000,
        ..StateBases::default()
    };
    Reader.put_state_base_address(&kept, &mut out);
    assert_eq!(out, words);
    let nothing = Reader.state_base_address(&[0x6101_0006, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(nothing.instruction_base, None);
    assert!(nothing.kernels_apart);
}

#[test]
fn vertex_buffers_end() {
    let words = [0x7808_0003, 0x0000_0020, 0x002f_0000, 0x003f_0001, 0];
    let [(index, buffer)] = Reader.vertex_buffers(&words)[..] else {
        panic!("one buffer");
    };
    assert_eq!((index, buffer.pitch), (0, 32));
    assert_eq!((buffer.start, buffer.end), (0x002f_0000, Some(0x003f_0001)));
    assert!(!buffer.null && !buffer.per_instance);
    let mut out = Vec::new();
    Reader.put_vertex_buffers(&[buffer], &mut out);
    assert_eq!(out, words);
    // Null Vertex Buffer is bit 13; a pitch has twelve bits.
    let [(_, null)] = Reader.vertex_buffers(&[0x7808_0003, 1 << 13 | 0xfff, 0, 0, 0])[..] else {
        panic!("one buffer");
    };
    assert!(null.null);
    assert_eq!(null.pitch, 0xfff);
}

#[test]
fn registers_are_stored_from_a_larger_space() {
    // Register Address has bits 25:2: the interrupt registers of the display engine lie at 44000h.
    let stored = Reader.store_register_mem(&[0x1240_0001, 0x0004_4018, 0x0010_0000]);
    assert_eq!(stored.register, 0x0004_4018);
    let address = mem::GpuAddr(0x0010_0000);
    assert_eq!(stored.place, Place::Graphics(Chosen::Global, address));
}
