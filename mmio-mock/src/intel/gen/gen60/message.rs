//! Descriptors of Sandy Bridge: a data port by cache, no extended math.
//!
//! Mesa 22.3.6 brw_eu.h (`brw_dp_desc`, `brw_dp_write_desc`), brw_eu_defines.h (`GFX6_SFID_*`, `GFX6_DATAPORT_*`), brw_disasm.c.
//! Of a data port's descriptor: binding table index in 7:0, control in 12:8, type in 16:13, commit in 17. The ports that only read have
//! the type in 15:13 and look at no bit above (Mesa 7.10 brw_structs.h, `gen6_dp_sampler_const_cache`): the kernels of intel-vaapi-driver
//! set bit 16 of a media block read (shaders/post_processing/gen5_6/Common/common.inc, `nDPMR_MSGDSC`).
//! Offsets count elements (brw_eu_emit.c `brw_oword_block_read`; brw_vec4_generator.cpp `generate_oword_dual_block_offsets`). Not modelled: atomic
//! writes, UNORM writes and reads, the loop filter's reads.

mod sampler;

use crate::intel::r#gen::gen40::message as gen40;
use crate::intel::r#gen::gen45::message as gen45;
use crate::intel::r#gen::gen50::message as gen50;
use crate::intel::shared::context::sfid;
use crate::intel::shared::dataport::request::{
    Cache, Form, PixelWrite, ReadKind, ReadRequest, WriteKind, WriteRequest,
};
use crate::intel::shared::dataport::rules;
use crate::intel::shared::message::{Descriptor, MessageSet, Request};
use crate::intel::shared::urb_msg::Reject;

/// The messages of these devices.
#[derive(Debug)]
pub struct Messages;

impl MessageSet for Messages {
    fn request(&self, message: Descriptor) -> Result<Request, &'static str> {
        let desc = message.desc;
        let header = desc & gen50::HEADER != 0;
        match message.function {
            sfid::NULL => Ok(Request::Null),
            sfid::SAMPLER => sampler::request(desc, message.length.into()).map(Request::Sampler),
            // Mesa brw_eu_defines.h, `BRW_MESSAGE_GATEWAY_SFID_*`.
            sfid::GATEWAY if desc & 7 == 3 => Err("time stamp of the message gateway"),
            sfid::GATEWAY if desc & 7 == 4 => Err("barrier of the message gateway"),
            sfid::GATEWAY => Ok(Request::Gateway(gen45::gateway(message.control()))),
            sfid::DATAPORT_READ | sfid::CONSTANT_CACHE if !header => {
                Ok(Request::Broken("DP", rules::HEADER))
            }
            sfid::DATAPORT_READ => read(desc, Cache::Sampler).map(Request::Read),
            sfid::CONSTANT_CACHE => read(desc, Cache::Data).map(Request::Read),
            sfid::DATAPORT_WRITE => render(desc, header),
            sfid::URB if !header => Ok(Request::Broken("URB", Reject::Header.rule())),
            sfid::URB => Ok(Request::Urb(gen50::urb(message.control()))),
            sfid::SPAWNER => Ok(Request::Spawner(gen40::spawner(message.control()))),
            _ => Ok(Request::Unknown),
        }
    }
}

/// Numbers of the data port's message types.
mod kind {
    pub const OWORD_BLOCK_READ: u32 = 0;
    pub const RENDER_UNORM_READ: u32 = 1;
    pub const OWORD_DUAL_BLOCK_READ: u32 = 2;
    pub const AVC_LOOP_FILTER_READ: u32 = 3;
    pub const MEDIA_BLOCK_READ: u32 = 4;
    pub const DWORD_SCATTERED_READ: u32 = 6;
    pub const DWORD_ATOMIC_WRITE: u32 = 7;
    pub const OWORD_BLOCK_WRITE: u32 = 8;
    pub const OWORD_DUAL_BLOCK_WRITE: u32 = 9;
    pub const MEDIA_BLOCK_WRITE: u32 = 10;
    pub const DWORD_SCATTERED_WRITE: u32 = 11;
    pub const RENDER_TARGET_WRITE: u32 = 12;
    pub const STREAMED_VB_WRITE: u32 = 13;
    pub const RENDER_TARGET_UNORM_WRITE: u32 = 14;
}

const fn kind(desc: u32, cache: Cache) -> u32 {
    match cache {
        Cache::Render => desc >> 13 & 0xf,
        Cache::Sampler | Cache::Data | Cache::Reserved => desc >> 13 & 7,
    }
}

/// A message that reads. The lower bits of its control lie where those of the generations before have theirs.
const fn read(desc: u32, cache: Cache) -> Result<ReadRequest, &'static str> {
    let control = desc as u16;
    let kind = match kind(desc, cache) {
        kind::OWORD_BLOCK_READ => ReadKind::Block(gen40::block(control)),
        kind::RENDER_UNORM_READ => return Err("render target UNORM read"),
        kind::OWORD_DUAL_BLOCK_READ => ReadKind::DualBlock(gen40::dual_block(control)),
        kind::AVC_LOOP_FILTER_READ => return Err("AVC loop filter read"),
        kind::MEDIA_BLOCK_READ => ReadKind::Media(gen40::lines(control)),
        kind::DWORD_SCATTERED_READ => ReadKind::Scattered(gen40::scattered(control)),
        _ => ReadKind::Reserved,
    };
    Ok(ReadRequest {
        surface: control as u8,
        cache,
        elements: true,
        kind,
    })
}

/// Render cache: all that is written, and reads of what was.
fn render(desc: u32, header: bool) -> Result<Request, &'static str> {
    let control = desc as u16;
    let kind = match kind(desc, Cache::Render) {
        kind::RENDER_TARGET_WRITE => WriteKind::Pixels(PixelWrite {
            form: form(control),
            last: desc >> 12 & 1 == 1,
            header,
            upper: desc >> 11 & 1 == 1,
        }),
        _ if !header => return Ok(Request::Broken("DP", rules::HEADER)),
        ..=kind::DWORD_SCATTERED_READ => return read(desc, Cache::Render).map(Request::Read),
        kind::DWORD_ATOMIC_WRITE => return Err("DWord atomic write"),
        kind::OWORD_BLOCK_WRITE => WriteKind::Block(gen40::block(control)),
        kind::OWORD_DUAL_BLOCK_WRITE => WriteKind::DualBlock(gen40::dual_block(control)),
        kind::MEDIA_BLOCK_WRITE => WriteKind::Media(gen40::lines(control)),
        kind::DWORD_SCATTERED_WRITE => WriteKind::Scattered(gen40::scattered(control)),
        kind::STREAMED_VB_WRITE => WriteKind::Stream,
        kind::RENDER_TARGET_UNORM_WRITE => return Err("render target UNORM write"),
        _ => WriteKind::Reserved,
    };
    Ok(Request::Write(WriteRequest {
        surface: control as u8,
        commit: desc >> 17 & 1 == 1,
        elements: true,
        kind,
    }))
}

/// Form of a render target write, in 10:8.
const fn form(control: u16) -> Option<Form> {
    Some(match control >> 8 & 7 {
        0 => Form::Single16,
        1 => Form::Replicated,
        2 => Form::Dual8 { upper: false },
        3 => Form::Dual8 { upper: true },
        4 => Form::Single8,
        _ => return None,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
