//! Buffers as untyped messages see them: bytes, or structures of bytes.
//!
//! Layout: genxml gen7 RENDER_SURFACE_STATE (SURFTYPE_BUFFER of format RAW, SURFTYPE_STRBUF); what drivers bind: Mesa 22.3.6
//! crocus_state.c `upload_ubo_ssbo_surf_state`. What lies past the end reads as zero and is not written.

use eu::Grf;
use mem::{GpuAddr, Tiling};

use super::super::rules;
use crate::intel::shared::context::StateBases;
use crate::intel::shared::error::Rule;
use crate::intel::surface::{SurfaceDesc, SurfaceKind};

/// The format of buffers that are counted in bytes, the same number in all generations that have it.
const RAW: u32 = 0x1ff;

/// A buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    base: GpuAddr,
    /// Bytes, 0 of a null surface.
    bytes: u64,
    /// Bytes of a structure, where addresses have its number and an offset in it.
    structure: Option<u32>,
}

impl Raw {
    /// The buffer that a state describes, or the rule that forbids it.
    pub fn new(desc: &SurfaceDesc) -> Result<Self, Rule> {
        if desc.kind == Ok(SurfaceKind::Null) {
            return Ok(Raw {
                base: desc.base,
                bytes: 0,
                structure: None,
            });
        }
        if desc.tiling != Tiling::Linear {
            return Err(rules::TILED);
        }
        let (bytes, structure) = match desc.kind {
            Ok(SurfaceKind::Buffer) if desc.format_code == RAW => (u64::from(desc.entries), None),
            // The elements of other messages that see bytes have sixteen (PRM 5.10.2).
            Ok(SurfaceKind::Buffer) => (u64::from(desc.entries) * 16, None),
            Ok(SurfaceKind::Structured) => {
                let bytes = u64::from(desc.entries) * u64::from(desc.pitch);
                (bytes, Some(desc.pitch.max(1)))
            }
            _ => return Err(rules::SURFACE),
        };
        Ok(Raw {
            base: desc.base,
            bytes,
            structure,
        })
    }

    /// Local memory of so many bytes.
    pub(super) fn local(bytes: usize) -> Self {
        Raw {
            base: GpuAddr::default(),
            bytes: bytes as u64,
            structure: None,
        }
    }

    /// The stateless model: base address and bound of general state, and the offset in M0.5.
    pub(super) fn stateless(bases: &StateBases, header: &Grf) -> Self {
        let base = bases.general_state_base.wrapping_add(header[5] & !0x3ff);
        let bytes = match bases.general_state_upper_bound {
            0 => u64::from(u32::MAX) + 1,
            bound => u64::from(bound.saturating_sub(base)),
        };
        Raw {
            base: GpuAddr::from(base),
            bytes,
            structure: None,
        }
    }

    /// Parts of an address.
    pub(super) const fn parameters(&self) -> usize {
        if self.structure.is_some() { 2 } else { 1 }
    }

    /// Address of so many bytes when all of them lie inside. `u` is an offset, or the number of a structure with the offset `v` in it.
    #[inline]
    pub(super) fn at(&self, u: u32, v: u64, bytes: u64) -> Option<GpuAddr> {
        let offset = match self.structure {
            None => u64::from(u) + v,
            Some(pitch) => {
                if v + bytes > u64::from(pitch) {
                    return None;
                }
                u64::from(u) * u64::from(pitch) + v
            }
        };
        if offset + bytes > self.bytes {
            return None;
        }
        // CAST: a buffer has at most 2^32 bytes.
        Some(self.base.offset(offset as u32))
    }

    /// Whether a miss is to be told: a null surface has no end that one could miss.
    pub(super) const fn has_end(&self) -> bool {
        self.bytes > 0
    }
}
