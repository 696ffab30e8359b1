//! What a pixel shader thread is given for a pixel: weights, planes of attributes.
//!
//! genxml gen6 3DSTATE_WM, 3DSTATE_CONSTANT_PS; Mesa brw_fs.cpp `setup_fs_payload_gen6` (order of the registers), the operands
//! of `pln` (a plane: what the second and the third vertex have beyond the first, nothing, and the first). For devices
//! whose threads get weights; not modelled: constants between.

use std::fmt;

use eu::Grf;
use mmio_mock::intel::r#gen::DeviceInfo;

use crate::frame_map::{DrawCall, Found};
use crate::pipeline;

/// Weights come in these modes, a bit each (Barycentric Interpolation Mode).
const MODES: [&str; 6] = [
    "perspective, pixel",
    "perspective, centroid",
    "perspective, sample",
    "linear, pixel",
    "linear, centroid",
    "linear, sample",
];

/// Weights of the second and the third vertex at the pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// How and where.
    pub mode: &'static str,
    /// The weights.
    pub values: [f32; 2],
    /// Registers and the element in them.
    pub registers: [usize; 2],
    /// Which of the eight values.
    pub element: usize,
}

/// An attribute as the thread finds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Which one.
    pub number: usize,
    /// First of its two registers.
    pub register: usize,
    /// Of each component: differences of the second and third vertex to the first, and the first's.
    pub planes: [[f32; 3]; 4],
}

/// The payload, as far as it concerns a pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Payload {
    /// Channels of the thread: 8, 16 or 32.
    pub width: usize,
    /// The pixel's channel.
    pub channel: usize,
    /// In the order of the registers.
    pub weights: Vec<Weights>,
    /// Attributes of the vertices.
    pub attributes: Vec<Attribute>,
}

impl Attribute {
    /// The four components at weights.
    pub fn at(&self, [second, third]: [f32; 2]) -> [f32; 4] {
        self.planes
            .map(|[by_second, by_third, first]| first + by_second * second + by_third * third)
    }
}

impl Payload {
    /// Reads it; `None` where the commands do not say how threads are dispatched.
    pub fn of(
        registers: &[Grf],
        draw: &DrawCall,
        found: &Found,
        device: &DeviceInfo,
    ) -> Option<Self> {
        let words = |name: &str| {
            let mut all = device.tables.commands.iter();
            let command = all.find(|command| command.name == name)?;
            Some((command.fields, draw.state.words(name)))
        };
        // Later devices have what belongs to the shader and to its attributes in commands of their own.
        let wm = |name: &str| {
            let commands = ["3DSTATE_WM", "3DSTATE_PS", "3DSTATE_SBE"].into_iter();
            let mut all = commands.filter_map(&words);
            all.find_map(|(fields, words)| pipeline::of_words(fields, name, words))
        };
        let modes = wm("Barycentric Interpolation Mode")?;
        let (width, number) = dispatched(&wm, found)?;
        let row = |n: usize| registers.get(n).copied().unwrap_or_default();
        let channel = usize::from(found.channel);
        let (half, within) = (channel / 16, channel % 16);
        let halves = width.div_ceil(16);
        let used = modes & ((1 << MODES.len()) - 1);
        // Two registers for eight pixels.
        let each = width.min(16) / 8 * 2;
        let flag = |name: &str| wm(name).is_some_and(|value| value != 0);
        let of_eight = [
            "Pixel Shader Uses Source Depth",
            "Pixel Shader Uses Source W",
            "Pixel Shader Uses Input Coverage Mask",
        ];
        let more = of_eight.into_iter().filter(|name| flag(name)).count() * each / 2
            + usize::from(flag("Position XY Offset Select"));
        let behind = used.count_ones() as usize * each + more;
        let mut at = 1 + halves + half * behind + within / 8 * 2;
        let mut weights = Vec::new();
        for (mode, name) in MODES.iter().enumerate() {
            if used >> mode & 1 == 0 {
                continue;
            }
            let element = within % 8;
            let value = |n: usize| f32::from_bits(row(n).get(element).copied().unwrap_or(0));
            weights.push(Weights {
                mode: name,
                values: [value(at), value(at + 1)],
                registers: [at, at + 1],
                element,
            });
            at += each;
        }
        let start = format!("Dispatch GRF Start Register For Constant/Setup Data {number}");
        let constants = words("3DSTATE_CONSTANT_PS").map_or(0, |(fields, words)| {
            if let Some(pushed) = wm("Push Constant Enable") {
                // Lengths of the four buffers are halves of two dwords.
                let lengths = words.iter().skip(1).take(2);
                let lengths = lengths.map(|word| (word & 0xffff) + (word >> 16));
                return if pushed == 1 {
                    lengths.sum::<u32>() as usize
                } else {
                    0
                };
            }
            let valid = |n: usize| {
                pipeline::of_words(fields, &format!("Buffer {n} Valid"), words) == Some(1)
            };
            // Read lengths are bits 4:0, minus one.
            let length = |n: usize| words.get(n + 1).map_or(0, |word| (word & 31) as usize + 1);
            (0..4).filter(|n| valid(*n)).map(length).sum::<usize>()
        });
        let first = wm(&start)? as usize + constants;
        let count = wm("Number of SF Output Attributes")?.min(32) as usize;
        let attribute = |number: usize| {
            let register = first + number * 2;
            let planes = [0, 1, 2, 3].map(|component| {
                let row = row(register + component / 2);
                let value = |n: usize| f32::from_bits(row[component % 2 * 4 + n]);
                [value(0), value(1), value(3)]
            });
            Attribute {
                number,
                register,
                planes,
            }
        };
        Some(Payload {
            width,
            channel,
            weights,
            attributes: (0..count).map(attribute).collect(),
        })
    }

