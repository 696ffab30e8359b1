//! Instructions and memory as text.
//!
//! PRM: volume 4, 13.4. Not shown: labels.

use std::fmt::Write as _;

use isa::operand::Type;
use mem::GpuAddr;

use super::command::Words;
use super::session::Debugger;
use super::{Answer, Refusal, value};

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
            .with_memory(|memory| memory.read_bytes(GpuAddr(address), &mut bytes));
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
            .with_memory(|memory| memory.write_bytes(GpuAddr(address), bytes));
        written.map_err(Refusal::of)?;
        self.target
            .reach()
            .with_device(mmio_mock::Device::invalidate_kernels);
        Ok(())
    }

    /// The words of an instruction.
    pub(super) fn words(&self, address: u32) -> Answer<[u32; 4]> {
        let bytes = self.bytes(address, 16)?;
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        Ok(words)
    }

    /// An instruction as a line.
    fn line(&self, address: u32, current: bool) -> Answer {
        let words = self.words(address)?;
        let text = if let Ok(inst) = isa::decode(self.isa, words) {
            let text = isa::print(self.isa, &inst);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        } else {
            let [a, b, c, d] = words;
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
        let base = info.context.bases.general_state_base;
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
                let before = (at.wrapping_sub(kernel) / 16).min(BEFORE);
                (at.wrapping_sub(before * 16), AROUND)
            }
            [address] => (value::number(address)?, AROUND),
            [address, count] => (value::number(address)?, value::number(count)?),
            [_, _, more, ..] => return Err(format!("`{more}` is too much").into()),
        };
        if !first.is_multiple_of(16) {
            return Err(format!(
                "{first:#x} is no address of an instruction: those are multiples of 16"
            )
            .into());
        }
        let mut text = String::new();
        for n in 0..count.min(MOST) {
            let at = first.wrapping_add(n * 16);
            match self.line(at, current.is_some_and(|(here, _)| here == at)) {
                Ok(line) => text.push_str(&line),
                Err(refusal) if n == 0 => return Err(refusal),
                Err(_) => break,
            }
        }
        Ok(text)
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
