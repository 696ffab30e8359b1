//! Copies of the system routine, one a base, at places that one STATE_SIP names.
//!
//! PRM vol2 STATE_SIP, STATE_BASE_ADDRESS: the system routine's address counts from the base that a thread began under, so
//! a batch that changes the base needs a copy at the same offset from each of them. Not modelled: two copies at one
//! place, for bases of instructions that are the same and general bases that are not.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use kernel::dma::PAGE_SIZE;
use kernel::error::{Result, code::ENOSPC};
use kernel::pr_err;

use super::batch::Stretch;
use super::system_routine::{self, CODE};
use crate::core::range::Gaps;
use crate::intel::device::Device;
use crate::intel::gem::{Object, Tiling};
use crate::intel::gtt::Place;

/// Sets of bases in one batch; none of Mesa's has more than two.
pub const MOST_ORIGINS: usize = 64;
/// Copies that a session keeps for later batches.
const MOST_COPIES: usize = 256;
/// Places that are tried for the copies of one batch.
const MOST_TRIES: u32 = 1 << 14;

/// What the addresses of a thread count from.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Origin {
    /// General State Base Address: stateless messages.
    pub general: u32,
    /// Base of instructions: kernels, instruction pointers, the system routine.
    pub instructions: u32,
}

/// A copy of the routine for threads that began under some bases.
struct Copy {
    origin: Origin,
    object: Object,
}

/// Copies that lie at one offset from their bases.
struct Group {
    /// The offset, which is what STATE_SIP holds.
    sip: u32,
    copies: Vec<Copy>,
}

/// All copies of a session.
#[derive(Default)]
pub struct Routines {
    groups: Vec<Group>,
}

/// Where threads of a batch need the routine.
pub struct Need<'a> {
    /// Address of the batch, for messages.
    pub batch: u32,
    /// Its stretches with threads.
    pub stretches: &'a [Stretch],
    /// Their bases, in the same order.
    pub origins: &'a [Origin],
    /// Objects that users have bound and do not use at the moment may give way: the caller holds the lock of submissions.
    pub may_evict: bool,
}

impl Group {
    fn object(&self, origin: Origin) -> Option<&Object> {
        let copy = self.copies.iter().find(|copy| copy.origin == origin)?;
        Some(&copy.object)
    }

    /// Adds the copies that are missing; false, with what it had before, when a place is taken.
    fn extend(&mut self, device: &Device, area: u32, origins: &[Origin]) -> Result<bool> {
        let before = self.copies.len();
        let added = self.try_extend(device, area, origins);
        if added != Ok(true) {
            self.copies.truncate(before);
        }
        added
    }

    fn try_extend(&mut self, device: &Device, area: u32, origins: &[Origin]) -> Result<bool> {
        for origin in origins {
            if self.object(*origin).is_some() {
                continue;
            }
            let object = copy(device, area, *origin)?;
            let place = Place {
                fixed: Some(origin.instructions.wrapping_add(self.sip).into()),
                ..Place::default()
            };
            if object.bind_user(&place).is_err() {
                return Ok(false);
            }
            self.copies.push(Copy {
                origin: *origin,
                object,
            });
        }
        Ok(true)
    }
}

/// A copy that is not bound yet.
fn copy(device: &Device, area: u32, origin: Origin) -> Result<Object> {
    let code = system_routine::code(device.info(), area, origin)?;
    let object = Object::new(
        device.platform(),
        device.ggtt(),
        "system routine".into(),
        CODE as usize,
        Tiling::None,
        0,
    )?;
    object.write_dwords(0, &code)?;
    Ok(object)
}

