//! Operands: registers, regions, swizzles.
//!
//! PRM: volume 4, 11.3 and 13.4; grammar as in Mesa 22.3.6 `i965_gram.y`. What a register file allows is
//! the encoder's to say.

use alloc::format;

use super::Parser;
use super::error::Fail;
use super::names::{known, numbered, type_of};
use crate::operand::{Addr, Dst, RegFile, Region, Src, Type};

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) file: RegFile,
    pub(super) nr: u8,
    /// Subregister in elements of the type.
    pub(super) sub: u8,
    pub(super) region: Option<Region>,
    pub(super) ty: Option<Type>,
}

/// A register before its region and type are known.
#[derive(Clone, Copy, Debug)]
struct Place {
    file: RegFile,
    addr: Addr,
    /// Subregister in elements, not yet in `addr`.
    sub: u64,
    sub_at: usize,
    region: Option<Region>,
    ty: Option<Type>,
    /// Region and type may be left out.
    bare: Option<Type>,
}

impl Place {
    fn direct(file: RegFile, nr: u8) -> Place {
        Place {
            file,
            addr: Addr::Direct { nr, subnr: 0 },
            sub: 0,
            sub_at: 0,
            region: None,
            ty: None,
            bare: None,
        }
    }

    /// The address, once the type says how large the subregisters are.
    fn addr(&self, ty: Type) -> Result<Addr, Fail> {
        match self.addr {
            Addr::Direct { nr, subnr } => {
                let bytes = self.sub.saturating_mul(ty.size() as u64);
                let bytes = bytes.saturating_add(u64::from(subnr));
                let subnr = u8::try_from(bytes).ok().filter(|&b| b < 32);
                let subnr = subnr.ok_or_else(|| {
                    let last = 32 / ty.size() - 1;
                    Fail::text(
                        self.sub_at,
                        format!("subregister {} of type {ty:?} is outside the register, the last is {last}", self.sub),
                    )
                })?;
                Ok(Addr::Direct { nr, subnr })
            }
            indirect @ Addr::Indirect { .. } => Ok(indirect),
        }
    }
}

const fn channel(byte: u8) -> Option<u8> {
    match byte {
        b'x' => Some(0),
        b'y' => Some(1),
        b'z' => Some(2),
        b'w' => Some(3),
        _ => None,
    }
}

