//! Names of registers: `r5.3:f`, `m2`, `f0.1`, `a0.2`, `acc0:f`, `ip`, `imask`.
//!
//! PRM: volume 4, 11.3, 13.4 (names). Not accepted: indirect registers, the state register.

use std::str::FromStr;

use eu::Grf;
use isa::operand::Type;

use super::registers::{Registers, element, set_element};
use super::{Refusal, value};

/// Which register file or register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bank {
    /// r0 to r127.
    General,
    /// m0 to m15.
    Message,
    /// acc0 and acc1.
    Accumulator,
    /// f0 and, from generation 7 on, f1: two words each.
    Flag,
    /// a0: eight words.
    Address,
    /// The masks amask, imask, lmask, cmask.
    Mask,
    /// emask: the channels that execute.
    Channels,
    /// cr0.
    Control,
    /// n0 and n1.
    Notification,
    /// The instruction pointer.
    Ip,
}

/// A register, or an element of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which file.
    pub bank: Bank,
    /// Register.
    pub nr: usize,
    /// Element in units of the type; `None` when the whole register is meant.
    pub sub: Option<usize>,
    /// Type, if one is named.
    pub ty: Option<Type>,
}

const MASKS: [&str; 4] = ["amask", "imask", "lmask", "cmask"];

impl Bank {
    /// Registers in the file.
    const fn len(self) -> usize {
        match self {
            Bank::General => 128,
            Bank::Message => 16,
            Bank::Accumulator | Bank::Notification | Bank::Flag => 2,
            Bank::Mask => MASKS.len(),
            _ => 1,
        }
    }

    /// Elements of a register of no rows.
    const fn elements(self) -> usize {
        match self {
            Bank::Flag => 2,
            Bank::Address => 8,
            Bank::Control => 3,
            _ => 1,
        }
    }

    /// Whether registers are eight dwords, and take a type.
    pub const fn has_rows(self) -> bool {
        matches!(self, Bank::General | Bank::Message | Bank::Accumulator)
    }

    const fn width(self) -> Type {
        match self {
            Bank::Flag | Bank::Address | Bank::Mask => Type::Uw,
            _ => Type::Ud,
        }
    }
}

fn digits(text: &str) -> Option<usize> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

impl FromStr for Place {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let none = || {
            Refusal(format!(
                "`{text}` is no register: there are r0 to r127, m0 to m15, acc0, acc1, f0.0 to f1.1, a0.0 to a0.7, ip, \
                 amask, imask, lmask, cmask, emask, cr0.0 to cr0.2, n0, n1"
            ))
        };
        let (name, ty) = match text.split_once(':') {
            Some((name, ty)) => (name, Some(value::element_type(ty)?)),
            None => (text, None),
        };
        let (name, sub) = match name.split_once('.') {
            Some((name, sub)) => (name, Some(digits(sub).ok_or_else(none)?)),
            None => (name, None),
        };
        let lower = name.to_ascii_lowercase();
        let numbered = [
            ("acc", Bank::Accumulator),
            ("cr", Bank::Control),
            ("r", Bank::General),
            ("g", Bank::General),
            ("m", Bank::Message),
            ("f", Bank::Flag),
            ("a", Bank::Address),
            ("n", Bank::Notification),
        ];
        let (bank, nr) = if lower == "ip" {
            (Bank::Ip, 0)
        } else if lower == "emask" {
            (Bank::Channels, 0)
        } else if let Some(nr) = MASKS.iter().position(|mask| *mask == lower) {
            (Bank::Mask, nr)
        } else {
            let found = numbered
                .iter()
                .find_map(|(letters, bank)| Some((*bank, digits(lower.strip_prefix(letters)?)?)));
            found.ok_or_else(none)?
        };
        let place = Place { bank, nr, sub, ty };
        let elements = if bank.has_rows() {
            32 / place.ty().size()
        } else {
            bank.elements()
        };
        if nr >= bank.len() || sub.is_some_and(|sub| sub >= elements) {
            return Err(none());
        }
        if ty.is_some() && !bank.has_rows() {
            return Err(Refusal(format!("`{text}`: {name} has no type of its own")));
        }
        Ok(place)
    }
}

impl Place {
    /// The type that values have.
    pub fn ty(&self) -> Type {
        if self.bank.has_rows() {
            self.ty.unwrap_or(Type::Ud)
        } else {
            self.bank.width()
        }
    }

    /// Name without a type.
    pub fn name(&self) -> String {
        let register = match self.bank {
            Bank::General => format!("r{}", self.nr),
            Bank::Message => format!("m{}", self.nr),
            Bank::Accumulator => format!("acc{}", self.nr),
            Bank::Flag => format!("f{}", self.nr),
            Bank::Address => "a0".to_owned(),
            Bank::Mask => MASKS[self.nr % MASKS.len()].to_owned(),
            Bank::Control => "cr0".to_owned(),
            Bank::Notification => format!("n{}", self.nr),
            Bank::Ip => "ip".to_owned(),
            Bank::Channels => "emask".to_owned(),
        };
        match self.sub {
            Some(sub) => format!("{register}.{sub}"),
            None => register,
        }
    }

