//! Vertex buffers, vertex elements and VS.
//! ValleyView volume 2 part 2, 3DSTATE_VERTEX_BUFFERS, 3DSTATE_VERTEX_ELEMENTS, 3DSTATE_VS.
//! Does not compare elements with the buffers that they name.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Id, rule, table};
use crate::check::{Rule, View, When};

const BUFFERS: &[Id] = &[Id::State3dVertexBuffers];
const ELEMENTS: &[Id] = &[Id::State3dVertexElements];

/// Component controls.
const NO_STORE: u32 = 0;
const STORE_SOURCE: u32 = 1;

/// What stands behind the header, `None` for a header alone.
fn rest<'a>(v: &'a View<'_>) -> &'a [u32] {
    v.words.get(1..).unwrap_or_default()
}

/// How many structures there are, and whether the last is whole.
fn whole(v: &View<'_>, dwords: usize, most: usize) -> Option<String> {
    let rest = rest(v).len();
    let count = rest / dwords;
    if !rest.is_multiple_of(dwords) {
        return Some(format!("{rest} dwords for structures of {dwords}"));
    }
    (!(1..=most).contains(&count)).then(|| format!("{count} structures, where 1 to {most} may be"))
}

pub const BUFFER_COUNT: Rule = rule(
    "vertex-buffer-count",
    "there are 1 to 33 whole VERTEX_BUFFER_STATEs of four dwords",
    "3DSTATE_VERTEX_BUFFERS, programming notes",
    When::At(BUFFERS),
    |v| whole(v, table::VertexBufferState::LEN, 33),
);

pub const BUFFER_ONCE: Rule = rule(
    "vertex-buffer-once",
    "a command defines a vertex buffer once",
    "3DSTATE_VERTEX_BUFFERS, programming notes",
    When::At(BUFFERS),
    |v| {
        let mut seen = 0_u64;
        for state in rest(v).chunks_exact(table::VertexBufferState::LEN) {
            let index = table::VertexBufferState::from_dwords(state).vertex_buffer_index();
            // Indices have six bits.
            if seen >> index & 1 != 0 {
                return Some(format!("buffer {index} twice"));
            }
            seen |= 1 << index;
        }
        None
    },
);

/// 34 elements are 69 dwords, whose length field is 67: the print's range ends at 66, and its count at 34.
pub const ELEMENT_COUNT: Rule = rule(
    "vertex-element-count",
    "there are 1 to 34 whole VERTEX_ELEMENT_STATEs",
    "3DSTATE_VERTEX_ELEMENTS, programming notes",
    When::At(ELEMENTS),
    |v| whole(v, table::VertexElementState::LEN, 34),
);

fn elements(d: &[u32]) -> impl Iterator<Item = table::VertexElementState> {
    let states = d.get(1..).unwrap_or_default();
    states
        .chunks_exact(table::VertexElementState::LEN)
        .map(table::VertexElementState::from_dwords)
}

pub const ELEMENTS_VALID: Rule = rule(
    "vertex-elements-valid",
    "a draw has valid elements, from the first one on without gaps",
    "3DSTATE_VERTEX_ELEMENTS, programming notes",
    When::Draw,
    |v| {
        let d = v.kept(Id::State3dVertexElements)?;
        let valid: Vec<bool> = elements(d).map(|e| e.valid()).collect();
        let gap = valid.iter().position(|valid| !valid);
        let last = valid.iter().rposition(|valid| *valid);
        match (gap, last) {
            (_, None) => Some(String::from("no valid element")),
            (Some(gap), Some(last)) if gap < last => {
                Some(format!("element {gap} is not valid, element {last} is"))
            }
            _ => None,
        }
    },
);

fn components(e: table::VertexElementState) -> [u32; 4] {
    [
        e.component_0_control(),
        e.component_1_control(),
        e.component_2_control(),
        e.component_3_control(),
    ]
}

pub const HOLES: Rule = rule(
    "vertex-holes",
    "components that are not stored stand at the end of the vertex",
    "3DSTATE_VERTEX_ELEMENTS, programming notes",
    When::At(ELEMENTS),
    |v| {
        let valid = elements(v.words).filter(table::VertexElementState::valid);
        let all: Vec<u32> = valid.flat_map(components).collect();
        let hole = all.iter().position(|c| *c == NO_STORE)?;
        let stored = all.iter().rposition(|c| *c != NO_STORE)?;
        (hole < stored).then(|| {
            format!(
                "component {} of element {} is not stored, component {} of element {} is",
                hole % 4,
                hole / 4,
                stored % 4,
                stored / 4
            )
        })
    },
);

pub const SOURCES_FIRST: Rule = rule(
    "vertex-sources-first",
    "components from the source come before all others of an element",
    "3DSTATE_VERTEX_ELEMENTS, programming notes",
    When::At(ELEMENTS),
    |v| {
        for (i, e) in elements(v.words).enumerate().filter(|(_, e)| e.valid()) {
            let c = components(e);
            let other = c.iter().position(|c| *c != STORE_SOURCE);
            let source = c.iter().rposition(|c| *c == STORE_SOURCE);
            if let (Some(other), Some(source)) = (other, source)
                && other < source
            {
                return Some(format!(
                    "component {source} of element {i} is from the source, component {other} is not"
                ));
            }
        }
        None
    },
);

pub const READ_LENGTH: Rule = rule(
    "vs-read-length",
    "VS threads read something of their vertices",
    "3DSTATE_VS, Vertex URB Entry Read Length",
    When::Draw,
    |v| {
        let s = table::State3dVs::from_dwords(v.kept(Id::State3dVs)?);
        (s.enable() && s.vertex_urb_entry_read_length() == 0)
            .then(|| String::from("Vertex URB Entry Read Length is 0"))
    },
);

pub const THREADS: Rule = rule(
    "vs-threads",
    "there are at most 16 VS threads",
    "3DSTATE_VS, Maximum Number of Threads",
    When::Draw,
    |v| {
        let s = table::State3dVs::from_dwords(v.kept(Id::State3dVs)?);
        let maximum = s.maximum_number_of_threads();
        // The manual's limit is lower than what drivers use (Mesa 22.3.6 intel_device_info.c: 36 threads).
        let text = || format!("Maximum Number of Threads is {maximum}; Mesa's drivers write 35");
        (s.enable() && maximum > 15).then(text)
    },
);
