//! Instructions and memory as text.
//!
//! PRM: volume 4, 13.4. Not shown: labels.

use std::collections::VecDeque;
use std::fmt::Write as _;

use isa::compact::{StreamItem, instruction_at};
use isa::operand::Type;
use mem::GpuAddr;

use super::command::Words;
use super::session::Debugger;
use super::{Answer, Refusal, value};

/// Instructions of a kernel that are looked at.
const MAX_INSTRUCTIONS: u32 = 1 << 12;
/// Instructions shown before the one that the thread stands at, and in all.
const BEFORE: u32 = 4;
const AROUND: u32 = 12;
/// Most instructions or elements shown at once.
const MOST: u32 = 1 << 16;

impl Debugger {
    /// Bytes at a graphics address.
    pub(super) fn bytes(&self, address: u32, count: usize) -> Answer<Vec<u8>> {
        let mut bytes = vec![0; count];
        let read = self
            .target
            .reach()
            .with_memory(|memory| memory.read_bytes(GpuAddr::from(address), &mut bytes));
        match read {
            Ok(()) => Ok(bytes),
            Err(fault) => Err(Refusal(format!(
                "nothing is mapped at {:#010x}",
                fault.addr.0
            ))),
        }
    }

    /// Changes bytes; the device forgets what it has decoded.
    pub(super) fn write_bytes(&self, address: u32, bytes: &[u8]) -> Answer<()> {
        // All of it or nothing.
        self.bytes(address, bytes.len())?;
        let written = self
            .target
            .reach()
            .with_memory(|memory| memory.write_bytes(GpuAddr::from(address), bytes));
        written.map_err(Refusal::of)?;
        self.target
            .reach()
            .with_device(mmio_mock::Device::invalidate_kernels);
        Ok(())
    }