    /// The row of eight dwords.
    pub fn row<'a>(&self, registers: &'a Registers) -> Option<&'a Grf> {
        match self.bank {
            Bank::General => registers.grf.get(self.nr),
            Bank::Message => registers.mrf.get(self.nr),
            Bank::Accumulator => registers.acc.get(self.nr),
            _ => None,
        }
    }

    /// Values from the element on; all of the register when none is named.
    pub fn read(&self, registers: &Registers) -> Vec<u32> {
        let words = |words: &[u16]| words.iter().map(|w| u32::from(*w)).collect::<Vec<_>>();
        let masks = &registers.masks;
        let all: Vec<u32> = match self.bank {
            Bank::General | Bank::Message | Bank::Accumulator => {
                let row = self.row(registers).copied().unwrap_or_default();
                let ty = self.ty();
                (0..32 / ty.size())
                    .map(|at| element(&row, at, ty))
                    .collect()
            }
            Bank::Flag if self.nr == 0 => words(&registers.flag),
            Bank::Flag => words(&registers.second_flag.unwrap_or_default()),
            Bank::Address => words(&registers.address),
            Bank::Mask => {
                let all = [masks.amask, masks.imask, masks.lmask, masks.cmask];
                words(&all[self.nr % 4..=self.nr % 4])
            }
            Bank::Control => registers.control.to_vec(),
            Bank::Notification => vec![registers.notification[self.nr & 1]],
            Bank::Ip => vec![registers.ip],
            Bank::Channels => {
                let by_masks = || u32::from(masks.emask());
                vec![registers.channels.unwrap_or_else(by_masks)]
            }
        };
        match self.sub {
            Some(sub) => all.get(sub).copied().into_iter().collect(),
            None => all,
        }
    }

    /// Writes values from the element on.
    pub fn write(&self, registers: &mut Registers, values: &[u32]) -> Result<(), Refusal> {
        let at = self.sub.unwrap_or(0);
        let ty = self.ty();
        let room = if self.bank.has_rows() {
            32 / ty.size()
        } else {
            self.bank.elements()
        };
        if at + values.len() > room {
            return Err(Refusal(format!(
                "{} values are too many for {}",
                values.len(),
                self.name()
            )));
        }
        let words = |to: &mut [u16]| {
            for (to, from) in to.iter_mut().skip(at).zip(values) {
                *to = *from as u16;
            }
        };
        let masks = &mut registers.masks;
        match self.bank {
            Bank::General | Bank::Message => {
                let rows = match self.bank {
                    Bank::General => &mut registers.grf,
                    _ => &mut registers.mrf,
                };
                if let Some(row) = rows.get_mut(self.nr) {
                    for (n, bits) in values.iter().enumerate() {
                        set_element(row, at + n, ty, *bits);
                    }
                }
            }
            Bank::Flag if self.nr == 0 => words(&mut registers.flag),
            Bank::Flag => {
                let Some(flag) = &mut registers.second_flag else {
                    let text = "this thread has one flag register, f0";
                    return Err(Refusal(text.to_owned()));
                };
                words(flag);
            }
            Bank::Address => words(&mut registers.address),
            Bank::Mask => {
                let mask = match self.nr {
                    0 => &mut masks.amask,
                    1 => &mut masks.imask,
                    2 => &mut masks.lmask,
                    _ => &mut masks.cmask,
                };
                *mask = values.first().map_or(*mask, |bits| *bits as u16);
            }
            Bank::Ip => {
                let ip = values.first().copied().unwrap_or(registers.ip);
                if !ip.is_multiple_of(16) {
                    return Err(Refusal(format!(
                        "{ip:#x} is no address of an instruction: those are multiples of 16"
                    )));
                }
                registers.ip = ip;
            }
            Bank::Accumulator | Bank::Control | Bank::Notification | Bank::Channels => {
                return Err(Refusal(format!("{} can only be read", self.name())));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn registers() -> Registers {
        Registers::of(&eu::Thread::new())
    }

    #[test]
    fn names() {
        for (text, back) in [
            ("r5.3:f", "r5.3"),
            ("g127", "r127"),
            ("M2.15:uw", "m2.15"),
            ("acc1:f", "acc1"),
            ("f0.1", "f0.1"),
            ("f1.0", "f1.0"),
            ("a0", "a0"),
            ("IP", "ip"),
            ("lmask", "lmask"),
            ("EMASK", "emask"),
            ("cr0.2", "cr0.2"),
            ("n1", "n1"),
        ] {
            assert_eq!(text.parse::<Place>().unwrap().name(), back);
        }
        for text in [
            "r128", "m16", "r5.8:f", "r5.3:q", "x1", "r", "f2", "a0.8", "acc2", "ip.1", "n2",
            "r+1", "",
        ] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
        assert!("f0:f".parse::<Place>().unwrap_err().0.contains("no type"));
    }

    #[test]
    fn what_is_written_is_read() {
        let mut all = registers();
        let mut set =
            |name: &str, values: &[u32]| name.parse::<Place>().unwrap().write(&mut all, values);
        set("r5.3:w", &[0xffff]).unwrap();
        set("m2.6", &[7, 8]).unwrap();
        set("f0", &[1, 2]).unwrap();
        let refusal = set("f1", &[3]).unwrap_err().0;
        assert!(refusal.contains("one flag register"), "{refusal}");
        set("a0.7", &[9]).unwrap();
        set("lmask", &[3]).unwrap();
        set("ip", &[0x40]).unwrap();
        assert!(
            set("ip", &[0x41])
                .unwrap_err()
                .0
                .contains("multiples of 16")
        );
        assert!(set("m2.7", &[7, 8]).is_err());
        assert!(set("n0", &[7]).unwrap_err().0.contains("only be read"));
        let get = |name: &str| name.parse::<Place>().unwrap().read(&all);
        assert_eq!(all.grf[5], [0, 0xffff_0000, 0, 0, 0, 0, 0, 0]);
        assert_eq!(
            (get("m2.7"), get("f0"), get("f0.1")),
            (vec![8], vec![1, 2], vec![2])
        );
        assert_eq!(
            (get("a0.7"), get("lmask"), get("ip")),
            (vec![9], vec![3], vec![0x40])
        );
        assert_eq!(get("r5:ub").len(), 32);
    }
}
