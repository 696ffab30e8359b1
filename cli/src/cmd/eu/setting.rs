//! Registers, values and memory as the command line writes them.
//!
//! PRM: volume 4, 10.2 (types), 11.3 (register files). Not accepted: immediate vectors, architecture registers.

use std::path::PathBuf;
use std::str::FromStr;

use crestline_cli::number::dword;
use crestline_cli::number::typed::{bits, element_type, mask};
use eu::Grf;
use isa::operand::Type;

/// General and message registers, which have values of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bank {
    /// r0 to r127.
    General,
    /// m0 to m15.
    Message,
}

impl Bank {
    /// Number of registers.
    pub const fn len(self) -> usize {
        match self {
            Bank::General => 128,
            Bank::Message => 16,
        }
    }
}

/// A register and a subregister: `r2`, `g2.4`, `m3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which file.
    pub bank: Bank,
    /// Register.
    pub nr: usize,
    /// Subregister, in elements of the type that goes with it.
    pub sub: usize,
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is no register: expected r0 to r127 or m0 to m15");
        let bank = match text.get(..1) {
            Some("r" | "g" | "R" | "G") => Bank::General,
            Some("m" | "M") => Bank::Message,
            _ => return Err(bad()),
        };
        let (nr, sub) = text[1..].split_once('.').unwrap_or((&text[1..], "0"));
        let place = Place {
            bank,
            nr: decimal(nr).ok_or_else(bad)?,
            sub: decimal(sub).ok_or_else(bad)?,
        };
        if place.nr >= bank.len() {
            return Err(bad());
        }
        Ok(place)
    }
}

fn decimal(text: &str) -> Option<usize> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

/// `r2=f:1.0,2.0` or `m1.4=ud:0xff*4`: where, which type, the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// First element.
    pub place: Place,
    /// Type.
    pub ty: Type,
    /// Bits of each element.
    pub values: Vec<u32>,
}

impl FromStr for Load {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = "expected REGISTER=TYPE:VALUE,..., as in r2=f:1.0,2.0";
        let (place, rest) = text.split_once('=').ok_or(shape)?;
        let (ty, list) = rest.split_once(':').ok_or(shape)?;
        let place: Place = place.parse()?;
        let ty = element_type(ty)?;
        let room = (place.bank.len() - place.nr) * 32 / ty.size();
        let mut values = Vec::new();
        for item in list.split(',') {
            let (value, times) = match item.split_once('*') {
                Some((value, times)) => {
                    let times = decimal(times).ok_or_else(|| {
                        format!("`{times}` is not a number of repetitions, such as the 8 of 1.0*8")
                    })?;
                    (value, times)
                }
                None => (item, 1),
            };
            let bits = bits(ty, value.trim())?;
            if place.sub + values.len() + times.min(room + 1) > room {
                return Err(format!("the values of `{text}` leave the register file"));
            }
            values.resize(values.len() + times, bits);
        }
        Ok(Load { place, ty, values })
    }
}

impl Load {
    /// Puts the values into the registers of their bank.
    pub fn store(&self, registers: &mut [Grf]) {
        let size = self.ty.size();
        let mask = mask(self.ty);
        for (i, bits) in self.values.iter().enumerate() {
            let byte = self.place.nr * 32 + (self.place.sub + i) * size;
            if let Some(dword) = registers
                .get_mut(byte / 32)
                .and_then(|r| r.get_mut(byte % 32 / 4))
            {
                let shift = byte % 4 * 8;
                *dword = *dword & !(mask << shift) | (bits & mask) << shift;
            }
        }
    }
}

/// `FILE@ADDR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemFile {
    /// File.
    pub path: PathBuf,
    /// Graphics address of its first byte.
    pub addr: u32,
}

impl FromStr for MemFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (path, addr) = text
            .rsplit_once('@')
            .filter(|(path, _)| !path.is_empty())
            .ok_or("expected FILE@ADDR, as in data.bin@0x1000")?;
        Ok(MemFile {
            path: path.into(),
            addr: dword(addr)?,
        })
    }
}

/// `ADDR+LENGTH`, and where its bytes go: `ADDR+LENGTH=FILE`, or the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemRange {
    /// First address.
    pub addr: u32,
    /// Bytes.
    pub bytes: u32,
    /// File to write.
    pub file: Option<PathBuf>,
}

