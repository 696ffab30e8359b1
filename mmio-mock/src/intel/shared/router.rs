//! The message router: function IDs to shared functions, and instruction fetch.
//!
//! PRM: volume 4, 2.5 (function IDs), 2.6.8 (EOT snooping), 2.6.11 (message errors).
//! Not modelled: arbitration, queues and the order between different shared functions.

use eu::{Delivery, Grf, Message, Port};
use mem::{GpuAddr, Memory};
use regs::any::{MathDebugData, R0Debug};

use super::context::{EotEvent, Events, ThreadContext, sfid};
use super::error::{MessageError, Rule, refuse};
use super::message::Request;
use super::{SharedFunctions, interpolator, math, null, spawner, urb_msg};
use crate::UnitFault;
use crate::intel::debug::{Arbiter, DebugRegs};
use crate::intel::status::Unit;
use crate::intel::trace::{Event, Trace};
use crate::intel::urb::Urb;

/// One thread's way out of its EU, put together for as long as the thread runs.
pub struct Router<'a> {
    /// Graphics memory.
    pub mem: &'a mut Memory,
    /// URB.
    pub urb: &'a mut Urb,
    /// State of the shared functions.
    pub shared: &'a mut SharedFunctions,
    /// What the hardware knows of the thread.
    pub ctx: &'a ThreadContext,
    /// What the messages tell the units around.
    pub events: &'a mut Events,
    /// Debug registers: traps and errors of the shared functions.
    pub debug: &'a mut DebugRegs,
    /// What the arbiters let through.
    pub arbiter: Arbiter,
    /// Event trace.
    pub trace: &'a mut Trace,
    /// Ticks of messages and fetches that are still to be charged.
    pub owed: u64,
    /// The fault that the thread's last message has met already: it is not made again.
    pub met: &'a mut Option<UnitFault>,
}

/// Ticks of an instruction that the cache did not have.
const FETCH_TICKS: u64 = 32;
/// Ticks of a texel that the general path of the sampler looks at.
const TEXEL_TICKS: u64 = 2;
/// Ticks of a channel's texels that no cache keeps.
const UNCACHED_TICKS: u64 = 32;

/// Registers that the input buffer of each function holds: the longest of its messages, where that is short of the
/// fifteen of a descriptor (PRM 6.1.1.3, 5.10.5).
const INPUT: [u8; 8] = [15, 2, 15, 15, 3, 15, 15, 15];

/// A message that its function's input buffer cannot hold; the error words of two functions know it (PRM 3.4.2.1,
/// 3.4.7.1).
const fn overlong(function: u8) -> Rule {
    let error = match function {
        sfid::MATH | sfid::DATAPORT_READ => 1 << 3,
        _ => 0,
    };
    Rule::new(
        "message longer than the input buffer of its function (PRM 3.7.1.1)",
        error,
    )
}

/// A message to a function that does not exist, of which the URB's error word tells (PRM 3.4.9.1).
const UNKNOWN: Rule = Rule::new("no shared function has this ID", 4);

/// What a message costs besides the instruction. The manual promises no latency (PRM 2.6.9); a register a
/// clock goes there and back, and functions have work by the channel.
#[derive(Clone, Copy)]
struct Price {
    message: u8,
    register: u8,
    channel: u8,
}

const fn price(message: u8, register: u8, channel: u8) -> Price {
    Price {
        message,
        register,
        channel,
    }
}

/// Prices by function ID: null, math, sampler, gateway, data port read and write, URB, spawner.
const PRICES: [Price; 8] = [
    price(0, 1, 0),
    price(0, 1, 2),
    price(8, 1, 2),
    price(0, 1, 0),
    price(8, 3, 2),
    price(8, 3, 2),
    price(0, 1, 0),
    price(0, 1, 0),
];

/// Where the tables and counts have a function: at its ID, the constant cache with the data port that reads, the data cache with the one
/// that writes. The pixel interpolator costs what a message to no function does.
const fn place(function: u8) -> usize {
    match function {
        sfid::CONSTANT_CACHE => sfid::DATAPORT_READ as usize,
        sfid::DATA_CACHE => sfid::DATAPORT_WRITE as usize,
        sfid::INTERPOLATOR => sfid::NULL as usize,
        function => function as usize & 7,
    }
}

/// Ticks of a message that was delivered, but for what its function adds.
#[inline]
pub fn ticks_of(msg: &Message<'_>) -> u64 {
    let registers = msg.payload.len() as u32 + u32::from(msg.response_length);
    // PANIC: three bits.
    let price = PRICES[place(msg.sfid)];
    let ticks = u32::from(price.message)
        + u32::from(price.register) * registers
        + u32::from(price.channel) * u32::from(msg.exec_size);
    u64::from(ticks)
}

