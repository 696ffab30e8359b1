//! Kernels of which it is known what their threads reach outside of the EU.
//!
//! All that such a kernel can come to is decoded, so that its threads fetch nothing from memory, and each of its messages goes to a function
//! that its descriptor names. The look is at lowered instructions, so it serves every generation; of what it does not know it says
//! nothing.

use crate::cache::KernelCache;
use crate::decoded::{Decoded, DstKind};
use crate::warm;
use isa::Opcode;

/// Kinds of architecture registers that change nothing but the thread's own sums: addresses and flags.
const ADDRESS: u8 = 1;
const FLAGS: u8 = 3;
/// Kernels remembered.
const KERNELS: usize = 16;
/// Messages of a kernel at most.
const MESSAGES: usize = 64;
/// Looks at a kernel of which something is not decoded, before it is looked at seldom.
const LOOKS: u32 = 64;

/// A kernel that was looked at.
#[derive(Clone, Debug)]
pub(crate) struct Looked {
    ip: u32,
    /// Function and descriptor of each message; nothing where more is to be known.
    messages: Option<Vec<(u8, u32)>>,
    times: u32,
}

impl KernelCache {
    /// Function and descriptor of each message of the kernel at `ip`, when threads reach nothing but these; `None` where that is not known.
    /// Its instructions must have been executed once.
    #[inline]
    pub fn messages(&mut self, ip: u32) -> Option<&[(u8, u32)]> {
        let known = self.warm.looked.iter().position(|known| known.ip == ip);
        let at = match known {
            Some(at) if self.warm.looked[at].messages.is_some() => at,
            _ => self.look_for_messages(ip, known),
        };
        self.warm.looked.get(at)?.messages.as_deref()
    }

    #[cold]
    fn look_for_messages(&mut self, ip: u32, known: Option<usize>) -> usize {
        let at = known.unwrap_or_else(|| {
            self.warm.looked.truncate(KERNELS - 1);
            self.warm.looked.push(Looked {
                ip,
                messages: None,
                times: 0,
            });
            self.warm.looked.len() - 1
        });
        let times = self.warm.looked[at].times;
        self.warm.looked[at].times = times.saturating_add(1);
        if times <= LOOKS || times.is_multiple_of(LOOKS) {
            self.warm.looked[at].messages = self.all_messages(ip);
        }
        at
    }

    fn all_messages(&self, ip: u32) -> Option<Vec<(u8, u32)>> {
        let rules = self.instructions().rules;
        let slots = self.slots(self.known(ip)?);
        let first = KernelCache::slot_index(ip, rules.place);
        let end = warm::end_of(slots, first, rules.place);
        let mut messages = Vec::new();
        let mut at = first;
        while at <= end {
            let hot = slots.get(at).map(|slot| &slot.hot);
            let hot = hot.filter(|hot| !hot.empty)?;
            // Where channels have pointers of their own, the second distance is a place, too.
            let waits = if rules.paths { hot.pop } else { 0 };
            let inside = [hot.jump, waits].into_iter().all(|distance| {
                let to = at as i64 + i64::from(distance >> rules.place);
                (first as i64..=end as i64).contains(&to)
            });
            if !inside || messages.len() >= MESSAGES {
                return None;
            }
            messages.extend(message(hot).ok()?);
            at += warm::length(hot, rules.place);
        }
        Some(messages)
    }
}

/// An instruction that may leave its kernel, or send any message.
struct Open;