impl FromStr for MemRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (range, file) = match text.split_once('=') {
            Some((range, file)) => (range, Some(file.into())),
            None => (text, None),
        };
        let (addr, bytes) = range
            .split_once('+')
            .ok_or("expected ADDR+LENGTH or ADDR+LENGTH=FILE, as in 0x1000+64")?;
        Ok(MemRange {
            addr: dword(addr)?,
            bytes: dword(bytes)?,
            file,
        })
    }
}

/// A range of memory without a file, which has no contents to write yet.
pub fn zeros(text: &str) -> Result<MemRange, String> {
    let range: MemRange = text.parse()?;
    match range.file {
        None => Ok(range),
        Some(_) => Err(format!(
            "--map takes no file: `--dump-mem {text}` writes memory to one after the run, `--mem FILE@ADDR` puts one into memory"
        )),
    }
}

/// `r10`, `r10..r13`, `m2`, with the type to show them in: `r10..r13:f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dump {
    /// Which file.
    pub bank: Bank,
    /// First register.
    pub first: usize,
    /// Last register.
    pub last: usize,
    /// Type; otherwise the type of the last write.
    pub ty: Option<Type>,
}

impl FromStr for Dump {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains(',') {
            return Err(format!(
                "`{text}` is a list: a range of registers is r3..r5, for several there are several --dump"
            ));
        }
        let (range, ty) = match text.split_once(':') {
            Some((range, ty)) => (range, Some(element_type(ty)?)),
            None => (text, None),
        };
        let (first, last) = range.split_once("..").unwrap_or((range, range));
        let (first, last): (Place, Place) = (first.parse()?, last.parse()?);
        if first.bank != last.bank || first.nr > last.nr || first.sub + last.sub != 0 {
            return Err(format!(
                "`{text}` is not a range of registers such as r10..r13 or r10..r13:f"
            ));
        }
        Ok(Dump {
            bank: first.bank,
            first: first.nr,
            last: last.nr,
            ty,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn loads() {
        let load: Load = "r2=f:1.0,-0.5,inf,0x7fc00001".parse().unwrap();
        assert_eq!(
            load.values,
            [0x3f80_0000, 0xbf00_0000, 0x7f80_0000, 0x7fc0_0001]
        );
        let load: Load = "m1.4=w:-1,0xfffe,3*2".parse().unwrap();
        assert_eq!(load.values, [0xffff_ffff, 0xfffe, 3, 3]);
        let mut registers = [[0u32; 8]; 16];
        load.store(&mut registers);
        assert_eq!(registers[1], [0, 0, 0xfffe_ffff, 0x0003_0003, 0, 0, 0, 0]);
    }

    #[test]
    fn bad_loads_say_what_is_wrong() {
        for (text, what) in [
            ("r128=f:1", "r0 to r127"),
            ("m16=f:1", "m0 to m15"),
            ("x2=f:1", "no register"),
            ("r2=q:1", "unknown type"),
            ("r2=ub:256", "does not fit the 8 bits"),
            ("r2=b:-129", "does not fit the 8 bits"),
            ("r2=w:0x1ffff", "does not fit the 16 bits"),
            ("r2=ud:-1", "does not fit the 32 bits"),
            ("r2=ud:0x+1", "no integer"),
            ("r2=f:x", "not a float"),
            ("r2=f:", "not a float"),
            ("r127=ud:1*9", "leave the register file"),
            ("r0=ud:1*99999999999", "leave the register file"),
            ("r2", "expected REGISTER"),
        ] {
            let error = text.parse::<Load>().unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }

    #[test]
    fn ranges() {
        let dump: Dump = "r10..r13:f".parse().unwrap();
        assert_eq!((dump.first, dump.last, dump.ty), (10, 13, Some(Type::F)));
        assert!("r13..r10".parse::<Dump>().is_err());
        assert!("r1..m2".parse::<Dump>().is_err());
        let range: MemRange = "0x1000+64=out.bin".parse().unwrap();
        assert_eq!((range.addr, range.bytes), (0x1000, 64));
        assert!("0x1000".parse::<MemRange>().is_err());
        assert_eq!("a@b@16".parse::<MemFile>().unwrap().addr, 16);
    }
}
