//! Field values as text.
//! Numbers print as the field's type says.

use alloc::format;
use alloc::string::String;

use crate::desc::{Kind, PackedField};
use crate::field;

/// `12`, `1 (SURFTYPE_2D)`, `true`, `0.500000`, `0x00112000`.
pub fn field_value(f: &PackedField, dwords: &[u32]) -> String {
    let raw = f.raw(dwords);
    let low = raw as u32;
    let width = u32::from(f.width);
    match f.kind {
        Kind::Bool => String::from(if raw == 0 { "false" } else { "true" }),
        Kind::Float => format!("{:.6}", f32::from_bits(low)),
        Kind::Fixed {
            signed: false,
            frac,
        } => format!("{:.6}", field::from_ufixed(low, u32::from(frac))),
        Kind::Fixed { signed: true, frac } => {
            format!("{:.6}", field::from_sfixed(low, width, u32::from(frac)))
        }
        Kind::Int => format!("{}", field::signed(low, width)),
        Kind::Address => format!("{low:#010x}"),
        Kind::Struct(s) => format!("<struct {}>", s.name),
        Kind::Uint => match f.value_name(raw) {
            Some(name) => format!("{raw} ({name})"),
            None => format!("{raw}"),
        },
    }
}
