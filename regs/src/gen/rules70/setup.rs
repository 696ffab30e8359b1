//! Strips-and-fans, its back end, and what other commands say twice.
//! ValleyView volume 2 part 2, 3DSTATE_SBE, 3DSTATE_SF.
//! Of the render targets it looks at the first entry of the binding table, where drivers have one: how many there are only kernels know.

use alloc::format;
use alloc::string::String;

use super::{Id, NULL_SURFACE, POINTS, RECTANGLES, rule, table, topology};
use crate::check::{Rule, View, When};
use crate::desc::ChannelKind;
use crate::platform::GEN70;

/// Attributes with swizzles and wrap-shortest enables.
const SWIZZLED: u32 = 16;

fn sbe(v: &View<'_>) -> Option<table::State3dSbe> {
    Some(table::State3dSbe::from_dwords(v.kept(Id::State3dSbe)?))
}

fn sf(v: &View<'_>) -> Option<table::State3dSf> {
    Some(table::State3dSf::from_dwords(v.kept(Id::State3dSf)?))
}

/// Source Attribute of the sixteen swizzles.
fn sources(s: &table::State3dSbe) -> [u32; SWIZZLED as usize] {
    [
        s.attribute_0(),
        s.attribute_1(),
        s.attribute_2(),
        s.attribute_3(),
        s.attribute_4(),
        s.attribute_5(),
        s.attribute_6(),
        s.attribute_7(),
        s.attribute_8(),
        s.attribute_9(),
        s.attribute_10(),
        s.attribute_11(),
        s.attribute_12(),
        s.attribute_13(),
        s.attribute_14(),
        s.attribute_15(),
    ]
    .map(|a| a.source_attribute())
}

pub const SWIZZLES: Rule = rule(
    "sbe-swizzles",
    "swizzles are for attributes 16 to 31 only when there are 16 or more",
    "3DSTATE_SBE, Attribute Swizzle Control Mode",
    When::Draw,
    |v| {
        let s = sbe(v)?;
        let count = s.number_of_sf_output_attributes();
        let behind = s.attribute_swizzle_enable() && s.attribute_swizzle_control_mode() != 0;
        (behind && count < SWIZZLED).then(|| format!("SWIZ_16_31 with {count} attributes"))
    },
);

pub const READ_LENGTH: Rule = rule(
    "sbe-read-length",
    "the read length is not 0, and reaches the last attribute that is needed and no further",
    "3DSTATE_SBE, Vertex URB Entry Read Length",
    When::Draw,
    |v| {
        let s = sbe(v)?;
        let (length, count) = (
            s.vertex_urb_entry_read_length(),
            s.number_of_sf_output_attributes(),
        );
        if length == 0 {
            return Some(String::from("Vertex URB Entry Read Length is 0"));
        }
        if count == 0 {
            return None;
        }
        let first = match s.attribute_swizzle_control_mode() {
            0 => 0,
            _ => SWIZZLED,
        };
        let source = |n: u32| match n.checked_sub(first) {
            Some(i) if s.attribute_swizzle_enable() => {
                sources(&s).get(i as usize).copied().unwrap_or(n)
            }
            _ => n,
        };
        let last = (0..count).map(source).max()?;
        let needed = (last + 1).div_ceil(2);
        (length != needed).then(|| {
            format!("Vertex URB Entry Read Length is {length}, attribute {last} needs {needed}")
        })
    },
);

pub const SPRITES: Rule = rule(
    "sbe-sprites",
    "point sprites are off when other objects than points are drawn",
    "3DSTATE_SBE, Point Sprite Texture Coordinate Enable",
    When::Draw,
    |v| {
        let mask = sbe(v)?.point_sprite_texture_coordinate_enable();
        let topology = topology(v)?;
        (mask != 0 && topology != POINTS)
            .then(|| format!("Point Sprite Texture Coordinate Enable is {mask:#x}"))
    },
);

pub const WRAP: Rule = rule(
    "sbe-wrap-constant",
    "an attribute is not both constant and wrapped",
    "3DSTATE_SBE, Attribute WrapShortest Enables",
    When::Draw,
    |v| {
        let s = sbe(v)?;
        let [.., low, high] = s.0;
        let wraps = u64::from(high) << 32 | u64::from(low);
        let constant = s.constant_interpolation_enable();
        let both = |n: &u32| wraps >> (4 * n) & 15 != 0 && constant >> n & 1 != 0;
        let n = (0..SWIZZLED).find(both)?;
        Some(format!("attribute {n} is both"))
    },
);

pub const ATTRIBUTES: Rule = rule(
    "ps-attributes",
    "Attribute Enable says whether there are attributes",
    "3DSTATE_PS, Attribute Enable",
    When::Draw,
    |v| {
        let count = sbe(v)?.number_of_sf_output_attributes();
        let ps = table::State3dPs::from_dwords(v.kept(Id::State3dPs)?);
        (ps.attribute_enable() != (count > 0)).then(|| {
            format!(
                "Attribute Enable is {}, 3DSTATE_SBE has {count} attributes",
                u32::from(ps.attribute_enable())
            )
        })
    },
);

