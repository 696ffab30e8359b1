//! Lists of patches: 1 to 32 vertices each.
//!
//! Codes from genxml gen7 (3D_Prim_Topo_Type, PATCHLIST_1 and following).

use super::Topology;

const LISTS: [Topology; 32] = [
    Topology::PatchList1,
    Topology::PatchList2,
    Topology::PatchList3,
    Topology::PatchList4,
    Topology::PatchList5,
    Topology::PatchList6,
    Topology::PatchList7,
    Topology::PatchList8,
    Topology::PatchList9,
    Topology::PatchList10,
    Topology::PatchList11,
    Topology::PatchList12,
    Topology::PatchList13,
    Topology::PatchList14,
    Topology::PatchList15,
    Topology::PatchList16,
    Topology::PatchList17,
    Topology::PatchList18,
    Topology::PatchList19,
    Topology::PatchList20,
    Topology::PatchList21,
    Topology::PatchList22,
    Topology::PatchList23,
    Topology::PatchList24,
    Topology::PatchList25,
    Topology::PatchList26,
    Topology::PatchList27,
    Topology::PatchList28,
    Topology::PatchList29,
    Topology::PatchList30,
    Topology::PatchList31,
    Topology::PatchList32,
];

/// The list of patches of so many vertices.
pub(super) const fn of(vertices: u32) -> Option<Topology> {
    match vertices {
        // PANIC: below 32.
        1..=32 => Some(LISTS[vertices as usize - 1]),
        _ => None,
    }
}

impl Topology {
    /// Vertices of a patch, where these are patches.
    pub const fn patch(self) -> Option<usize> {
        match (self as usize).checked_sub(LISTS[0] as usize) {
            Some(more) => Some(more + 1),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_patches_count_their_vertices() {
        assert_eq!(Topology::from_code(0x20), Some(Topology::PatchList1));
        assert_eq!(Topology::from_code(0x3f), Some(Topology::PatchList32));
        for vertices in 1..=32 {
            let list = Topology::from_code(0x1f + vertices);
            assert_eq!(list.map(|list| list as u32), Some(0x1f + vertices));
            let patch = list.and_then(Topology::patch);
            assert_eq!(patch, Some(vertices as usize));
        }
        assert_eq!(Topology::TriFanNoStipple.patch(), None);
        assert_eq!((of(0), of(33)), (None, None));
    }
}
