//! Unified return buffer: rows, fences, entries and their handles.
//!
//! PRM: volume 4, chapter 8; URB_FENCE and CS_URB_STATE (volume 2).
//! Handles are row numbers of the first row of an entry.

use eu::Grf;

/// 256-bit rows in the URB of a 965 (PRM 8.1: 16 KB).
pub const ROWS: u16 = 512;

/// The handle of an entry: the number of its first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UrbHandle(pub u16);

/// The fixed functions that own a section of the URB, in fence order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Vertex shader: VUEs that VF allocates.
    Vs,
    /// Geometry shader output.
    Gs,
    /// Clipper output.
    Clip,
    /// Strips and fans: setup results.
    Sf,
    /// Video front end.
    Vfe,
    /// Command streamer: CURBE.
    Cs,
    /// Hull shader: patches.
    Hs,
    /// Domain shader: VUEs.
    Ds,
}

/// Number of owners.
pub const OWNERS: usize = 8;

/// One owner's section: a range of rows cut into entries with reference counts.
#[derive(Clone, Debug, Default)]
pub struct Section {
    start: u16,
    end: u16,
    entry_rows: u16,
    entries: u16,
    refs: Vec<u16>,
    free: Vec<u16>,
    /// Entries hold several vertices, whose handles lie within them.
    shared: bool,
}

impl Section {
    fn carve(&mut self) {
        let room = usize::from(self.end.saturating_sub(self.start));
        let fit = match self.entry_rows {
            0 => 0,
            rows => room / usize::from(rows),
        };
        let entries = usize::from(self.entries).min(fit);
        self.refs.clear();
        self.refs.resize(entries, 0);
        self.free.clear();
        // Low handles first, as a hardware allocator after reset.
        self.free.extend((0..entries as u16).rev());
    }

    fn index(&self, handle: UrbHandle) -> Option<usize> {
        let at = handle.0.checked_sub(self.start)?;
        if self.entry_rows == 0 || !(self.shared || at.is_multiple_of(self.entry_rows)) {
            return None;
        }
        let index = usize::from(at / self.entry_rows);
        (index < self.refs.len()).then_some(index)
    }
}

/// The URB: storage and allocation.
#[derive(Clone, Debug)]
pub struct Urb {
    rows: Box<[Grf]>,
    sections: [Section; OWNERS],
}

impl Default for Urb {
    fn default() -> Self {
        Self::new()
    }
}

impl Urb {
    /// The URB of a 965, empty and with no section allocated.
    pub fn new() -> Self {
        Self::with_rows(ROWS)
    }

    /// A URB of so many 256-bit rows, empty and with no section allocated.
    pub fn with_rows(rows: u16) -> Self {
        Urb {
            rows: vec![[0; 8]; usize::from(rows)].into_boxed_slice(),
            sections: Default::default(),
        }
    }

    /// Empties it, with no section allocated.
    pub fn clear(&mut self) {
        // CAST: a URB is made with 16 bits of rows.
        *self = Urb::with_rows(self.rows.len() as u16);
    }

    /// Row `offset` of the entry at `handle`; `None` past the end of the URB.
    #[inline]
    pub fn row(&self, handle: UrbHandle, offset: u16) -> Option<&Grf> {
        self.rows.get(usize::from(handle.0) + usize::from(offset))
    }

    /// `count` rows from row `offset` of the entry at `handle` on; `None` when they pass the end of the URB.
    #[inline]
    pub fn rows(&self, handle: UrbHandle, offset: u16, count: u16) -> Option<&[Grf]> {
        let first = usize::from(handle.0) + usize::from(offset);
        self.rows.get(first..first + usize::from(count))
    }

    /// Row `offset` of the entry at `handle`, for writing.
    #[inline]
    pub fn row_mut(&mut self, handle: UrbHandle, offset: u16) -> Option<&mut Grf> {
        self.rows
            .get_mut(usize::from(handle.0) + usize::from(offset))
    }

    /// Sets the rows that `owner` may use (URB_FENCE), in 256-bit rows, and forgets its entries.
    pub fn fence(&mut self, owner: Owner, start: u16, end: u16) {
        // CAST: a URB is made with 16 bits of rows.
        let rows = self.rows.len() as u16;
        let section = &mut self.sections[owner as usize];
        section.start = start.min(rows);
        section.end = end.clamp(section.start, rows);
        section.carve();
    }

    /// The first row of the section of `owner`.
    pub fn start(&self, owner: Owner) -> u16 {
        self.sections[owner as usize].start
    }

    /// The row behind the section of `owner`.
    pub fn end(&self, owner: Owner) -> u16 {
        self.sections[owner as usize].end
    }

    /// Cuts the section of `owner` into `entries` entries of `entry_rows` 256-bit rows each
    /// (unit state or CS_URB_STATE). Keeps live entries when nothing changes.
    pub fn partition(&mut self, owner: Owner, entries: u16, entry_rows: u16) {
        let section = &mut self.sections[owner as usize];
        if section.entries != entries || section.entry_rows != entry_rows {
            section.entries = entries;
            section.entry_rows = entry_rows;
            section.carve();
        }
    }

    /// Says whether entries of `owner` hold several vertices: the handle of each is a row of its entry, and its references
    /// are the entry's.
    pub fn share(&mut self, owner: Owner, shared: bool) {
        self.sections[owner as usize].shared = shared;
    }

    /// Entries that `owner` was given, whether they fit or not.
    pub fn entries(&self, owner: Owner) -> u16 {
        self.sections[owner as usize].entries
    }