/// Whether the input buffer of a message's function holds it.
#[inline]
pub fn fits(msg: &Message<'_>) -> bool {
    // PANIC: three bits.
    msg.payload.len() <= usize::from(INPUT[place(msg.sfid)]) || msg.sfid >= 8
}

impl Router<'_> {
    /// What a message that was delivered costs.
    #[inline]
    fn cost(&mut self, msg: &Message<'_>) -> u64 {
        let texels = std::mem::take(&mut self.shared.sampler.texels);
        let uncached = if self.arbiter.texture_l1_disabled && msg.sfid == sfid::SAMPLER {
            u64::from(msg.exec_size) * UNCACHED_TICKS
        } else {
            0
        };
        ticks_of(msg) + texels * TEXEL_TICKS + uncached
    }

    /// What a message of the math unit shows while its answer has no way back (PRM 3.4.2.1).
    #[cold]
    fn math_waits(&mut self, msg: &Message<'_>) {
        // The general register of the destination: bits 28:21 of dword 1.
        let at = GpuAddr::from(self.ctx.bases.kernels()).offset(msg.ip.wrapping_add(4));
        let destination = self.mem.read_u32(at).map_or(0, |word| word >> 21 & 0x7f);
        let euid = u32::from(msg.thread.eu);
        let data = MathDebugData::default()
            .with_input_opcode(u32::from(msg.function_control) & 0xf)
            .with_input_euid(euid)
            .with_thread_id(u32::from(msg.thread.slot))
            .with_message_length(msg.payload.len() as u32)
            .with_destination_register(destination);
        self.debug.math_waits(euid / 4, data);
    }

    fn deliver(&mut self, msg: &Message<'_>, response: &mut [Grf]) -> Result<Delivery, UnitFault> {
        let shared = &mut *self.shared;
        if !fits(msg) {
            return Err(refuse("message bus", msg, overlong(msg.sfid)));
        }
        let request = shared.requests.of(msg.into());
        let request = request.map_err(|what| UnitFault::Unimplemented {
            unit: "message bus",
            what,
            prm: "PRM vol4 2.5",
        })?;
        match *request {
            Request::Null => null::execute(msg, response),
            Request::Math(request) => {
                math::execute(request, msg, response).map_err(|r| refuse("EM", msg, r.rule()))?;
            }
            Request::Sampler(request) => {
                shared.sampler.interpolate_chroma = self.debug.svg_chrominance_interpolated();
                let sampler = &mut shared.sampler;
                sampler.execute(&request, msg, response, self.mem, self.ctx)?;
            }
            Request::Blocks(request) => {
                let sampler = &mut shared.sampler;
                sampler.blocks(request, msg, response, self.mem, self.ctx)?;
            }
            Request::Gateway(_) if msg.payload.len() != 1 => {
                return Err(refuse(
                    "gateway",
                    msg,
                    "message length is not one (PRM 7.1)",
                ));
            }
            Request::Gateway(request) => {
                let gateway = &mut shared.gateway;
                gateway.execute(request, msg, response, self.events);
                if !request.acknowledge && msg.response_length > 0 {
                    return Ok(Delivery::Dropped);
                }
            }
            Request::Read(request) => {
                if shared.dataport.stateless_gated {
                    shared.dataport.stateless_allowed = self.debug.svg_stateless_allowed();
                }
                let port = &mut shared.dataport;
                port.read(request, msg, response, self.mem, self.ctx)?;
            }
            Request::Write(request) => {
                if msg.eot
                    && let Some(fault) = self.met.take()
                {
                    return Err(fault);
                }
                let flagged = |m0: &Grf| R0Debug([m0[6], m0[7]]).snapshot_flag();
                let color = self.arbiter.default_color;
                shared.pixel.default_color =
                    color.filter(|_| msg.payload.first().is_some_and(flagged));
                if shared.dataport.stateless_gated {
                    shared.dataport.stateless_allowed = self.debug.svg_stateless_allowed();
                }
                let (port, pixel) = (&mut shared.dataport, &shared.pixel);
                port.write(request, msg, self.mem, self.ctx, pixel, self.events)?;
            }
            Request::Access(request) => {
                let local = shared.groups.local(msg.thread.eu, msg.thread.slot);
                let port = &mut shared.dataport;
                port.access(request, msg, response, (self.mem, local), self.ctx)?;
            }
            Request::Urb(request) => {
                let unit = if self.ctx.ffid == Unit::Media.ffid() {
                    urb_msg::MEDIA_HANDLE_ROWS
                } else {
                    1
                };
                let outcome = urb_msg::execute(request, unit, msg, response, self.urb, self.events)
                    .map_err(|r| refuse("URB", msg, r.what()))?;
                if outcome == urb_msg::Outcome::Busy {
                    return Ok(Delivery::Busy);
                }
                if request.op == Some(urb_msg::UrbOp::Write)
                    && let Some(header) = msg.payload.first()
                {
                    self.debug.urb_write(header[7], msg.payload);
                }
            }
            Request::Entries(request) => {
                urb_msg::entries::execute(request, msg, response, self.urb, self.events)
                    .map_err(|r| refuse("URB", msg, r.what()))?;
                if let Some(header) = msg.payload.first() {
                    self.debug.urb_write(header[7], msg.payload);
                }
            }
            Request::Interpolator(request) => {
                interpolator::execute(request, msg, response, &self.events.pixels)?;
            }
            Request::Spawner(request) => match shared.spawner.execute(request, msg) {
                Ok(spawner::Outcome::Done) => {}
                Ok(spawner::Outcome::Busy) => return Ok(Delivery::Busy),
                Err(reject) => {
                    self.debug
                        .ts_error(spawner::error_word(request, msg, reject));
                    return Err(refuse("TS", msg, reject.what()));
                }
            },
            Request::Broken(unit, rule) => return Err(refuse(unit, msg, rule)),
            Request::Unknown => return Err(refuse("message bus", msg, UNKNOWN)),
        }
        Ok(Delivery::Done)
    }
}

