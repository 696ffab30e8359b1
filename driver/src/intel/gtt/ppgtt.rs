//! The process space: tables in memory beside the global GTT.
//!
//! i915 `gt/gen6_ppgtt.c`, the "aliasing PPGTT": an object has one address in both. Batches of clients run in it, so that they do not reach what the driver keeps in the global GTT
//! alone. One directory serves all clients; its entries lie among those of the global GTT. Not modelled: spaces of single
//! contexts, tables that are given back (i915 frees them when the directory moves, which this one never does).
use alloc::vec;
use alloc::vec::Vec;

use kernel::dma::{CoherentAllocation, DmaAddress, PAGE_SIZE};
use kernel::error::{Result, code::EINVAL};
use kernel::sync::SpinLock;

use crate::intel::r#gen::{DeviceInfo, SpaceOps};
use crate::intel::gtt::table::{Table, pte_offset};

/// Bytes of an entry.
const ENTRY: usize = 4;
/// Entries of a table, which is a page.
const ENTRIES: usize = PAGE_SIZE / ENTRY;

/// The tables of a device's process space.
pub struct Ppgtt {
    info: &'static DeviceInfo,
    ops: &'static SpaceOps,
    /// Graphics address of the pages whose entries of the global GTT the directory takes.
    directory: u32,
    tables: SpinLock<Vec<Option<CoherentAllocation>>>,
    /// Stands for tables that nothing has been mapped in yet: the device keeps the directory's entries, so all are valid.
    empty: CoherentAllocation,
}

impl Ppgtt {
    /// Tables with nothing in them; the directory's entries are those of the pages from `directory` on.
    pub fn new(
        entries: &Table,
        info: &'static DeviceInfo,
        ops: &'static SpaceOps,
        directory: u32,
    ) -> Result<Self> {
        let ppgtt = Ppgtt {
            info,
            ops,
            directory,
            tables: SpinLock::new((0..ops.tables).map(|_| None).collect()),
            empty: CoherentAllocation::alloc_guarded(entries.uncore().platform(), 1)?,
        };
        for table in 0..ops.tables {
            ppgtt.name_table(entries, table, &ppgtt.empty)?;
        }
        Ok(ppgtt)
    }

    /// Operations of its generation.
    #[must_use]
    pub fn ops(&self) -> &'static SpaceOps {
        self.ops
    }

    /// See [`new`](Self::new).
    #[must_use]
    pub fn directory(&self) -> u32 {
        self.directory
    }

    /// Writes an entry of the directory.
    fn name_table(&self, entries: &Table, index: usize, table: &CoherentAllocation) -> Result {
        let entry = (self.ops.encode_table)(table.dma_handle())?;
        let page = self.directory as usize / PAGE_SIZE + index;
        pte_offset(self.info, page).ok_or(EINVAL)?;
        entries.write(page, core::iter::once(entry));
        Ok(())
    }

    /// Writes entries from a page of the space on, table by table. Without `global` no table is made: what has none has
    /// nothing to clear.
    fn write(&self, global: Option<&Table>, first: usize, entries: &[u32]) -> Result {
        let mut tables = self.tables.lock();
        let mut done = 0;
        while done < entries.len() {
            let (index, slot) = ((first + done) / ENTRIES, (first + done) % ENTRIES);
            let count = (ENTRIES - slot).min(entries.len() - done);
            let part = entries.get(done..done + count).unwrap_or_default();
            done += count;
            let table = tables.get_mut(index).ok_or(EINVAL)?;
            if let (None, Some(global)) = (&table, global) {
                let new = CoherentAllocation::alloc_guarded(global.uncore().platform(), 1)?;
                self.name_table(global, index, &new)?;
                *table = Some(new);
            }
            if let Some(table) = table {
                let bytes: Vec<u8> = part.iter().flat_map(|entry| entry.to_le_bytes()).collect();
                table.write(slot * ENTRY, &bytes)?;
            }
        }
        Ok(())
    }

    /// Maps entries from a page of the space on. The device sees them with the next request, which begins with an
    /// invalidation of its translations.
    pub fn insert(&self, global: &Table, first: usize, entries: &[u32]) -> Result {
        self.write(Some(global), first, entries)
    }

    /// Takes entries away again.
    pub fn clear(&self, first: usize, count: usize) {
        // Entries without a table, or outside of the space, are clear.
        let _ = self.write(None, first, &vec![0; count]);
    }

    /// The memory behind a page of the space.
    #[must_use]
    pub fn page(&self, page: usize) -> Option<DmaAddress> {
        let tables = self.tables.lock();
        let table = tables.get(page / ENTRIES)?.as_ref()?;
        let entry = table.read32(page % ENTRIES * ENTRY).ok()?;
        (self.info.gtt.decode)(entry)
    }
}
