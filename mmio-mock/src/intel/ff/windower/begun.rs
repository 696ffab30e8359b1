//! The primitives whose threads wait, and what these begin with.
//!
//! A primitive ends for the windower when its last thread waits. What its threads find in their registers is kept until they
//! are computed, also the rows of a setup entry, which others may have by then.

use std::ops::Range;

use eu::Grf;

use crate::intel::ff::wiz::Plain;
use crate::intel::td::wave::{Primitive, Primitives, Recorded};

/// Primitives at most, before their threads have to end.
const MOST: usize = 512;

/// One of them.
#[derive(Debug)]
struct One {
    /// What its threads begin with that are kept as records.
    plain: Option<Plain>,
    /// Vertex or setup data, among those of all.
    data: Range<usize>,
    /// How many objects SF has had before it.
    object: u64,
}

/// Primitives of a wave, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Begun {
    primitives: Vec<One>,
    data: Vec<Grf>,
    /// The last one is in work.
    current: bool,
}

impl Begun {
    /// Another primitive begins. Those before it are forgotten when no thread waits.
    pub(super) fn next(&mut self, waits: bool) {
        self.current = false;
        if !waits {
            self.primitives.clear();
            self.data.clear();
        }
    }

    /// The number of the primitive in work, of which a thread waits; `data` adds what is behind the constants of its threads.
    #[inline]
    pub(super) fn number(&mut self, object: u64, data: impl FnOnce(&mut Vec<Grf>)) -> u32 {
        if !self.current {
            let first = self.data.len();
            data(&mut self.data);
            self.primitives.push(One {
                plain: None,
                data: first..self.data.len(),
                object,
            });
            self.current = true;
        }
        // CAST: a few hundred.
        self.primitives.len().saturating_sub(1) as u32
    }

    /// What records of the primitive in work begin with, now that one of them waits.
    #[inline]
    pub(super) fn keep(&mut self, plain: impl FnOnce() -> Plain) {
        if let Some(one) = self.primitives.last_mut() {
            one.plain.get_or_insert_with(plain);
        }
    }

    /// Whether there is room for further ones.
    pub(super) fn has_room(&self) -> bool {
        self.primitives.len() < MOST
    }
}

impl Primitives for Begun {
    fn get(&self, number: u32) -> Option<Primitive<'_>> {
        let one = self.primitives.get(number as usize)?;
        let plain = one.plain.as_ref();
        Some(Primitive {
            recorded: plain.map(|plain| plain as &dyn Recorded),
            data: self.data.get(one.data.clone())?,
            object: one.object,
        })
    }
}