impl Parser<'_> {
    /// Whether a type follows, as against a name or nothing.
    pub(super) fn at_type(&self) -> bool {
        let byte = self.cursor.peek();
        byte == b':'
            || byte.is_ascii_uppercase() && type_of(self.cursor.peek_word().as_bytes()).is_some()
    }

    /// Type letters, a colon before them or not.
    pub(super) fn ty(&mut self) -> Result<Type, Fail> {
        self.cursor.space();
        if self.cursor.peek() == b':' {
            self.cursor.at += 1;
        }
        let start = self.cursor.at;
        let word = self.cursor.word();
        type_of(word.as_bytes()).ok_or_else(|| {
            Fail::expected(
                start,
                "a type letter (F, D, UD, W, UW, B, UB, DF, HF, Q, UQ; immediates also V, UV, VF)",
            )
        })
    }

    fn register_ty(&mut self, place: &Place) -> Result<Type, Fail> {
        self.cursor.space();
        if let Some(ty) = place.ty.or(place.bare)
            && !self.at_type()
        {
            return Ok(ty);
        }
        let start = self.cursor.at;
        let ty = self.ty()?;
        if matches!(ty, Type::V | Type::Uv | Type::Vf) {
            return Err(Fail::text(start, "V, UV and VF are types of immediates"));
        }
        Ok(ty)
    }

    /// A minus or tilde.
    pub(super) fn sign(&mut self) -> bool {
        let minus = matches!(self.cursor.peek(), b'-' | b'~');
        if minus {
            self.cursor.at += 1;
            self.cursor.space();
        }
        minus
    }

    /// Whether a register begins here, as against a number or another word.
    pub(super) fn at_register(&self) -> bool {
        if !self.cursor.at_name() {
            return false;
        }
        let mut ahead = self.cursor.clone();
        let word = ahead.word();
        numbered(word)
            || known(word).is_some()
            || self.registers.contains_key(word)
            || matches!(word, "g" | "r" | "m") && ahead.peek() == b'['
    }

    fn place(&mut self) -> Result<Place, Fail> {
        self.cursor.space();
        let start = self.cursor.at;
        let letter = self.cursor.peek();
        // The common case first.
        if matches!(letter, b'g' | b'r' | b'm') && self.cursor.peek_at(1).is_ascii_digit() {
            let mut ahead = self.cursor.clone();
            ahead.at += 1;
            let nr = ahead.decimal()?;
            if !matches!(ahead.peek(), b'a'..=b'z' | b'_') {
                self.cursor.at = ahead.at;
                let file = if letter == b'm' {
                    RegFile::Mrf
                } else {
                    RegFile::Grf
                };
                let nr = self.number_in(start, file, nr)?;
                return self.subregister(Place::direct(file, nr));
            }
        }
        if matches!(letter, b'g' | b'r' | b'm') {
            let mut ahead = self.cursor.clone();
            ahead.at += 1;
            if ahead.eat(b'[') {
                self.cursor.at = ahead.at;
                return self.indirect(if letter == b'm' {
                    RegFile::Mrf
                } else {
                    RegFile::Grf
                });
            }
        }
        let word = self.cursor.word();
        if let Some((nr, length, bare)) = known(word) {
            self.cursor.at = start + length;
            let mut place = Place::direct(RegFile::Arf, nr);
            place.bare = bare;
            return self.subregister(place);
        }
        if let Some(&named) = self.registers.get(word) {
            return self.declared(start, named);
        }
        if word.is_empty() {
            return Err(Fail::expected(start, "a register"));
        }
        Err(Fail::expected(
            start,
            "a register (g0.., m0.., null, a0, acc0, f0, ip, ..) or a declared name",
        ))
    }

    /// A declared register, with `+n` for the n-th after it.
    fn declared(&mut self, start: usize, named: Named) -> Result<Place, Fail> {
        let mut nr = u64::from(named.nr);
        if self.cursor.peek() == b'+' {
            self.cursor.at += 1;
            nr += self.unsigned("a number of registers", 255)?;
        }
        let nr = if named.file == RegFile::Arf {
            u8::try_from(nr).map_err(|_| Fail::text(start, "no such register"))?
        } else {
            self.number_in(start, named.file, nr)?
        };
        let mut place = Place::direct(named.file, nr);
        place.sub = u64::from(named.sub);
        place.region = named.region;
        place.ty = named.ty;
        self.subregister(place)
    }

    fn number_in(&self, at: usize, file: RegFile, nr: u64) -> Result<u8, Fail> {
        let (count, name) = match file {
            RegFile::Mrf => (
                u64::from(self.generation.has().message_registers),
                "message",
            ),
            _ => (self.registers_used.unwrap_or(128), "general"),
        };
        u8::try_from(nr)
            .ok()
            .filter(|&nr| u64::from(nr) < count)
            .ok_or_else(|| {
                let text = match count.checked_sub(1) {
                    Some(last) => format!("there are {count} {name} registers, the last is {last}"),
                    None => format!("there are no {name} registers"),
                };
                Fail::text(at, text)
            })
    }

    /// `.3`, and not the swizzle `.x`.
    fn subregister(&mut self, mut place: Place) -> Result<Place, Fail> {
        if self.cursor.peek() == b'.' && self.cursor.peek_at(1).is_ascii_digit() {
            self.cursor.at += 1;
            place.sub_at = self.cursor.at;
            place.sub = place.sub.saturating_add(self.cursor.decimal()?);
        }
        Ok(place)
    }

    /// `a0.4 16]`, the bracket before it is read.
    fn indirect(&mut self, file: RegFile) -> Result<Place, Fail> {
        self.cursor.space();
        let start = self.cursor.at;
        if self.cursor.word() != "a0" {
            return Err(Fail::expected(start, "the address register a0"));
        }
        let mut subreg = 0;
        if self.cursor.peek() == b'.' {
            self.cursor.at += 1;
            subreg = self.unsigned("an address subregister", 15)?;
        }
        self.cursor.eat(b',');
        self.cursor.space();
        let at = self.cursor.at;
        let imm = if self.cursor.peek() == b']' {
            0
        } else {
            self.cursor.eat(b'+');
            self.integer("a displacement in bytes or ']'")?
        };
        let imm = i16::try_from(imm)
            .map_err(|_| Fail::text(at, "the displacement does not fit its field"))?;
        self.cursor.require(b']', "']'")?;
        Ok(Place {
            addr: Addr::Indirect {
                subreg: subreg as u8,
                imm,
            },
            ..Place::direct(file, 0)
        })
    }

    /// Destination. Outside align16 all channels are enabled.
    pub(super) fn dst(&mut self) -> Result<Dst, Fail> {
        let place = self.place()?;
        let mut hstride = place.region.map_or(1, |region| region.hstride.max(1));
        self.cursor.space();
        if self.cursor.peek() == b'<' {
            self.cursor.at += 1;
            self.cursor.space();
            let at = self.cursor.at;
            hstride = match self.unsigned("a horizontal stride", 255)? {
                stride @ (1 | 2 | 4) => stride as u8,
                _ => return Err(Fail::expected(at, "a destination stride (1, 2 or 4)")),
            };
            self.cursor.require(b'>', "'>'")?;
            self.cursor.space();
        }
        let mut writemask = 0xf;
        if self.cursor.peek() == b'.' {
            self.cursor.at += 1;
            let start = self.cursor.at;
            writemask = 0;
            let mut next = 0;
            while let Some(channel) = channel(self.cursor.peek()) {
                if channel < next {
                    return Err(Fail::expected(self.cursor.at, "channels in the order xyzw"));
                }
                next = channel + 1;
                writemask |= 1 << channel;
                self.cursor.at += 1;
            }
            // `.F` would be an empty mask, which encodes.
            if writemask == 0 && !self.at_type() {
                return Err(Fail::expected(start, "channels (x, y, z, w)"));
            }
        }
        let ty = self.register_ty(&place)?;
        Ok(Dst {
            file: place.file,
            ty,
            addr: place.addr(ty)?,
            hstride,
            writemask,
            compr4: false,
        })
    }

    /// Source: a register with modifiers, or an immediate.
    pub(super) fn src(&mut self) -> Result<Src, Fail> {
        self.cursor.space();
        let negate = self.sign();
        if self.cursor.at_digit() || self.cursor.peek() == b'[' || self.at_constant() {
            return self.immediate(negate);
        }
        let abs = self.abs()?;
        let place = self.place()?;
        let region = self.region(&place)?;
        self.cursor.space();
        let mut swizzle = Src::XYZW;
        if self.cursor.peek() == b'.' {
            self.cursor.at += 1;
            swizzle = self.swizzle()?;
        }
        let ty = self.register_ty(&place)?;
        Ok(Src {
            file: place.file,
            ty,
            addr: place.addr(ty)?,
            region,
            swizzle,
            negate,
            abs,
            imm: 0,
        })
    }

    fn at_constant(&self) -> bool {
        !self.constants.is_empty()
            && self.cursor.at_name()
            && self.constants.contains_key(self.cursor.peek_word())
    }

    fn abs(&mut self) -> Result<bool, Fail> {
        if self.cursor.peek() != b'(' {
            return Ok(false);
        }
        let start = self.cursor.at;
        self.cursor.at += 1;
        self.cursor.space();
        if self.cursor.word() != "abs" || !self.cursor.eat(b')') {
            return Err(Fail::expected(
                start,
                "a source; its modifiers are - and (abs)",
            ));
        }
        Ok(true)
    }

    fn swizzle(&mut self) -> Result<[u8; 4], Fail> {
        let start = self.cursor.at;
        let mut channels = [0; 4];
        let mut count = 0;
        while let Some(channel) = channel(self.cursor.peek()) {
            match channels.get_mut(count) {
                Some(slot) => *slot = channel,
                None => break,
            }
            count += 1;
            self.cursor.at += 1;
        }
        match count {
            1 => Ok([channels[0]; 4]),
            4 => Ok(channels),
            _ => Err(Fail::expected(
                start,
                "a swizzle of one or four channels (x, y, z, w)",
            )),
        }
    }

    /// A source's region: nothing, `<v>`, `<w,h>`, `<v,w,h>`, `<v;w,h>`, `<VxH,w,h>`.
    fn region(&mut self, place: &Place) -> Result<Region, Fail> {
        self.cursor.space();
        if self.cursor.peek() != b'<' {
            return Ok(place.region.unwrap_or(Region::SCALAR));
        }
        self.cursor.at += 1;
        self.cursor.space();
        let at = self.cursor.at;
        let first = if self.cursor.peek() == b'V' {
            if self.cursor.word() != "VxH" {
                return Err(Fail::expected(at, "a stride or VxH"));
            }
            u64::from(Region::VXH)
        } else {
            self.unsigned("a stride", 254)?
        };
        if self.cursor.eat(b'>') {
            return Ok(Region {
                vstride: vstride(at, first)?,
                width: 1,
                hstride: 0,
            });
        }
        if !self.cursor.eat(b',') {
            self.cursor.require(b';', "',' or '>'")?;
        }
        self.cursor.space();
        let second_at = self.cursor.at;
        let second = self.unsigned("a width", 255)?;
        if self.cursor.eat(b'>') {
            return Ok(Region {
                vstride: Region::VXH,
                width: width(at, first)?,
                hstride: hstride(second_at, second)?,
            });
        }
        self.cursor.require(b',', "',' or '>'")?;
        self.cursor.space();
        let third_at = self.cursor.at;
        let third = self.unsigned("a horizontal stride", 255)?;
        self.cursor.require(b'>', "'>'")?;
        Ok(Region {
            vstride: vstride(at, first)?,
            width: width(second_at, second)?,
            hstride: hstride(third_at, third)?,
        })
    }

    /// What `.declare` gives a name: a register, with region and type or without.
    pub(super) fn declaration(&mut self) -> Result<Named, Fail> {
        let start = self.cursor.at;
        let place = self.place()?;
        let Addr::Direct { nr, .. } = place.addr else {
            return Err(Fail::expected(start, "a direct register"));
        };
        self.cursor.blanks();
        let region = if self.cursor.peek() == b'<' {
            Some(self.region(&place)?)
        } else {
            place.region
        };
        let mut ty = place.ty;
        self.cursor.blanks();
        // A declaration ends with its line.
        if self.at_type() {
            ty = Some(self.register_ty(&place)?);
        }
        // Checks the subregister against the smallest size it can have.
        place.addr(ty.unwrap_or(Type::Ub))?;
        Ok(Named {
            file: place.file,
            nr,
            sub: place.sub as u8,
            region,
            ty,
        })
    }

    /// A signed number or constant.
    pub(super) fn integer(&mut self, what: &'static str) -> Result<i64, Fail> {
        use super::cursor::Number;
        self.cursor.space();
        let start = self.cursor.at;
        let mut negative = self.sign();
        let number = if self.cursor.at_name() {
            let name = self.cursor.peek_word();
            let Some(constant) = self.constants.get(name) else {
                return Err(Fail::expected(start, what));
            };
            self.cursor.at += name.len();
            negative ^= constant.negative;
            constant.number
        } else if self.cursor.at_digit() {
            self.cursor.number()?
        } else {
            return Err(Fail::expected(start, what));
        };
        let (Number::Decimal(value) | Number::Hex(value)) = number else {
            return Err(Fail::expected(start, "a whole number"));
        };
        let value =
            i64::try_from(value).map_err(|_| Fail::text(start, "the number is too large"))?;
        Ok(if negative { -value } else { value })
    }

    /// A number from 0 to `most`, or a constant.
    pub(super) fn unsigned(&mut self, what: &'static str, most: u64) -> Result<u64, Fail> {
        self.cursor.space();
        let start = self.cursor.at;
        let value = if self.cursor.at_digit() && self.cursor.peek_at(1) != b'x' {
            self.cursor.decimal()?
        } else {
            u64::try_from(self.integer(what)?).map_err(|_| Fail::expected(start, what))?
        };
        if value > most {
            return Err(Fail::text(
                start,
                format!("{value} is too large, the most is {most}"),
            ));
        }
        Ok(value)
    }
}

fn vstride(at: usize, value: u64) -> Result<u8, Fail> {
    match value {
        0 | 1 | 2 | 4 | 8 | 16 | 32 => Ok(value as u8),
        255 => Ok(Region::VXH),
        _ => Err(Fail::expected(
            at,
            "a vertical stride (0, 1, 2, 4, 8, 16, 32 or VxH)",
        )),
    }
}

fn width(at: usize, value: u64) -> Result<u8, Fail> {
    match value {
        1 | 2 | 4 | 8 | 16 => Ok(value as u8),
        _ => Err(Fail::expected(at, "a width (1, 2, 4, 8 or 16)")),
    }
}

fn hstride(at: usize, value: u64) -> Result<u8, Fail> {
    match value {
        0 | 1 | 2 | 4 => Ok(value as u8),
        _ => Err(Fail::expected(at, "a horizontal stride (0, 1, 2 or 4)")),
    }
}
