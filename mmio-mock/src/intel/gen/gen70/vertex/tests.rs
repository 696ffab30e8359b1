//! Words from captures and what the reader makes of them.

use super::*;
use crate::intel::ff::state::Component;

/// b_flat of the captures: a rectangle of three vertices, and its elements.
// covers: V-0426
#[test]
fn a_rectangle_and_its_elements() {
    let draw = primitive(&[0x7b00_0005, 0xf, 3, 0, 1, 0, 0]);
    assert_eq!(draw.topology, Ok(Topology::RectList));
    assert_eq!((draw.count, draw.instances), (3, 1));
    assert!(!draw.random && !draw.from_registers && !draw.predicated);
    let elements = elements(&[
        0x0600_0000,
        0x1622_0000,
        0x0240_0000,
        0x1113_0000,
        0x0600_0010,
        0x1111_0000,
    ]);
    let [first, second, third] = &elements[..] else {
        panic!("three elements");
    };
    // R32G32B32A32_FLOAT of buffer 1; R32G32B32_FLOAT of buffer 0.
    assert_eq!((first.buffer, first.format), (1, 0));
    assert_eq!(first.components[1], Component::InstanceId);
    assert_eq!((second.buffer, second.format), (0, 0x40));
    assert_eq!(second.components[3], Component::OneFloat);
    assert_eq!((third.offset, third.destination), (16, 8));
}

/// genxml gen7 3DPRIMITIVE: bits 8 and 10 of the header, bits 8 and 9 of dword 1.
#[test]
fn draws_by_registers_and_under_a_predicate() {
    let draw = primitive(&[0x7b00_0505, 0x104, 0, 0, 0, 0, 0]);
    assert!(draw.from_registers && draw.predicated && draw.random);
    assert!(!draw.indirect_count);
    let draw = primitive(&[0x7b00_0005, 0x204, 0, 0, 0, 0, 0]);
    assert!(draw.indirect_count);
}

/// 3DSTATE_VERTEX_ELEMENTS: bit 25 of each structure says whether it is used; entries have 128 bits for each that is.
// covers: V-0419, V-0426
#[test]
fn elements_that_are_not_valid_are_left_out() {
    let valid = 1 << 25;
    let elements = elements(&[valid, 0x1111_0000, 0, 0x1111_0000, valid | 4, 0x1111_0000]);
    let places: Vec<_> = elements.iter().map(|e| (e.offset, e.destination)).collect();
    assert_eq!(places, [(0, 0), (4, 4)]);
}
