//! Numbers and words of test files.

use isa::operand::Type;

/// The text with every run of white space as one space.
pub fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A number: decimal, `0x` hexadecimal, `0b` binary, underscores allowed.
pub fn number(text: &str) -> Result<u32, String> {
    let digits = text.replace('_', "");
    let value = match (digits.strip_prefix("0x"), digits.strip_prefix("0b")) {
        (Some(hex), _) => u32::from_str_radix(hex, 16).ok(),
        (_, Some(binary)) => u32::from_str_radix(binary, 2).ok(),
        _ => digits.parse().ok(),
    };
    value.ok_or_else(|| format!("`{text}` is no number"))
}

/// Bare hexadecimal.
pub fn hex(text: &str) -> Result<u32, String> {
    let digits = text.trim_start_matches("0x");
    u32::from_str_radix(digits, 16).map_err(|_| format!("`{text}` is no hexadecimal number"))
}

/// Hexadecimal dwords; `WORD*N` stands for N of them.
pub fn dwords(text: &str) -> Result<Vec<u32>, String> {
    let mut out = Vec::new();
    for word in text.split_whitespace() {
        let (word, count) = repeated(word)?;
        out.extend(std::iter::repeat_n(hex(word)?, count));
    }
    Ok(out)
}

/// The four words of an instruction at the start of a line; what follows them is for the reader.
pub fn words(text: &str) -> Result<[u32; 4], String> {
    let mut raw = [0; 4];
    let mut tokens = text.split_whitespace();
    for word in &mut raw {
        let token = tokens.next().filter(|t| t.len() == 8);
        *word = hex(token.ok_or("an instruction has four words of eight digits")?)?;
    }
    Ok(raw)
}

/// `VALUE*N`, or one value.
fn repeated(token: &str) -> Result<(&str, usize), String> {
    match token.split_once('*') {
        None => Ok((token, 1)),
        Some((value, count)) => match count.parse() {
            Ok(n @ 1..=1024) => Ok((value, n)),
            _ => Err(format!("`{token}` repeats a value how often?")),
        },
    }
}

/// An element type by the letters of the assembler.
pub fn element(name: &str) -> Result<Type, String> {
    Ok(match name {
        "f" => Type::F,
        "ud" => Type::Ud,
        "d" => Type::D,
        "uw" => Type::Uw,
        "w" => Type::W,
        "ub" => Type::Ub,
        "b" => Type::B,
        _ => return Err(format!("`{name}` is no element type")),
    })
}

/// A list of elements of a type, as bits.
pub fn elements(ty: Type, text: &str) -> Result<Vec<Element>, String> {
    let mut out = Vec::new();
    for token in text.split_whitespace() {
        let (token, count) = repeated(token)?;
        out.extend(std::iter::repeat_n(Element::parse(ty, token)?, count));
    }
    Ok(out)
}

/// One element of a register and the way it was written.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    ty: Type,
    /// Bits, zero-extended.
    pub bits: u32,
    hex: bool,
    any_nan: bool,
    dont_care: bool,
}

impl Element {
    fn parse(ty: Type, token: &str) -> Result<Element, String> {
        let bad = || format!("`{token}` is no value of its type");
        let limit = u64::MAX >> (64 - 8 * ty.size());
        let mut out = Element {
            ty,
            bits: 0,
            hex: false,
            any_nan: false,
            dont_care: token == "_",
        };
        if out.dont_care {
            return Ok(out);
        }
        if let Some(digits) = token.strip_prefix("0x") {
            out.hex = true;
            let bits = u64::from_str_radix(digits, 16).map_err(|_| bad())?;
            out.bits = u32::try_from(bits)
                .ok()
                .filter(|_| bits <= limit)
                .ok_or_else(bad)?;
        } else if ty == Type::F {
            let value: f32 = token.parse().map_err(|_| bad())?;
            out.any_nan = value.is_nan();
            out.bits = value.to_bits();
        } else {
            let value: i64 = token.parse().map_err(|_| bad())?;
            let signed = matches!(ty, Type::D | Type::W | Type::B);
            let half = (limit / 2) as i64;
            let range = if signed {
                -half - 1..=half
            } else {
                0..=limit as i64
            };
            if !range.contains(&value) {
                return Err(bad());
            }
            out.bits = (value as u64 & limit) as u32;
        }
        Ok(out)
    }

    /// Whether bits are what this says.
    pub fn holds(self, bits: u32) -> bool {
        self.dont_care || self.bits == bits || self.any_nan && f32::from_bits(bits).is_nan()
    }

    /// Other bits in the same writing.
    pub fn write(self, bits: u32) -> String {
        match self.ty {
            _ if self.dont_care => "_".to_owned(),
            Type::F if !self.hex => {
                let value = f32::from_bits(bits);
                if value.is_nan() {
                    "nan".to_owned()
                } else {
                    format!("{value:?}")
                }
            }
            Type::D if !self.hex => (bits as i32).to_string(),
            Type::W if !self.hex => (bits as i16).to_string(),
            Type::B if !self.hex => (bits as i8).to_string(),
            _ if self.hex => format!("{bits:#x}"),
            _ => bits.to_string(),
        }
    }
}

/// Expectation lines `contains: TEXT` against a listing: each must come, in this order. A section without such lines is the
/// whole listing.
pub fn listing(expect: &[super::Line], text: &str) -> Vec<String> {
    let lines: Vec<String> = text
        .lines()
        .map(squeeze)
        .filter(|l| !l.is_empty())
        .collect();
    let partial = |l: &super::Line| l.text.starts_with("contains:") || l.text.starts_with("lacks:");
    if !expect.iter().any(partial) {
        return lines;
    }
    let mut from = 0;
    let mut out = Vec::new();
    for line in expect {
        let (word, wanted) = line.text.split_once(':').unwrap_or(("", ""));
        let wanted = squeeze(wanted);
        let found = lines.iter().skip(from).position(|l| l.contains(&wanted));
        match (word, found) {
            ("contains", Some(at)) => {
                from += at;
                out.push(line.text.clone());
            }
            ("lacks", None) => out.push(line.text.clone()),
            ("lacks", Some(at)) => out.push(format!("contains: {}", lines[from + at])),
            _ => {
                out.push(format!("lacks: {wanted}"));
                out.push("from here:".to_owned());
                out.extend(lines.iter().skip(from).cloned());
                return out;
            }
        }
    }
    out
}