    /// What the attributes are at the pixel, by the first weights.
    pub fn values(&self) -> impl Iterator<Item = (&Attribute, Option<[f32; 4]>)> {
        let weights = self.weights.first().map(|weights| weights.values);
        let all = self.attributes.iter();
        all.map(move |attribute| (attribute, weights.map(|weights| attribute.at(weights))))
    }
}

/// How many channels threads of the kernel have, and which number its fields have: the narrowest is number 0, beside it 16
/// channels are number 2 and 32 are number 1.
fn dispatched(wm: &impl Fn(&str) -> Option<u32>, found: &Found) -> Option<(usize, usize)> {
    let mut enabled = Vec::new();
    for width in [8, 16, 32] {
        if wm(&format!("{width} Pixel Dispatch Enable"))? != 0 {
            enabled.push(width);
        }
    }
    let narrowest = *enabled.first()?;
    let lit = found.walk.pixel_thread.lit;
    let most = 32 - lit.leading_zeros() as usize;
    let number = |width| match width {
        _ if width == narrowest => 0,
        16 => 2,
        _ => 1,
    };
    let kernel = found.walk.pixel_thread.kernel;
    let is_its = |width: usize| {
        width >= most && wm(&format!("Kernel Start Pointer {}", number(width))) == Some(kernel)
    };
    let width = enabled.iter().copied().find(|width| is_its(*width))?;
    Some((width, number(width)))
}

fn list(f: &mut fmt::Formatter<'_>, values: &[f32]) -> fmt::Result {
    for (n, value) in values.iter().enumerate() {
        write!(f, "{}{value:?}", if n > 0 { ", " } else { "" })?;
    }
    Ok(())
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "    payload of {} channels, of which the pixel is {}",
            self.width, self.channel
        )?;
        for weights in &self.weights {
            let [second, third] = weights.registers;
            let element = weights.element;
            write!(f, "      weights of the second and third vertex: ")?;
            list(f, &weights.values)?;
            writeln!(
                f,
                " in r{second}.{element} and r{third}.{element} ({})",
                weights.mode
            )?;
        }
        for (attribute, value) in self.values() {
            let (number, register) = (attribute.number, attribute.register);
            write!(f, "      attribute {number}")?;
            if let Some(value) = value {
                write!(f, ": (")?;
                list(f, &value)?;
                write!(f, ")")?;
            }
            write!(f, " by its planes in r{register} and r{}: ", register + 1)?;
            for (n, [second, third, first]) in attribute.planes.iter().enumerate() {
                let comma = if n > 0 { ", " } else { "" };
                write!(f, "{comma}{first:?} + {second:?} u + {third:?} v")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