    /// Entries that fit the section of `owner`.
    pub fn capacity(&self, owner: Owner) -> usize {
        self.sections[owner as usize].refs.len()
    }

    /// Entries of `owner` that are free.
    pub fn available(&self, owner: Owner) -> usize {
        self.sections[owner as usize].free.len()
    }

    /// 256-bit rows of one entry of `owner`.
    pub fn entry_rows(&self, owner: Owner) -> u16 {
        self.sections[owner as usize].entry_rows
    }

    /// Takes a free entry with one reference; `None` when all are in use.
    #[inline]
    pub fn allocate(&mut self, owner: Owner) -> Option<UrbHandle> {
        let section = &mut self.sections[owner as usize];
        let index = section.free.pop()?;
        section.refs[usize::from(index)] = 1;
        Some(UrbHandle(section.start + index * section.entry_rows))
    }

    /// Adds a reference to a live entry of whichever section it lies in.
    #[inline]
    pub fn reference(&mut self, handle: UrbHandle) {
        for section in &mut self.sections {
            if let Some(index) = section.index(handle)
                && section.refs[index] > 0
            {
                section.refs[index] += 1;
                return;
            }
        }
    }

    /// Drops a reference; the last one frees the entry.
    #[inline]
    pub fn release(&mut self, handle: UrbHandle) {
        for section in &mut self.sections {
            if let Some(index) = section.index(handle)
                && section.refs[index] > 0
            {
                section.refs[index] -= 1;
                if section.refs[index] == 0 {
                    section.free.push(index as u16);
                }
                return;
            }
        }
    }

    /// Frees every entry of `owner`; for resets and flushed pipelines.
    pub fn recycle(&mut self, owner: Owner) {
        self.sections[owner as usize].carve();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partitioned() -> Urb {
        let mut urb = Urb::new();
        urb.fence(Owner::Vs, 0, 64);
        urb.partition(Owner::Vs, 32, 2);
        urb
    }

    #[test]
    fn handles_are_rows_and_run_out() {
        let mut urb = partitioned();
        let all: Vec<_> = std::iter::from_fn(|| urb.allocate(Owner::Vs)).collect();
        assert_eq!(all.len(), 32);
        assert!(
            all.iter()
                .enumerate()
                .all(|(i, h)| usize::from(h.0) == i * 2)
        );
        assert_eq!(urb.allocate(Owner::Vs), None);
    }

    #[test]
    fn the_last_reference_frees() {
        let mut urb = partitioned();
        while urb.available(Owner::Vs) > 1 {
            urb.allocate(Owner::Vs);
        }
        let Some(h) = urb.allocate(Owner::Vs) else {
            unreachable!("one was free")
        };
        urb.reference(h);
        urb.release(h);
        assert_eq!(urb.available(Owner::Vs), 0);
        urb.release(h);
        assert_eq!(urb.available(Owner::Vs), 1);
        assert_eq!(urb.allocate(Owner::Vs), Some(h));
    }

    #[test]
    fn vertices_of_a_shared_entry_keep_it() {
        let mut urb = Urb::new();
        urb.fence(Owner::Gs, 64, 128);
        urb.partition(Owner::Gs, 1, 64);
        urb.share(Owner::Gs, true);
        let entry = urb.allocate(Owner::Gs);
        assert_eq!(entry, Some(UrbHandle(64)));
        urb.reference(UrbHandle(127));
        urb.reference(UrbHandle(70));
        for handle in [64, 70, 128, 63] {
            urb.release(UrbHandle(handle));
            assert_eq!(urb.available(Owner::Gs), 0);
        }
        urb.release(UrbHandle(127));
        assert_eq!(urb.allocate(Owner::Gs), Some(UrbHandle(64)));
    }

    #[test]
    fn a_section_too_small_holds_fewer_entries() {
        let mut urb = Urb::new();
        urb.fence(Owner::Clip, 500, 600);
        urb.partition(Owner::Clip, 10, 4);
        assert_eq!(urb.capacity(Owner::Clip), 3);
    }

    #[test]
    fn sections_end_where_the_urb_does() {
        for rows in [ROWS, 768, 2048] {
            let mut urb = Urb::with_rows(rows);
            assert!(urb.row(UrbHandle(rows - 1), 0).is_some());
            assert!(urb.row(UrbHandle(rows), 0).is_none());
            urb.fence(Owner::Cs, rows - 4, u16::MAX);
            assert_eq!(urb.end(Owner::Cs), rows);
            urb.clear();
            assert_eq!(urb.end(Owner::Cs), 0);
            assert!(urb.row(UrbHandle(rows - 1), 0).is_some());
            assert!(urb.row(UrbHandle(rows), 0).is_none());
        }
    }

    #[test]
    fn an_emptied_urb_keeps_its_size() {
        for rows in [ROWS, 768, 2048] {
            let mut urb = Urb::with_rows(rows);
            urb.fence(Owner::Cs, 0, rows);
            urb.partition(Owner::Cs, 1, 4);
            assert!(urb.allocate(Owner::Cs).is_some());
            if let Some(last) = urb.row_mut(UrbHandle(rows - 1), 0) {
                *last = [7; 8];
            }
            urb.clear();
            assert_eq!(urb.row(UrbHandle(rows - 1), 0), Some(&[0; 8]));
            assert_eq!(urb.capacity(Owner::Cs), 0);
            assert_eq!(urb.allocate(Owner::Cs), None);
        }
    }

    #[test]
    fn rows_past_the_end_do_not_exist() {
        let urb = Urb::new();
        assert!(urb.row(UrbHandle(511), 0).is_some());
        assert!(urb.row(UrbHandle(511), 1).is_none());
    }
}