pub const DEPTH_FORMAT: Rule = rule(
    "sf-depth-format",
    "3DSTATE_SF has the format of the depth buffer",
    "3DSTATE_SF, Depth Buffer Surface Format",
    When::Draw,
    |v| {
        let told = sf(v)?.depth_buffer_surface_format();
        let depth = table::State3dDepthBuffer::from_dwords(v.kept(Id::State3dDepthBuffer)?);
        let format = depth.surface_format();
        (depth.surface_type() != NULL_SURFACE && told != format)
            .then(|| format!("{told} in 3DSTATE_SF, {format} in 3DSTATE_DEPTH_BUFFER"))
    },
);

pub const STATISTICS: Rule = rule(
    "sf-statistics",
    "SF counts when the clipper is enabled and counts",
    "3DSTATE_SF, Statistics Enable",
    When::Draw,
    |v| {
        let on = sf(v)?.statistics_enable();
        let clip = table::State3dClip::from_dwords(v.kept(Id::State3dClip)?);
        let (enable, counts) = (clip.clip_enable(), clip.statistics_enable());
        (on != (enable && counts)).then(|| {
            format!(
                "Statistics Enable is {}, Clip Enable {}, Statistics Enable of 3DSTATE_CLIP {}",
                u32::from(on),
                u32::from(enable),
                u32::from(counts)
            )
        })
    },
);

pub const RECTANGLES_SOLID: Rule = rule(
    "sf-rectangles",
    "rectangles are filled",
    "3DSTATE_SF, FrontFace Fill Mode, BackFace Fill Mode",
    When::Draw,
    |v| {
        let s = sf(v)?;
        let modes = (s.frontface_fill_mode(), s.backface_fill_mode());
        (topology(v)? == RECTANGLES && modes != (0, 0)).then(|| {
            format!(
                "RECTLIST with fill modes {} in front and {} behind",
                modes.0, modes.1
            )
        })
    },
);

pub const INTEGERS: Rule = rule(
    "sf-antialiased-integers",
    "lines are not antialiased on targets of integers",
    "3DSTATE_SF, Anti-Aliasing Enable",
    When::Draw,
    |v| {
        if !sf(v)?.antialiasing_enable() {
            return None;
        }
        let pointers = v.kept(Id::State3dBindingTablePointersPs)?;
        let pointers = table::State3dBindingTablePointersPs::from_dwords(pointers);
        let [entry] = v.surface(pointers.pointer_to_ps_binding_table())?;
        let words: [u32; table::SurfaceState::LEN] = v.surface(entry & !31)?;
        let surface = table::SurfaceState::from_dwords(&words);
        if surface.surface_type() == NULL_SURFACE {
            return None;
        }
        let code = surface.surface_format();
        let format = GEN70.formats.iter().find(|f| f.code == code)?;
        let mut channels = format.channels.iter();
        channels
            .any(|c| matches!(c.kind, ChannelKind::Uint | ChannelKind::Sint))
            .then(|| format!("Anti-Aliasing Enable with a target of {}", format.name))
    },
);

/// Lists, strips and loops of lines, with and without adjacency, continued and back-facing.
const LINES: [u32; 8] = [2, 3, 9, 10, 0x10, 0x12, 0x13, 0x14];

/// Fill mode that draws triangles as lines.
const WIREFRAME: u32 = 1;

/// Rectangles and triangles have no lines: Mesa 22.3.6 clears and copies rectangles of several samples with a width of 0 (blorp_genX_exec.h).
pub const LINE_WIDTH: Rule = rule(
    "sf-line-width",
    "lines have a width when samples are rasterized",
    "3DSTATE_SF, Line Width",
    When::Draw,
    |v| {
        let s = sf(v)?;
        let mode = s.multisample_rasterization_mode();
        let topology = topology(v)?;
        let edges = [s.frontface_fill_mode(), s.backface_fill_mode()].contains(&WIREFRAME);
        let lines = LINES.contains(&topology) || (edges && topology != POINTS);
        // MSRASTMODE_ON_PIXEL and MSRASTMODE_ON_PATTERN.
        (lines && mode >= 2 && s.line_width() == 0.0)
            .then(|| format!("Line Width 0 with Multisample Rasterization Mode {mode}"))
    },
);

pub const MODES: Rule = rule(
    "multisample-modes",
    "3DSTATE_SF and 3DSTATE_WM have the same Multisample Rasterization Mode",
    "3DSTATE_SF and 3DSTATE_WM, Multisample Rasterization Mode",
    When::Draw,
    |v| {
        let a = sf(v)?.multisample_rasterization_mode();
        let wm = table::State3dWm::from_dwords(v.kept(Id::State3dWm)?);
        let b = wm.multisample_rasterization_mode();
        (a != b).then(|| format!("{a} in 3DSTATE_SF, {b} in 3DSTATE_WM"))
    },
);
