//! Surface formats as OpenGL and Direct3D 10 define them, apart from the model.
//!
//! PRM: volume 4 4.7.2.1.1 gives the names that layouts are read from, 4.7.2.1.2 what missing channels read as.
//! Not covered here: compressed formats, which have their decoders in the tests.

pub mod encode;
pub mod messages;

use half::f16;

/// Number format of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unsigned, 0..=1.
    Unorm,
    /// Signed, -1..=1.
    Snorm,
    /// Unsigned integer.
    Uint,
    /// Signed integer.
    Sint,
    /// Unsigned integer as a float.
    Uscaled,
    /// Signed integer as a float.
    Sscaled,
    /// Float.
    Float,
    /// UNORM on the curve of IEC 61966-2-1.
    Srgb,
}

/// A field of an element.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    /// R, G, B, A, L, I, or X for unused bits.
    pub letter: char,
    /// Lowest bit.
    pub low: u32,
    /// Width.
    pub bits: u32,
    /// Number format.
    pub kind: Kind,
}

/// The fields of an element, from bit 0.
#[derive(Clone, Debug)]
pub struct Fields(pub Vec<Channel>);

/// What a channel must read as.
#[derive(Clone, Copy, Debug)]
pub enum Want {
    /// These register bits.
    Bits(u32),
    /// Any NaN.
    Nan,
    /// A float no farther away than the second number.
    Near(f64, f64),
}

impl Want {
    /// Whether register bits are what is wanted.
    #[must_use]
    pub fn met(self, bits: u32) -> bool {
        let value = f32::from_bits(bits);
        match self {
            Want::Bits(want) => bits == want,
            Want::Nan => value.is_nan(),
            Want::Near(want, off) => (f64::from(value) - want).abs() <= off,
        }
    }

    /// The wanted float.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Want::Bits(bits) => f64::from(f32::from_bits(bits)),
            Want::Nan => f64::NAN,
            Want::Near(value, _) => value,
        }
    }
}

/// A float exactly.
#[must_use]
pub fn float(value: f64) -> Want {
    // CAST: one rounding, to nearest even.
    let narrow = value as f32;
    if narrow.is_nan() {
        Want::Nan
    } else {
        Want::Bits(narrow.to_bits())
    }
}

/// The curve of IEC 61966-2-1 from encoded to linear.
#[must_use]
pub fn srgb_to_linear(c: f64) -> f64 {
    if c <= 0.040_45 {
        c / 12.92
    } else {
        ((c + 0.055) / 1.055).powf(2.4)
    }
}

/// A little-endian field of an element.
#[must_use]
pub fn field(element: &[u8], low: u32, bits: u32) -> u64 {
    (0..bits)
        .filter(|i| {
            let at = low + i;
            element[at as usize / 8] >> (at % 8) & 1 == 1
        })
        .fold(0, |v, i| v | 1 << i)
}

/// Two's complement.
fn signed(v: u64, bits: u32) -> f64 {
    let sign = 1i64 << (bits - 1);
    ((v as i64 ^ sign) - sign) as f64
}

impl Channel {
    /// The channel's value in an element.
    #[must_use]
    pub fn decode(&self, element: &[u8]) -> Want {
        let v = field(element, self.low, self.bits);
        let steps = |bits: u32| ((1u64 << bits) - 1) as f64;
        match self.kind {
            Kind::Unorm => float(v as f64 / steps(self.bits)),
            // Both lowest codes are -1 (Direct3D 10, OpenGL 4.2).
            Kind::Snorm => float((signed(v, self.bits) / steps(self.bits - 1)).max(-1.0)),
            Kind::Uint => Want::Bits(v as u32),
            Kind::Sint => Want::Bits(signed(v, self.bits) as i64 as u32),
            Kind::Uscaled => float(v as f64),
            Kind::Sscaled => float(signed(v, self.bits)),
            Kind::Srgb => {
                let linear = srgb_to_linear(v as f64 / steps(self.bits));
                Want::Near(linear, linear * 1.2e-7)
            }
            Kind::Float => match self.bits {
                64 => float(f64::from_bits(v)),
                32 => Want::Bits(v as u32),
                // The unsigned ones are halves without sign and with fewer mantissa bits (EXT_packed_float).
                16 => float(f16::from_bits(v as u16).to_f64()),
                11 => float(f16::from_bits((v as u16) << 4).to_f64()),
                10 => float(f16::from_bits((v as u16) << 5).to_f64()),
                bits => panic!("float of {bits} bits"),
            },
        }
    }
}

impl Fields {
    /// Reads the layout from a format's name, `None` for names that say nothing about bits.
    #[must_use]
    pub fn parse(name: &str) -> Option<Fields> {
        let mut channels: Vec<Channel> = Vec::new();
        let (mut low, mut pending) = (0, 0);
        for token in name.split('_') {
            let kind = match token {
                "UNORM" => Kind::Unorm,
                "SNORM" => Kind::Snorm,
                "UINT" => Kind::Uint,
                "SINT" => Kind::Sint,
                "USCALED" => Kind::Uscaled,
                "SSCALED" => Kind::Sscaled,
                "FLOAT" => Kind::Float,
                "TYPELESS" => {
                    pending = channels.len();
                    continue;
                }
                "SRGB" => {
                    for c in channels.iter_mut().filter(|c| c.letter != 'A') {
                        c.kind = Kind::Srgb;
                    }
                    continue;
                }
                groups => {
                    low = parse_groups(groups, low, &mut channels)?;
                    continue;
                }
            };
            for c in &mut channels[pending..] {
                c.kind = kind;
            }
            pending = channels.len();
        }
        (pending == channels.len()).then_some(Fields(channels))
    }

    /// Bits of an element.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.0.iter().map(|c| c.bits).sum()
    }

    /// Whether channels are integers in the shader.
    #[must_use]
    pub fn integer(&self) -> bool {
        let integer = |c: &Channel| matches!(c.kind, Kind::Uint | Kind::Sint);
        self.0.iter().filter(|c| c.letter != 'X').all(integer)
    }

    /// The field of a shader channel (0 red .. 3 alpha).
    #[must_use]
    pub fn of(&self, channel: usize) -> Option<&Channel> {
        self.0.iter().find(|c| match c.letter {
            'L' => channel < 3,
            'I' => true,
            letter => letter == ['R', 'G', 'B', 'A'][channel],
        })
    }

    /// Red, green, blue and alpha of an element; missing colours are 0, a missing alpha 1.
    #[must_use]
    pub fn decode(&self, element: &[u8]) -> [Want; 4] {
        std::array::from_fn(|i| match self.of(i) {
            Some(channel) => channel.decode(element),
            None if i < 3 => Want::Bits(0),
            None if self.integer() => Want::Bits(1),
            None => float(1.0),
        })
    }
}

/// Groups such as R10G10B10; gives the first bit behind them.
fn parse_groups(groups: &str, mut low: u32, channels: &mut Vec<Channel>) -> Option<u32> {
    let mut rest = groups;
    while !rest.is_empty() {
        let letter = rest.chars().next().filter(|c| "RGBALIX".contains(*c))?;
        let end = rest[1..].find(|c: char| !c.is_ascii_digit());
        let end = end.map_or(rest.len(), |e| e + 1);
        let bits = rest[1..end].parse().ok()?;
        channels.push(Channel {
            letter,
            low,
            bits,
            kind: Kind::Uint,
        });
        low += bits;
        rest = &rest[end..];
    }
    Some(low)
}