/// The message of an instruction, if it sends one.
fn message(hot: &Decoded) -> Result<Option<(u8, u32)>, Open> {
    use Opcode::{Brc, Brd, Call, Calla, Case, Fork, Goto, Jmpi, Join, Mrest, Msave, Ret, Wait};
    match hot.op {
        Opcode::Send | Opcode::Sendc => {
            let desc = hot.send.desc.ok_or(Open)?;
            let to = hot.send.target.unwrap_or((desc >> 24 & 0xf) as u8);
            Ok(Some((to, desc)))
        }
        Jmpi | Brc | Brd | Call | Calla | Case | Fork | Goto | Join | Mrest | Msave | Ret
        | Wait => Err(Open),
        // The instruction pointer and the control registers are among the others.
        _ => match hot.dst.kind {
            DstKind::Arf(number, _) if !matches!(number >> 4, ADDRESS | FLAGS) => Err(Open),
            _ => Ok(None),
        },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::Thread;
    use crate::tests::{TestPort, arf, dst, grf, imm, op, run_in, send, thread, vec8};
    use isa::inst::Branch;
    use isa::operand::{Dst, Region, Type};
    use isa::{Inst, Verx10};

    /// A message to a function, which may end the thread.
    fn to(function: u32, eot: bool) -> Inst {
        let desc = function << 24 | 1 << 20 | u32::from(eot) << 31;
        let null = Dst {
            ty: Type::Ud,
            ..Dst::NULL
        };
        let mut inst = send(null, vec8(0, Type::Ud), 1, Some(desc));
        if let Some(send) = &mut inst.send {
            (send.eot, send.sfid) = (eot, function as u8);
        }
        inst
    }

    fn add() -> Inst {
        let five = imm(Type::Ud, 5);
        op(Opcode::Add, 8, dst(3, Type::Ud), &[vec8(2, Type::Ud), five])
    }

    /// The functions that it sends to, as far as they are known before a thread of it has run, and after.
    fn functions(kernel: &[Inst]) -> [Option<Vec<u8>>; 2] {
        let mut cache = KernelCache::new(Verx10::GEN40).unwrap();
        let of = |cache: &mut KernelCache| {
            let messages = cache.messages(0)?;
            Some(messages.iter().map(|message| message.0).collect())
        };
        let before = of(&mut cache);
        let mut t: Thread = thread();
        let mut port = TestPort::new(Vec::new());
        run_in(&mut cache, &mut t, &mut port, kernel, 100);
        [before, of(&mut cache)]
    }

    #[test]
    fn messages_are_known_by_their_descriptors() {
        for function in [1, 2, 4] {
            let kernel = [add(), to(function, false), to(6, true)];
            let sent = vec![function as u8, 6];
            assert_eq!(functions(&kernel), [None, Some(sent)]);
        }
        let mut by_register = to(1, false);
        if let Some(send) = &mut by_register.send {
            send.imm = None;
        }
        assert_eq!(functions(&[by_register, to(6, true)]), [None, None]);
    }

    #[test]
    fn what_may_go_elsewhere_is_not_known() {
        let moves = |nr| {
            let ty = Type::Ud;
            op(
                Opcode::Mov,
                1,
                arf(nr, 0, ty),
                &[grf(2, 0, ty, Region::SCALAR)],
            )
        };
        for (nr, known) in [(0x10, true), (0x30, true), (0x80, false), (0xa0, false)] {
            let [_, after] = functions(&[moves(nr), add(), to(6, true)]);
            assert_eq!(after.is_some(), known, "{nr:#x}");
        }
        // A branch behind the end.
        let mut leaves = op(Opcode::If, 8, Dst::NULL, &[]);
        leaves.branch = Some(Branch {
            jump: 9,
            ..Branch::default()
        });
        assert_eq!(functions(&[leaves, add(), to(6, true)])[1], None);
    }

    #[test]
    fn all_of_it_has_to_be_decoded() {
        let mut cache = KernelCache::new(Verx10::GEN40).unwrap();
        let kernel = [add(), add(), to(6, true)];
        for (n, inst) in [(0, &kernel[0]), (2, &kernel[2])] {
            cache.place(n * 16, inst);
            assert_eq!(cache.messages(0), None);
        }
        cache.place(16, &kernel[1]);
        assert!(cache.messages(0).is_some());
        cache.invalidate();
        assert_eq!(cache.messages(0), None);
    }
}
