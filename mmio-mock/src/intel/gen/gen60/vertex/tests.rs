//! Each field of 3DPRIMITIVE and VERTEX_ELEMENT_STATE where genxml gen6 has it.

use super::*;
use crate::intel::ff::state::Component;

#[test]
fn primitives() {
    let read = |dword: usize, bits: u32| {
        let mut words = [0; 6];
        words[0] = 4 << 10;
        words[dword] |= bits;
        primitive(&words)
    };
    let plain = read(0, 0);
    assert_eq!(plain.topology, Ok(Topology::TriList));
    assert_eq!(
        read(0, 1 << 9),
        Primitive {
            indirect_count: true,
            from_registers: false,
            predicated: false,
            ..plain
        }
    );
    assert_eq!(
        read(0, 1 << 15),
        Primitive {
            random: true,
            ..plain
        }
    );
    // Five bits: 0x14 is LINESTRIP_CONT_BF, 0x1f nothing.
    assert_eq!(
        read(0, 0x14 << 10 ^ 4 << 10).topology,
        Ok(Topology::LineStripContBf)
    );
    assert_eq!(read(0, 0x1f << 10).topology, Err(0x1f));
    let big = 0x8765_4321;
    assert_eq!(
        read(1, big),
        Primitive {
            count: big,
            ..plain
        }
    );
    assert_eq!(
        read(2, big),
        Primitive {
            start: big,
            ..plain
        }
    );
    assert_eq!(
        read(3, big),
        Primitive {
            instances: big,
            ..plain
        }
    );
    assert_eq!(
        read(4, big),
        Primitive {
            first_instance: big,
            ..plain
        }
    );
    assert_eq!(
        read(5, 0xffff_fffe),
        Primitive {
            base_vertex: -2,
            ..plain
        }
    );
}

// covers: S-0009
#[test]
fn elements_of_vertices() {
    // Valid is bit 25; what is not valid takes no place.
    let words = [
        1 << 25 | 0xfff,
        0,
        0,
        0,
        1 << 25 | 32 << 26 | 1 << 15 | 0x40 << 16,
        1 << 28 | 2 << 24 | 3 << 20 | 5 << 16,
    ];
    let [first, second] = elements(&words).try_into().unwrap();
    assert_eq!((first.offset, first.destination), (0xfff, 0));
    assert_eq!((first.buffer, first.edge_flag), (0, false));
    assert_eq!(first.components, [Component::NoStore; 4]);
    // Format 0: R32G32B32A32_FLOAT, four dwords (SNB PRM volume 4 part 1, surface formats).
    assert_eq!(first.layout.unwrap().bytes, 16);
    assert_eq!((second.offset, second.destination), (0, 4));
    assert_eq!((second.buffer, second.edge_flag), (32, true));
    // R32G32B32_FLOAT.
    assert_eq!(second.format, 0x40);
    assert_eq!(second.layout.unwrap().bytes, 12);
    assert_eq!(
        second.components,
        [
            Component::Source,
            Component::Zero,
            Component::OneFloat,
            Component::VertexId
        ]
    );
}
