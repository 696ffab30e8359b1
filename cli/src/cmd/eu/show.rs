//! Registers as text: whole rows by type, and what one instruction changed.
//!
//! PRM: volume 4, 11.3. Memory and the URB are not watched.

use std::fmt::Write;

use crestline_cli::number::typed::{letters, shown};
use eu::{Grf, Thread, View};
use isa::operand::{RegFile, Type};

use super::setting::Bank;

/// Elements of a register, in a type.
pub fn elements(row: &Grf, ty: Type) -> String {
    let size = ty.size();
    let mut text = String::new();
    for i in 0..32 / size {
        let byte = i * size;
        let bits = row[byte / 4] >> (byte % 4 * 8);
        text.push(' ');
        text.push_str(&shown(ty, bits));
    }
    text
}

/// A register as a line: `r10:f 1.0 2.0 ...`.
pub fn line(bank: Bank, nr: usize, row: &Grf, ty: Type) -> String {
    let letter = match bank {
        Bank::General => 'g',
        Bank::Message => 'm',
    };
    format!("{letter}{nr}:{}{}", letters(ty), elements(row, ty))
}

/// The registers of a thread at one moment, and in which type each was written last.
pub struct Watch {
    grf: Vec<Grf>,
    mrf: Vec<Grf>,
    view: View,
    /// Type of the last write, general registers then message registers; `None` when untouched.
    types: Vec<Option<Type>>,
}

impl Watch {
    /// The present registers; nothing counts as written.
    pub fn new(thread: &Thread) -> Self {
        let (grf, mrf) = (thread.grf().to_vec(), thread.mrf().to_vec());
        Watch {
            types: vec![None; grf.len() + mrf.len()],
            grf,
            mrf,
            view: thread.view(),
        }
    }

    /// In which type a register was written last; `None` when it was not.
    pub fn written(&self, bank: Bank, nr: usize) -> Option<Type> {
        let at = match bank {
            Bank::General => nr,
            Bank::Message => self.grf.len() + nr,
        };
        self.types.get(at).copied().flatten()
    }

    /// Takes over what changed since the last time, and tells it line by line if asked to.
    /// `ty` is the destination type of the instruction that ran, `next` where the following
    /// instruction stands.
    pub fn update(
        &mut self,
        thread: &Thread,
        dst: Option<(RegFile, Type)>,
        next: u32,
        mut tell: Option<&mut String>,
    ) {
        let general = self.grf.len();
        let rows = [
            (Bank::General, 0, &mut self.grf, thread.grf()),
            (Bank::Message, general, &mut self.mrf, thread.mrf()),
        ];
        for (bank, base, old, new) in rows {
            if old == new {
                continue;
            }
            for (nr, (old, new)) in old.iter_mut().zip(new).enumerate() {
                if old == new {
                    continue;
                }
                *old = *new;
                let ty = dst.map_or(Type::Ud, |(_, ty)| ty);
                self.types[base + nr] = Some(ty);
                if let Some(text) = &mut tell {
                    // A String takes every write.
                    let _ = writeln!(text, "            {}", line(bank, nr, new, ty));
                }
            }
        }
        let view = thread.view();
        if let Some(text) = tell {
            architecture(text, &self.view, &view, dst, next);
        }
        self.view = view;
    }
}

/// Changed architecture registers.
fn architecture(
    text: &mut String,
    old: &View,
    new: &View,
    dst: Option<(RegFile, Type)>,
    next: u32,
) {
    let mut put = |name: &str, was: String, is: String| {
        let _ = writeln!(text, "            {name} {was} -> {is}");
    };
    for i in 0..2 {
        if old.flag[i] != new.flag[i] {
            let hex = |v: u16| format!("0x{v:04x}");
            put(&format!("f0.{i}"), hex(old.flag[i]), hex(new.flag[i]));
        }
        if old.notification[i] != new.notification[i] {
            let of = |v: &View| v.notification[i].to_string();
            put(&format!("n{i}"), of(old), of(new));
        }
    }
    for (i, (was, is)) in old.address.iter().zip(new.address).enumerate() {
        if *was != is {
            put(&format!("a0.{i}"), was.to_string(), is.to_string());
        }
    }
    for (i, (was, is)) in old.control.iter().zip(new.control).enumerate() {
        if *was != is {
            put(
                &format!("cr0.{i}"),
                format!("0x{was:08x}"),
                format!("0x{is:08x}"),
            );
        }
    }
    if old.masks != new.masks {
        let hex = |v: &View| format!("0x{:04x}", v.masks.emask());
        put("channels", hex(old), hex(new));
    }
    let accumulators = [
        ("", old.acc, new.acc),
        // The other word channels.
        (".8", old.acc_words, new.acc_words),
    ];
    for (part, old, new) in accumulators {
        let ty = match dst {
            Some((_, ty)) if ty.is_float() => Type::F,
            Some((_, ty)) if ty.is_signed_int() => Type::D,
            _ => Type::Ud,
        };
        for (i, (was, is)) in old.chunks(8).zip(new.chunks(8)).enumerate() {
            if let Ok(row) = <&Grf>::try_from(is)
                && was != is
            {
                let _ = writeln!(
                    text,
                    "            acc{i}{part}:{}{}",
                    letters(ty),
                    elements(row, ty)
                );
            }
        }
    }
    if new.ip != next {
        let _ = writeln!(text, "            ip 0x{:04x}", new.ip);
    }
}
