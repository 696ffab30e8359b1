//! Mapping the node: which bytes of which memory an `mmap` shows.
//!
//! drm_gem_mmap, i915 `i915_gem_mman.c`.

use std::sync::Arc;

use driver::mmap::Kind;
use driver::{Object, Shared, Tiling};
use kernel::error::{
    Result,
    code::{EFAULT, EINVAL, ENODEV, ENOMEM},
};
use wire::Head;
use wire::message::Remap;

use crate::card::Card;
use crate::descriptors::{Found, What};
use crate::process::Mapped;
use crate::server::Server;

/// Which memory of a device, as in the replies.
const GRAPHICS: u64 = 0;
const VIEWS: u64 = 1;

/// A memory of a device, as in the replies.
fn which(card: &Card, memory: u64) -> u64 {
    2 * card.number() as u64 + memory
}

/// Where bytes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub which: u64,
    pub offset: u64,
}

impl Place {
    /// So many bytes further on.
    #[must_use]
    pub fn behind(self, bytes: u64) -> Place {
        Place {
            offset: self.offset + bytes,
            ..self
        }
    }
}

/// What a range of a descriptor shows; its place is to be filled in.
fn resolve(found: Found, offset: u64, len: u64) -> Result<Mapped> {
    match found.what {
        What::File(file) => {
            let mapping = found.card.device().mappings().resolve(&file, offset, len)?;
            Ok(Mapped {
                len,
                object: mapping.object.show(mapping.kind != Kind::Gtt),
                kind: mapping.kind,
                start: mapping.start,
                place: Place::default(),
            })
        }
        What::Shared(Shared::Object(object)) => {
            let end = offset.checked_add(len).ok_or(EINVAL)?;
            if end > object.size() as u64 {
                return Err(EINVAL);
            }
            Ok(Mapped {
                len,
                object: object.show(true),
                kind: Kind::Wb,
                start: offset,
                place: Place::default(),
            })
        }
        What::Shared(_) => Err(ENODEV),
    }
}

/// Where the bytes of a mapping are now.
fn place(server: &Server, card: &Card, mapped: &Mapped) -> Result<Place> {
    let object = &*mapped.object;
    // It does not go while it is mapped; it may have gone before.
    let pages = object.dma_address().ok_or(EFAULT)?;
    if mapped.kind == Kind::Gtt && object.tiling() != Tiling::None {
        let view = card.views.show(card.live(), object).ok_or_else(|| {
            server.say_own("no memory for the linear view of a tiled object (ulimit -v): ENOMEM");
            ENOMEM
        })?;
        return Ok(Place {
            which: which(card, VIEWS),
            offset: view as u64 + mapped.start,
        });
    }
    Ok(Place {
        which: which(card, GRAPHICS),
        offset: pages + mapped.start,
    })
}

/// [`wire::Op::Map`]: where the bytes are, and what the mapping will hold. The file may be closed before it is made.
pub fn map(server: &Server, found: Found, head: &Head) -> Result<(Arc<Card>, Mapped)> {
    let card = Arc::clone(&found.card);
    let mut mapped = resolve(found, head.b, head.c)?;
    if mapped.kind != Kind::Gtt {
        // What was written through a fence before.
        card.views.push(card.live(), &mapped.object);
    }
    mapped.place = place(server, &card, &mapped)?;
    Ok((card, mapped))
}

/// What a process has to map anew after the layout of an object has changed.
pub fn remaps(server: &Server, card: &Card, pid: i32, object: &Object) -> Vec<Remap> {
    let mappings = server.processes.fenced(pid, object).into_iter();
    let anew = mappings.filter_map(|(address, mapped)| remap(server, card, pid, address, &mapped));
    anew.collect()
}

/// The same of a mapping that has just been made, whose layout may have changed since its place was told.
pub fn remap_new(server: &Server, card: &Card, pid: i32, address: u64) -> Option<Remap> {
    let mapped = server.processes.at(pid, address)?;
    remap(server, card, pid, address, &mapped)
}

/// Whether a mapping shows bytes that are its object's no more.
pub fn is_elsewhere(server: &Server, mapped: &Mapped) -> bool {
    let number = usize::try_from(mapped.place.which / 2).ok();
    let card = number.and_then(|number| server.cards.get(number));
    card.is_none_or(|card| place(server, card, mapped) != Ok(mapped.place))
}

/// What a mapping has to show now, when that is not what it shows.
fn remap(server: &Server, card: &Card, pid: i32, address: u64, mapped: &Mapped) -> Option<Remap> {
    let now = place(server, card, mapped).ok()?;
    if now == mapped.place {
        return None;
    }
    server.processes.moved(pid, address, mapped, now);
    Some(Remap {
        address,
        len: mapped.len,
        offset: now.offset,
        which: now.which,
        old_offset: mapped.place.offset,
        old_which: mapped.place.which,
    })
}