impl Routines {
    /// The value of STATE_SIP for a batch, and the copies that its threads may come to.
    ///
    /// `ENOSPC` when no value serves all of its bases; a message says which batch it is and where it sets them.
    pub fn serve(
        &mut self,
        device: &Device,
        area: u32,
        need: &Need<'_>,
    ) -> Result<(u32, Vec<Object>)> {
        let mut origins: Vec<Origin> = Vec::new();
        for origin in need.origins {
            if !origins.contains(origin) {
                origins.push(*origin);
            }
        }
        if origins.len() > MOST_ORIGINS {
            return refuse(need, "more sets of bases than the debugger follows");
        }
        let copies: usize = self.groups.iter().map(|group| group.copies.len()).sum();
        if copies > MOST_COPIES {
            // Requests on their way hold what they need.
            self.groups.clear();
        }
        let whole = |group: &Group| origins.iter().all(|o| group.object(*o).is_some());
        let mut found = self.groups.iter().position(whole);
        if found.is_none() && may_share(&origins) {
            for (index, group) in self.groups.iter_mut().enumerate() {
                if group.extend(device, area, &origins)? {
                    found = Some(index);
                    break;
                }
            }
            if found.is_none() {
                found = self.begin(device, area, &origins, need.may_evict)?;
            }
        }
        let Some(group) = found.and_then(|index| self.groups.get(index)) else {
            let why = if may_share(&origins) {
                "no offset from all of their bases is free for the system routine"
            } else {
                "one base of instructions goes with several general bases, which the system routine cannot tell apart"
            };
            return refuse(need, why);
        };
        let objects = origins.iter().filter_map(|o| group.object(*o).cloned());
        Ok((group.sip, objects.collect()))
    }

    /// A group of its own for a batch; `None` when there is no common offset.
    fn begin(
        &mut self,
        device: &Device,
        area: u32,
        origins: &[Origin],
        may_evict: bool,
    ) -> Result<Option<usize>> {
        let bases: Vec<u32> = origins.iter().map(|origin| origin.instructions).collect();
        for evicts in [false, true] {
            if evicts && !may_evict {
                break;
            }
            let Some(sip) = place(device, &bases, evicts) else {
                continue;
            };
            let mut group = Group {
                sip,
                copies: Vec::new(),
            };
            if group.extend(device, area, origins)? {
                self.groups.push(group);
                return Ok(Some(self.groups.len() - 1));
            }
        }
        Ok(None)
    }
}

/// Whether no two sets of bases would have their copies at one place.
fn may_share(origins: &[Origin]) -> bool {
    let mut rest = origins;
    while let Some((first, others)) = rest.split_first() {
        if others.iter().any(|o| o.instructions == first.instructions) {
            return false;
        }
        rest = others;
    }
    true
}

/// `ENOSPC`, and a message that says why and where.
fn refuse<T>(need: &Need<'_>, why: &str) -> Result<T> {
    pr_err!("{}", refusal(need, why));
    Err(ENOSPC)
}

/// Which batch cannot be served, why, and where it sets its bases.
fn refusal(need: &Need<'_>, why: &str) -> String {
    /// Sets of bases that are listed.
    const LISTED: usize = 4;
    let batch = need.batch;
    let mut text =
        format!("debugger: threads of the batch at {batch:#010x} cannot be halted: {why}");
    for (stretch, origin) in need.stretches.iter().zip(need.origins).take(LISTED) {
        let Origin {
            general,
            instructions,
        } = origin;
        // A string takes everything.
        let _ = write!(
            text,
            "; instructions at {instructions:#010x}, general state at {general:#010x}, set "
        );
        let _ = match stretch.set_at {
            Some(at) => write!(text, "at {at:#010x}"),
            None => text.write_str("before the batch"),
        };
    }
    let more = need.origins.len().saturating_sub(LISTED);
    if more > 0 {
        let _ = write!(text, "; and {more} more");
    }
    text
}

/// The highest offset from all of `bases` at which the routine has room, where objects that users have bound and do not use
/// at the moment give way if `evicts`.
fn place(device: &Device, bases: &[u32], evicts: bool) -> Option<u32> {
    let ggtt = device.ggtt();
    let mut gaps = ggtt.gaps();
    if !evicts {
        return common_offset(&gaps, bases);
    }
    let mut idle = device.user().lru.evictable();
    idle.retain(|object| !object.is_busy(false));
    let span = |object: &Object| {
        let start = object.address()?;
        let size = ggtt.size_at(start);
        let start = u64::from(start);
        (size > 0).then_some((start, start + size))
    };
    for (start, end) in idle.iter().filter_map(span) {
        gaps.give(start, end);
    }
    let sip = common_offset(&gaps, bases)?;
    for object in &idle {
        let in_the_way = bases.iter().any(|base| {
            let at = u64::from(base.wrapping_add(sip));
            span(object).is_some_and(|(start, end)| at < end && start < at + u64::from(CODE))
        });
        if in_the_way {
            object.unbind();
        }
    }
    Some(sip)
}

