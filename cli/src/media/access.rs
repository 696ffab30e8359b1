//! What messages want of surfaces, as far as their descriptors say it.
//!
//! PRM: volume 4, 4.8.1.1, 5.10.1.1. Not modelled: descriptors in registers; the device refuses what does not fit.

use std::fmt;

use isa::message::{DataPortReadDesc, DataPortWriteDesc, MessageDesc, SamplerDesc, Sfid};

/// Message types of the data port (PRM vol4 5.10.1.1): media block read or write, Flush Render Cache.
const MEDIA_BLOCK: u32 = 2;
const FLUSH: u32 = 7;
/// Binding table index of the stateless model (PRM vol4 5.2.2).
const MEMORY: u32 = 255;

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
pub(super) fn of(descriptor: MessageDesc) -> Option<(u32, Option<Kind>)> {
    let word = descriptor.0;
    let (surface, kind) = match descriptor.sfid()? {
        Sfid::DataPortRead => {
            let read = DataPortReadDesc(word);
            let media = read.message_type() == MEDIA_BLOCK;
            (read.binding_table_index(), Some(media))
        }
        Sfid::DataPortWrite => {
            let write = DataPortWriteDesc(word);
            let kind = match write.message_type() {
                FLUSH => return None,
                DataPortWriteDesc::RENDER_TARGET_WRITE => None,
                kind => Some(kind == MEDIA_BLOCK),
            };
            (write.binding_table_index(), kind)
        }
        Sfid::Sampler => (SamplerDesc(word).binding_table_index(), None),
        _ => return None,
    };
    let kind = kind.map(|media| if media { Kind::Image } else { Kind::Buffer });
    (surface != MEMORY).then_some((surface, kind))
}
