//! Dwords of a submission by their graphics addresses.

use std::cell::RefCell;
use std::ops::Range;

use super::objects::Objects;
use super::upload::Bound;
use crate::capture::Exec;

/// Reads dwords of a submission; the buffer found last is looked at first, and its page is kept.
pub(super) struct Finder<'a> {
    objects: &'a Objects,
    exec: &'a Exec,
    found: RefCell<Option<Found<'a>>>,
}

/// A buffer of a submission.
struct Found<'a> {
    /// Its addresses.
    range: Range<u64>,
    bound: &'a Bound,
    /// Byte offset of the page, and what it holds.
    first: usize,
    page: Vec<u8>,
}

impl Found<'_> {
    /// Bytes that are read at a time.
    const PAGE: usize = 4096;

    /// The dword at a byte offset.
    fn dword(&mut self, offset: usize) -> Option<u32> {
        let first = offset & !(Self::PAGE - 1);
        if self.page.is_empty() || self.first != first {
            let size = self.bound.object.size().checked_sub(first)?;
            self.page.resize(size.min(Self::PAGE), 0);
            self.first = first;
            if self.bound.object.read(first, &mut self.page).is_err() {
                self.page.clear();
            }
        }
        match self
            .page
            .get(offset - first..)
            .and_then(<[u8]>::first_chunk)
        {
            Some(bytes) => Some(u32::from_le_bytes(*bytes)),
            // Across the end of the page.
            None => self.bound.object.read32(offset).ok(),
        }
    }
}

impl<'a> Finder<'a> {
    pub(super) fn new(objects: &'a Objects, exec: &'a Exec) -> Self {
        Finder {
            objects,
            exec,
            found: RefCell::default(),
        }
    }

    /// The dword that the device would read at an address.
    pub(super) fn dword(&self, address: u32) -> Option<u32> {
        let at = u64::from(address);
        let mut found = self.found.borrow_mut();
        let is_it = |found: &Found<'_>| found.range.contains(&at);
        if !found.as_ref().is_some_and(is_it) {
            let (index, _) = self.exec.find(address)?;
            let buffer = self.exec.buffers.get(index)?;
            *found = Some(Found {
                range: u64::from(buffer.address)..buffer.end(),
                bound: self.objects.bound(buffer)?,
                first: 0,
                page: Vec::new(),
            });
        }
        let found = found.as_mut()?;
        found.dword((at - found.range.start) as usize)
    }
}
