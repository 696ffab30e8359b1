//! All registers of a stopped thread, whoever has read them.
//!
//! PRM: volume 4, 11.3. Not shown: guard bits of accumulators, the state register.

use eu::{Grf, Masks, Thread};
use std::fmt::Write as _;

use isa::Inst;
use isa::message::MessageDesc;
use isa::operand::{Addr, RegFile, Type};

use super::value;

/// What a thread's registers hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// r0 to r127.
    pub grf: Vec<Grf>,
    /// m0 to m15.
    pub mrf: Vec<Grf>,
    /// a0.
    pub address: [u16; 8],
    /// acc0 and acc1, floats in single precision.
    pub acc: [Grf; 2],
    /// f0.0 and f0.1.
    pub flag: [u16; 2],
    /// f1.0 and f1.1, where there is a second flag register.
    pub second_flag: Option<[u16; 2]>,
    /// Masks and their stacks.
    pub masks: Masks,
    /// Channels that execute, where the thread has instruction pointers of its channels and no mask registers.
    pub channels: Option<u32>,
    /// cr0.0, cr0.1, cr0.2.
    pub control: [u32; 3],
    /// n0 and n1.
    pub notification: [u32; 2],
    /// Address of the next instruction, relative to General State Base Address.
    pub ip: u32,
}

impl Registers {
    /// Those of a thread of the model.
    pub fn of(thread: &Thread) -> Self {
        let view = thread.view();
        let half = |from: usize| std::array::from_fn(|i| view.acc[(from + i) & 15]);
        Registers {
            grf: thread.grf().to_vec(),
            mrf: thread.mrf().to_vec(),
            address: view.address,
            acc: [half(0), half(8)],
            flag: view.flag,
            second_flag: thread.has_second_flag().then_some(view.second_flag),
            masks: view.masks,
            channels: thread.has_paths().then(|| thread.exec_mask()),
            control: view.control,
            notification: view.notification,
            ip: view.ip,
        }
    }

    /// Lines for what differs from `old`: whole registers by the types that instructions have written.
    pub fn changes(&self, old: &Registers, wrote: &Written) -> String {
        let mut out = String::new();
        let files = [
            ('r', RegFile::Grf, &self.grf, &old.grf),
            ('m', RegFile::Mrf, &self.mrf, &old.mrf),
        ];
        for (letter, file, new, old) in files {
            for (nr, (new, _)) in new.iter().zip(old).enumerate().filter(|(_, (n, o))| n != o) {
                let ty = wrote.ty(file, nr);
                // A String takes every write.
                let _ = writeln!(out, "  {}", row(&format!("{letter}{nr}"), new, ty));
            }
        }
        for (nr, (new, old)) in self.acc.iter().zip(&old.acc).enumerate() {
            if new != old {
                let _ = writeln!(out, "  {}", row(&format!("acc{nr}"), new, wrote.last));
            }
        }
        let mut put = |name: &str, old: String, new: String| {
            // cr0.1 and cr0.2 change with every stop through the system routine.
            if old != new && !matches!(name, "cr0.1" | "cr0.2") {
                let _ = writeln!(out, "  {name} {old} -> {new}");
            }
        };
        for (name, old, new) in old
            .scalars()
            .into_iter()
            .zip(self.scalars())
            .map(|((name, old), (_, new))| (name, old, new))
        {
            put(&name, old, new);
        }
        out
    }

    /// Architecture registers that are no rows of eight dwords, in their order, but for the instruction pointer.
    pub fn scalars(&self) -> Vec<(String, String)> {
        let mut out = Vec::new();
        let word = |v: u16| format!("0x{v:04x}");
        for (n, v) in self.flag.iter().enumerate() {
            out.push((format!("f0.{n}"), word(*v)));
        }
        for (n, v) in self.second_flag.iter().flatten().enumerate() {
            out.push((format!("f1.{n}"), word(*v)));
        }
        let list: Vec<String> = self.address.iter().map(|v| word(*v)).collect();
        out.push(("a0".to_owned(), list.join(" ")));
        let masks = &self.masks;
        let all = [
            ("amask", masks.amask),
            ("imask", masks.imask),
            ("lmask", masks.lmask),
            ("cmask", masks.cmask),
        ];
        if let Some(channels) = self.channels {
            out.push(("emask".to_owned(), format!("0x{channels:08x}")));
        } else {
            for (name, v) in all {
                out.push((name.to_owned(), word(v)));
            }
            out.push(("imsd".to_owned(), masks.imsd.to_string()));
            out.push(("lmsd".to_owned(), masks.lmsd.to_string()));
        }
        for (n, v) in self.control.iter().enumerate() {
            out.push((format!("cr0.{n}"), format!("0x{v:08x}")));
        }
        for (n, v) in self.notification.iter().enumerate() {
            out.push((format!("n{n}"), v.to_string()));
        }
        out
    }
}

/// In which types registers were written last.
pub struct Written {
    /// The latest is the last.
    types: Vec<(RegFile, usize, Type)>,
    /// Type of the last instruction that writes anything.
    last: Type,
}

impl Default for Written {
    fn default() -> Self {
        Written {
            types: Vec::new(),
            last: Type::Ud,
        }
    }
}

impl Written {
    /// Notes an instruction.
    pub fn note(&mut self, inst: &Inst) {
        let dst = &inst.dst;
        // What sampler and extended math answer are floats, whatever the destination says.
        let ty = if inst.send.is_some() { Type::F } else { dst.ty };
        if inst.send.is_none() {
            self.last = ty;
        }
        let Addr::Direct { nr, .. } = dst.addr else {
            return;
        };
        // Bits 7 and 6 of message registers are no number: where SIMD16 halves go.
        let nr = match dst.file {
            RegFile::Mrf => usize::from(nr & 0x3f),
            _ => usize::from(nr),
        };
        let sent = inst.send.and_then(|send| send.imm);
        let rows = sent.map_or(2, |desc| MessageDesc(desc).response_length() as usize);
        for nr in nr..nr + rows {
            self.types.push((dst.file, nr, ty));
        }
    }

    fn ty(&self, file: RegFile, nr: usize) -> Type {
        let mut latest = self.types.iter().rev();
        let found = latest.find(|(f, n, _)| (*f, *n) == (file, nr));
        found.map_or(self.last, |(.., ty)| *ty)
    }
}

/// A register as a line: `r10:f 1.0 2.0 ...`.
pub fn row(name: &str, row: &Grf, ty: Type) -> String {
    let mut text = format!("{name}:{}", value::letters(ty));
    for at in 0..32 / ty.size() {
        text.push(' ');
        text.push_str(&value::shown(ty, element(row, at, ty)));
    }
    text
}

/// An element of a register.
pub fn element(row: &Grf, at: usize, ty: Type) -> u32 {
    let byte = at * ty.size();
    let dword = row.get(byte / 4).copied().unwrap_or(0);
    dword >> (byte % 4 * 8) & value::mask(ty)
}

/// Replaces an element of a register.
pub fn set_element(row: &mut Grf, at: usize, ty: Type, bits: u32) {
    let byte = at * ty.size();
    let (shift, mask) = (byte % 4 * 8, value::mask(ty));
    if let Some(dword) = row.get_mut(byte / 4) {
        *dword = *dword & !(mask << shift) | (bits & mask) << shift;
    }
}
