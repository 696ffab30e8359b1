//! What messages want of surfaces, as far as their descriptors say it.
//!
//! PRM: volume 4, 4.8.1.1, 5.10.1.1. Not modelled: descriptors in registers; the device refuses what does not fit.

use std::fmt;

use mmio_mock::intel::shared::dataport::request::{ReadKind, WriteKind};
use mmio_mock::intel::shared::message::Request;

/// Binding table index of the stateless model (PRM vol4 5.2.2).
const MEMORY: u8 = 255;

/// What a message takes a surface for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Bytes.
    Buffer,
    /// Rows of pixels.
    Image,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Buffer => "a buffer",
            Kind::Image => "an image",
        })
    }
}

/// The surface that a message names, and what the message takes it for, if that is one of the two; the last number stands
/// for memory itself (PRM vol4 5.2.2).
pub(super) fn of(request: Request) -> Option<(u32, Option<Kind>)> {
    let (surface, kind) = match request {
        Request::Read(read) => {
            let media = matches!(read.kind, ReadKind::Media(_));
            (read.surface, Some(media))
        }
        Request::Write(write) => {
            let kind = match write.kind {
                WriteKind::Flush => return None,
                WriteKind::RenderTarget { .. } => None,
                kind => Some(matches!(kind, WriteKind::Media(_))),
            };
            (write.surface, kind)
        }
        Request::Sampler(sample) => (sample.surface, None),
        _ => return None,
    };
    let kind = kind.map(|media| if media { Kind::Image } else { Kind::Buffer });
    (surface != MEMORY).then_some((u32::from(surface), kind))
}