impl Port for Router<'_> {
    type Fault = UnitFault;

    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], UnitFault> {
        let addr = GpuAddr::from(self.ctx.bases.kernels()).offset(ip);
        let mut words = [0; 4];
        self.owed += FETCH_TICKS;
        self.mem.read_dwords(addr, &mut words)?;
        Ok(words)
    }

    #[inline]
    fn charge(&mut self, most: u64) -> u64 {
        let now = self.owed.min(most);
        self.owed -= now;
        now
    }

    fn send(&mut self, msg: &Message<'_>, response: &mut [Grf]) -> Result<Delivery, UnitFault> {
        if self
            .arbiter
            .holds(msg.sfid == sfid::MATH, msg.response_length > 0)
        {
            if msg.sfid == sfid::MATH && self.arbiter.holds_answers() {
                self.math_waits(msg);
            }
            return Ok(Delivery::Busy);
        }
        if self.arbiter.non_pipelined
            && let Some((unit, words)) = MessageError::new(msg, "", 0).words()
        {
            self.debug.shared_message(unit, words);
        }
        if let Some(count) = self.shared.stats.messages.get_mut(usize::from(msg.sfid)) {
            *count += 1;
        }
        let delivery = match self.deliver(msg, response) {
            Err(UnitFault::Message { what, error, .. }) => {
                self.shared.stats.dropped += 1;
                let error = MessageError::new(msg, what, error);
                if let Some((unit, words)) = error.words() {
                    self.debug.shared_error(unit, words);
                }
                self.shared.error.get_or_insert(error);
                Delivery::Dropped
            }
            other => other?,
        };
        if delivery == Delivery::Busy {
            // Not sent yet: the next try counts and pays.
            if let Some(count) = self.shared.stats.messages.get_mut(usize::from(msg.sfid)) {
                *count -= 1;
            }
            return Ok(delivery);
        }
        let cost = self.cost(msg);
        self.owed = self.owed.saturating_add(cost);
        if self.trace.is_detailed() {
            self.trace.event(Event::Message {
                eu: msg.thread.eu,
                slot: msg.thread.slot,
                ffid: msg.thread.ffid,
                ip: msg.ip,
                sfid: msg.sfid,
                desc: msg.desc,
                length: msg.payload.len() as u8,
                response: msg.response_length,
                mask: msg.exec_mask,
                ticks: u32::try_from(cost).unwrap_or(u32::MAX),
                dropped: delivery == Delivery::Dropped,
            });
        }
        // Dispatcher and fixed functions snoop the end of a thread whatever the target makes of
        // the message (PRM 2.6.8).
        if msg.eot {
            self.events.eot = Some(EotEvent {
                sfid: msg.sfid,
                fftid: msg.payload.first().map_or(0, |header| header[5] as u8),
            });
        }
        Ok(delivery)
    }
}

#[cfg(test)]
mod tests;