    /// The instruction at an address.
    pub(super) fn instruction(&self, address: u32) -> Answer<StreamItem> {
        let dword = |at: u32| {
            let bytes = self.bytes(at, 4).ok()?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?))
        };
        match instruction_at(self.isa, address, dword) {
            Some(item) => Ok(item),
            // The refusal names the place that cannot be read.
            None => Err(self
                .bytes(address, 16)
                .err()
                .unwrap_or_else(|| Refusal(format!("there is no instruction at {address:#010x}")))),
        }
    }

    /// The address behind an instruction; that of one which cannot be read is taken for sixteen bytes.
    pub(super) fn behind(&self, address: u32) -> u32 {
        // CAST: eight or sixteen bytes.
        let size = self
            .instruction(address)
            .map_or(16, |item| item.size as u32);
        address.wrapping_add(size)
    }

    /// Refuses what is no address of an instruction.
    pub(super) fn check_alignment(&self, address: u32) -> Answer<()> {
        let multiple = isa::compact::alignment(self.isa);
        if address.is_multiple_of(multiple) {
            return Ok(());
        }
        Err(format!(
            "{address:#x} is no address of an instruction: those are multiples of {multiple}"
        )
        .into())
    }

    /// An instruction as a line.
    fn line(&self, address: u32, current: bool) -> Answer {
        let item = self.instruction(address)?;
        let text = if let Ok(inst) = &item.inst {
            let text = if item.compacted() {
                isa::print::print_compacted(self.isa, inst)
            } else {
                isa::print(self.isa, inst)
            };
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        } else {
            let [a, b, c, d] = item.raw;
            format!(".dword 0x{a:08x} 0x{b:08x} 0x{c:08x} 0x{d:08x}")
        };
        let mark = if current { "=>" } else { "  " };
        Ok(format!("{mark} 0x{address:08x}  {text}\n"))
    }

    /// Where the chosen thread stands, and where its kernel begins: graphics addresses.
    pub(super) fn place(&self) -> Answer<(u32, u32)> {
        let (key, slot) = self.chosen()?;
        let info = self.info(key).ok_or("the thread has ended")?;
        let ip = self.backend.read(slot)?.ip;
        let base = info.context.bases.kernels();
        Ok((base.wrapping_add(ip), base.wrapping_add(info.kernel)))
    }

    /// The instruction that the thread stands at.
    pub(super) fn current_line(&self) -> Answer {
        let (at, _) = self.place()?;
        self.line(at, true)
    }

    pub(super) fn do_disasm(&mut self, words: &Words) -> Answer {
        let current = self.place().ok();
        let (first, count) = match words.list().as_slice() {
            [] => {
                let (at, kernel) = self.place()?;
                (self.before(kernel, at), AROUND)
            }
            ["all"] => {
                let (_, kernel) = self.place()?;
                (kernel, self.length(kernel))
            }
            [text] => {
                let address = value::number(text)?;
                self.check_alignment(address).map_err(|refusal| {
                    Refusal(format!(
                        "`{text}`: {refusal}; a count needs an address: `disasm ADDR N`; `disasm all` shows the kernel"
                    ))
                })?;
                (address, AROUND)
            }
            [address, count] => (value::number(address)?, value::number(count)?),
            [_, _, more, ..] => return Err(format!("`{more}` is too much").into()),
        };
        self.check_alignment(first)?;
        let mut text = String::new();
        let mut at = first;
        for n in 0..count.min(MOST) {
            match self.line(at, current.is_some_and(|(here, _)| here == at)) {
                Ok(line) => text.push_str(&line),
                Err(refusal) if n == 0 => return Err(refusal),
                Err(_) => break,
            }
            at = self.behind(at);
        }
        Ok(text)
    }

    /// Instructions of a kernel up to the first that ends a thread.
    fn length(&self, kernel: u32) -> u32 {
        let mut at = kernel;
        for count in 1..=MAX_INSTRUCTIONS {
            match self.instruction(at) {
                Ok(item) if !item.ends_thread() => at = self.behind(at),
                _ => return count,
            }
        }
        MAX_INSTRUCTIONS
    }

    /// The address of the instruction some instructions before the one at `at`, but not before the kernel's first.
    fn before(&self, kernel: u32, at: u32) -> u32 {
        let mut last = VecDeque::from([kernel]);
        let mut next = kernel;
        // Where instructions have two sizes, only a walk from the begin finds them.
        for _ in 0..MAX_INSTRUCTIONS {
            if next == at {
                return last.front().copied().unwrap_or(at);
            }
            next = self.behind(next);
            last.push_back(next);
            if last.len() > BEFORE as usize + 1 {
                last.pop_front();
            }
        }
        at
    }

    pub(super) fn do_mem(&mut self, words: &Words) -> Answer {
        let list = words.list();
        let (address, rest) = list
            .split_first()
            .ok_or("where? `mem ADDR [COUNT] [b|w|d|f]`")?;
        let address = value::number(address)?;
        let letter = |text: &str| match text {
            "b" => Some(Type::Ub),
            "w" => Some(Type::Uw),
            "d" => Some(Type::Ud),
            "f" => Some(Type::F),
            _ => None,
        };
        let (count, ty) = match rest {
            [] => (16, Type::Ud),
            [one] => match letter(one) {
                Some(ty) => (16, ty),
                None => (value::number(one)?, Type::Ud),
            },
            [count, ty] => {
                let found = letter(ty);
                let ty = found.ok_or_else(|| {
                    Refusal(format!("`{ty}` is not a size; the sizes are b w d f"))
                })?;
                (value::number(count)?, ty)
            }
            [_, _, more, ..] => return Err(format!("`{more}` is too much").into()),
        };
        let values = self.elements(address, count.min(MOST) as usize, ty)?;
        let per_line = 32 / ty.size().max(2);
        let mut text = String::new();
        for (n, row) in values.chunks(per_line).enumerate() {
            let at = address.wrapping_add((n * per_line * ty.size()) as u32);
            let _ = write!(text, "0x{at:08x}:");
            for bits in row {
                let _ = write!(text, " {}", value::shown(ty, *bits));
            }
            text.push('\n');
        }
        Ok(text)
    }

    /// Elements of memory.
    pub(super) fn elements(&self, address: u32, count: usize, ty: Type) -> Answer<Vec<u32>> {
        let size = ty.size();
        let bytes = self.bytes(address, count * size)?;
        let value = |bytes: &[u8]| {
            let mut word = [0; 4];
            for (to, from) in word.iter_mut().zip(bytes) {
                *to = *from;
            }
            u32::from_le_bytes(word)
        };
        Ok(bytes.chunks_exact(size).map(value).collect())
    }
}
