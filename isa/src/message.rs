//! Message descriptors of `send`: one word, laid out by the target shared function.
//!
//! PRM: volume 4, 4.8.1.1, 5.10.1.1, 5.10.6.2, 6.1.1.1, 7.1.1, 8.4.2; thread spawner from Mesa 22.3.6
//! `brw_inst.h`. Text of every unit and generation: [`describe`], [`parse`]. Math snapshots have no name.

use bitfield::bitfield;

mod cursor;
mod header;
pub(crate) mod names;
pub(crate) mod part;
mod text;

/// Name of a function of extended math, also of the `math` instruction.
pub(crate) fn math_function(function: u8) -> Option<&'static str> {
    names::MATH.name(u32::from(function))
}

pub use header::Header;
pub use text::{Description, Message, MessageParseError, describe, parse};

#[cfg(test)]
mod tests;

/// Shared function that a message goes to (descriptor bits 27:24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sfid {
    /// No unit: the message is dropped.
    Null,
    /// Extended math.
    Math,
    /// Sampling engine.
    Sampler,
    /// Message gateway.
    Gateway,
    /// Data port, read.
    DataPortRead,
    /// Data port, write.
    DataPortWrite,
    /// URB.
    Urb,
    /// Thread spawner.
    ThreadSpawner,
}

impl Sfid {
    /// The unit with a number, `None` for reserved numbers.
    pub const fn from_code(code: u32) -> Option<Sfid> {
        Some(match code {
            0 => Sfid::Null,
            1 => Sfid::Math,
            2 => Sfid::Sampler,
            3 => Sfid::Gateway,
            4 => Sfid::DataPortRead,
            5 => Sfid::DataPortWrite,
            6 => Sfid::Urb,
            7 => Sfid::ThreadSpawner,
            _ => return None,
        })
    }

    /// Number of the unit.
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// Name in assembly text.
    pub const fn name(self) -> &'static str {
        match self {
            Sfid::Null => "null",
            Sfid::Math => "math",
            Sfid::Sampler => "sampler",
            Sfid::Gateway => "gateway",
            Sfid::DataPortRead => "read",
            Sfid::DataPortWrite => "write",
            Sfid::Urb => "urb",
            Sfid::ThreadSpawner => "thread_spawner",
        }
    }
}

bitfield! {
    /// Fields that every descriptor has.
    #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct MessageDesc(pub u32);
    impl Debug;
    u32;
    /// Function control: the word of the unit.
    pub function_control, set_function_control: 15, 0;
    /// Registers of the response.
    pub response_length, set_response_length: 19, 16;
    /// Message registers of the payload.
    pub message_length, set_message_length: 23, 20;
    /// Number of the target unit, see [`Sfid::from_code`].
    pub target, set_target: 27, 24;
    /// End of thread.
    pub eot, set_eot: 31;
}

impl MessageDesc {
    /// Target unit, `None` for reserved numbers.
    pub fn sfid(&self) -> Option<Sfid> {
        Sfid::from_code(self.target())
    }
}

bitfield! {
    /// Extended math (PRM 6.1.1.1; bits 8:5 ordered as in the public drivers).
    #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct MathDesc(pub u32);
    impl Debug;
    u32;
    /// Function: 1 inv, 2 log, 3 exp, 4 sqrt, 5 rsq, 6 sin, 7 cos, 8 sincos, 10 pow, 11 to 13 int div.
    pub function, set_function: 3, 0;
    /// Signed integers in the division functions.
    pub signed, set_signed: 4;
    /// Partial precision.
    pub partial_precision, set_partial_precision: 5;
    /// Saturate the result to 0..1.
    pub saturate, set_saturate: 6;
    /// Scalar structure: channel 0 of each group of four counts for the group.
    pub scalar, set_scalar: 7;
}

bitfield! {
    /// Sampling engine, 965 (PRM 4.8.1.1).
    #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct SamplerDesc(pub u32);
    impl Debug;
    u32;
    /// Surface by its binding table index.
    pub binding_table_index, set_binding_table_index: 7, 0;
    /// Sampler state by its index.
    pub sampler, set_sampler: 11, 8;
    /// Return format: 0 float, 2 unsigned, 3 signed.
    pub return_format, set_return_format: 13, 12;
    /// Message type; its meaning depends on the message length.
    pub message_type, set_message_type: 15, 14;
}

bitfield! {
    /// Data port read (PRM 5.10.1.1).
    #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct DataPortReadDesc(pub u32);
    impl Debug;
    u32;
    /// Surface by its binding table index, 255 stateless.
    pub binding_table_index, set_binding_table_index: 7, 0;
    /// Control bits of the message type.
    pub message_control, set_message_control: 11, 8;
    /// 0 OWord block, 1 OWord dual block, 2 media block, 3 DWord scattered.
    pub message_type, set_message_type: 13, 12;
    /// Cache: 0 data, 1 render, 2 sampler.
    pub target_cache, set_target_cache: 15, 14;
}

bitfield! {
    /// Data port write (PRM 5.10.1.1 and 5.10.6.2).
    #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct DataPortWriteDesc(pub u32);
    impl Debug;
    u32;
    /// Surface by its binding table index, 255 stateless.
    pub binding_table_index, set_binding_table_index: 7, 0;
    /// Control bits of the message type.
    pub message_control, set_message_control: 11, 8;
    /// Render target write: 0 SIMD16, 1 replicated, 2 and 3 dual source, 4 SIMD8.
    pub render_target_type, set_render_target_type: 10, 8;
    /// Render target write: last render target.
    pub last_render_target, set_last_render_target: 11;
    /// 0 OWord block, 1 OWord dual block, 2 media block, 3 DWord scattered, 4 render target, 7 flush.
    pub message_type, set_message_type: 14, 12;
    /// Ask for a response when the write is done.
    pub send_write_commit, set_send_write_commit: 15;
}

impl DataPortWriteDesc {
    /// Message type of a render target write.
    pub const RENDER_TARGET_WRITE: u32 = 4;
}

bitfield! {
    /// URB (PRM 8.4.2).
    #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct UrbDesc(pub u32);
    impl Debug;
    u32;
    /// Operation: 0 write.
    pub opcode, set_opcode: 3, 0;
    /// Offset in the entry, in 256-bit rows.
    pub offset, set_offset: 9, 4;
    /// 0 none, 1 interleave, 2 transpose.
    pub swizzle, set_swizzle: 11, 10;
    /// Ask for a further handle.
    pub allocate, set_allocate: 13;
    /// The entry is used.
    pub used, set_used: 14;
    /// The entry is complete.
    pub complete, set_complete: 15;
}

bitfield! {
    /// Message gateway (PRM 7.1.1).
    #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct GatewayDesc(pub u32);
    impl Debug;
    u32;
    /// 0 open, 1 close, 2 forward.
    pub subfunction, set_subfunction: 1, 0;
    /// Ask for an acknowledgement.
    pub ack_req, set_ack_req: 14;
    /// Increment the receiver's notification count.
    pub notify, set_notify: 15;
}

bitfield! {
    /// Thread spawner.
    #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct ThreadSpawnerDesc(pub u32);
    impl Debug;
    u32;
    /// 0 dereference a resource, 1 spawn a thread.
    pub opcode, set_opcode: 0;
    /// 0 root thread, 1 child thread.
    pub request_type, set_request_type: 1;
    /// Which resource the requester gives back.
    pub resource_select, set_resource_select: 4;
}