/// The highest offset at which a page is free from each of `bases`.
fn common_offset(gaps: &Gaps, bases: &[u32]) -> Option<u32> {
    const PAGE: u64 = PAGE_SIZE as u64;
    let size = CODE.into();
    let last = bases.iter().copied().max()?;
    let mut top = gaps.highest(size, PAGE, PAGE)?;
    for _ in 0..MOST_TRIES {
        let mut at = top;
        for base in bases {
            let below = u64::from(last - base);
            let found = gaps.highest_from(size, at.checked_sub(below)?)?;
            if found < PAGE {
                return None;
            }
            at = found + below;
        }
        if at == top {
            return u32::try_from(at).ok().map(|at| at.wrapping_sub(last));
        }
        top = at;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Need, Origin, common_offset, may_share, refusal};
    use crate::core::range::Gaps;
    use crate::intel::debug::batch::Stretch;

    /// A page has to be free from each of the bases.
    #[test]
    fn the_highest_offset_that_is_free_from_all_bases() {
        let mut gaps = Gaps::new(0x1000, 0x10_0000);
        assert_eq!(common_offset(&gaps, &[0x2000]), Some(0xf_d000));
        assert_eq!(common_offset(&gaps, &[0x2000, 0x6000]), Some(0xf_9000));
        assert!(gaps.take(0xf_b000, 0xf_c000));
        assert_eq!(common_offset(&gaps, &[0x2000, 0x6000]), Some(0xf_8000));
        assert!(gaps.take(0xf_e000, 0xf_f000));
        assert_eq!(common_offset(&gaps, &[0x6000, 0x2000]), Some(0xf_7000));
        // Bases above the space count backwards.
        let offset = common_offset(&gaps, &[0xffff_0000]);
        assert_eq!(
            offset.map(|offset| 0xffff_0000_u32.wrapping_add(offset)),
            Some(0xf_f000)
        );
        assert_eq!(common_offset(&gaps, &[0, 0xf_f000]), None);
        assert_eq!(common_offset(&gaps, &[0, 0xf_e000]), Some(0x1000));
        assert_eq!(common_offset(&gaps, &[0, 0x2000_0000]), None);
    }

    #[test]
    fn one_place_holds_one_copy() {
        let origin = |general, instructions| Origin {
            general,
            instructions,
        };
        assert!(may_share(&[origin(0, 0x1000), origin(0, 0x2000)]));
        assert!(!may_share(&[origin(0, 0x1000), origin(0x1000, 0x1000)]));
    }

    #[test]
    fn a_refusal_says_where() {
        let stretch = |set_at| Stretch {
            set_at,
            bases: crate::intel::debug::batch::Bases::default(),
        };
        let mut stretches = alloc::vec![stretch(None)];
        let mut origins = alloc::vec![Origin::default()];
        for n in 1..6 {
            stretches.push(stretch(Some(0x0010_0000 + n * 0x20)));
            origins.push(Origin {
                general: 0,
                instructions: n << 28,
            });
        }
        let need = Need {
            batch: 0x0010_0000,
            stretches: &stretches,
            origins: &origins,
            may_evict: false,
        };
        assert_eq!(
            refusal(&need, "no"),
            "debugger: threads of the batch at 0x00100000 cannot be halted: no\
             ; instructions at 0x00000000, general state at 0x00000000, set before the batch\
             ; instructions at 0x10000000, general state at 0x00000000, set at 0x00100020\
             ; instructions at 0x20000000, general state at 0x00000000, set at 0x00100040\
             ; instructions at 0x30000000, general state at 0x00000000, set at 0x00100060\
             ; and 2 more"
        );
    }
}
