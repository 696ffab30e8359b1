//! Shared functions: errors, URB write trap, render cache colour, arbiter halts.
//!
//! PRM: volume 4, 3.4.2, 3.4.5 to 3.4.10 and 3.7.1. Of the EM pipeline word only the input stage, and no mux
//! value of the render cache.

use regs::any::{MathDebugData, TsMessageError, fields, reg};

use super::{DebugRegs, SnapshotUnit};

/// Shared functions with an error register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedUnit {
    /// Extended math; the number picks the unit, one per row of EUs.
    Math(u32),
    /// Sampler.
    Sampler,
    /// Data port.
    DataPort,
    /// Unified return buffer.
    Urb,
}

/// The first word is the unit's Error Message Header, the others dwords 6 and 7 of r0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorWords {
    /// Errors and origin, as the unit's mux value 0 shows them.
    pub header: u32,
    /// Dword 6 of the message header.
    pub dword6: u32,
    /// Dword 7 of the message header.
    pub dword7: u32,
}

/// The error register of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kept {
    words: ErrorWords,
    /// They are those of an error, which stays.
    valid: bool,
}

/// Error words and pointers behind the muxes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Latched {
    pub(super) ts_error: TsMessageError,
    math: [Kept; 2],
    /// What stands in front of each math unit.
    math_input: [MathDebugData; 2],
    sampler: Kept,
    data_port: Kept,
    urb: Kept,
    binding_tables: [u32; 32],
}

impl Latched {
    /// The arbiters have got other orders: what still has to wait says so again.
    pub(super) fn flow(&mut self) {
        self.math_input = Default::default();
    }

    fn kept(&mut self, unit: SharedUnit) -> &mut Kept {
        match unit {
            SharedUnit::Math(em) => {
                let [first, second] = &mut self.math;
                if em & 1 == 0 { first } else { second }
            }
            SharedUnit::Sampler => &mut self.sampler,
            SharedUnit::DataPort => &mut self.data_port,
            SharedUnit::Urb => &mut self.urb,
        }
    }
}

/// What the arbiters let through at present (3.4.5), and other modes that every message asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arbiter {
    messages: bool,
    writebacks: bool,
    rows: bool,
    /// Some function takes one message at a time, and keeps its sideband in the error words.
    pub non_pipelined: bool,
    /// Every texel comes from memory (3.4.6.1).
    pub texture_l1_disabled: bool,
    /// Colour of the pixels of flagged threads (3.4.8).
    pub default_color: Option<u32>,
}

impl Arbiter {
    /// Everything passes: what hardware does that nobody debugs.
    pub const OPEN: Arbiter = Arbiter {
        messages: false,
        writebacks: false,
        rows: false,
        non_pipelined: false,
        texture_l1_disabled: false,
        default_color: None,
    };

    /// Whether a message has to wait. A function whose answer could not get back to the EU is not
    /// started: nobody can tell the difference.
    pub fn holds(self, math: bool, answers: bool) -> bool {
        self.messages || answers && (self.rows || self.writebacks && !math)
    }

    /// Whether what holds a message of the math unit holds its answer: the unit itself has the message.
    pub fn holds_answers(self) -> bool {
        self.rows && !self.messages
    }
}

impl DebugRegs {
    /// The arbiters' halt bits and the non-pipelined mode.
    pub fn arbiter(&self) -> Arbiter {
        Arbiter {
            messages: self.ma_messages_halted(),
            writebacks: self.ma_writebacks_halted(),
            rows: self.ma_row_input_halted(),
            non_pipelined: self.non_pipelined(),
            texture_l1_disabled: self.sampler_l1_disabled(),
            default_color: self.rc_default_color(),
        }
    }

    /// A shared function discarded a message: it keeps its first error until reset, as 3.4.7 says of the
    /// data port.
    pub fn shared_error(&mut self, unit: SharedUnit, words: ErrorWords) {
        let kept = self.shared.kept(unit);
        if !kept.valid {
            *kept = Kept { words, valid: true };
        }
    }

    /// A shared function received a message: in non-pipelined mode its sideband (`header`
    /// without error bits) and r0 are kept all the same (3.7.1.2).
    pub fn shared_message(&mut self, unit: SharedUnit, words: ErrorWords) {
        let own = match unit {
            SharedUnit::Math(_) => {
                self.is(reg::MATH_CTL, fields::MATH_CTL::NON_PIPELINE_MODE_ENABLE)
            }
            SharedUnit::DataPort => self.is(reg::RC_CTL, fields::RC_CTL::NON_PIPELINE_MODE_ENABLE),
            SharedUnit::Sampler | SharedUnit::Urb => false,
        };
        if !own && !self.ma_non_pipelined() {
            return;
        }
        let kept = self.shared.kept(unit);
        if !kept.valid {
            kept.words = words;
        }
    }

    /// A message whose answer has no way back to its EU stands in front of a math unit.
    pub fn math_waits(&mut self, em: u32, data: MathDebugData) {
        let [first, second] = &mut self.shared.math_input;
        let input = if em & 1 == 0 { first } else { second };
        if !input.input_data_valid() {
            *input = data.with_input_data_valid(true);
        }
    }

    /// A binding table pointer that DP_RDATA can show; which of the 32 is whose is not published.
    pub fn dp_binding_table(&mut self, slot: u32, pointer: u32) {
        if let Some(to) = usize::try_from(slot)
            .ok()
            .and_then(|i| self.shared.binding_tables.get_mut(i))
        {
            *to = pointer;
        }
    }

    /// A thread wrote to the URB: traps the selected data phase of a message that carries the
    /// snapshot flag in r0.
    pub fn urb_write(&mut self, r0_7: u32, phases: &[[u32; 8]]) {
        let flagged = regs::any::R0Debug([0, r0_7]).snapshot_flag();
        if !flagged || !self.snapshot(SnapshotUnit::Urb).enable {
            return;
        }
        let wanted = self.field(
            reg::URB_CTL,
            fields::URB_CTL::SNAPSHOT_OUTPUT_REGISTER_SELECT,
        );
        let Some(data) = usize::try_from(wanted).ok().and_then(|n| phases.get(n)) else {
            return;
        };
        if self.judge(SnapshotUnit::Urb, true).capture {
            let mut outputs = [0; 16];
            for (to, from) in outputs.iter_mut().skip(8).zip(data) {
                *to = *from;
            }
            self.capture(SnapshotUnit::Urb, &outputs);
        }
    }

    /// Colour that pixels of flagged threads get in every channel, aligned to bit 31.
    pub fn rc_default_color(&self) -> Option<u32> {
        self.is(reg::RC_CTL, fields::RC_CTL::DEFAULT_COLOR_ENABLE)
            .then(|| self.field(reg::RC_DEF_CLR, fields::RC_DEF_CLR::DEFAULT_COLOR))
    }

    /// The texture L1 cache is switched off.
    pub fn sampler_l1_disabled(&self) -> bool {
        self.is(
            reg::SAMPLER_CTL,
            fields::SAMPLER_CTL::TEXTURE_L1_CACHE_DISABLE,
        )
    }

    /// MASFHalt: no message of an EU is granted.
    pub fn ma_messages_halted(&self) -> bool {
        self.is(
            reg::MA_DEBUG_1,
            fields::MA_DEBUG_1::SHARED_FUNCTION_ARB_HALT_MODE,
        )
    }

    /// WBHalt: no writeback of a shared function other than math is granted.
    pub fn ma_writebacks_halted(&self) -> bool {
        self.is(
            reg::MA_DEBUG_1,
            fields::MA_DEBUG_1::WRITEBACK_ARBITER_HALT_MODE,
        )
    }

    /// RIHalt: no writeback enters an EU; thread dispatches still do.
    pub fn ma_row_input_halted(&self) -> bool {
        self.is(
            reg::MA_DEBUG_1,
            fields::MA_DEBUG_1::ROWINPUT_ARBITER_HALT_MODE,
        )
    }

    /// One message at a time: arbiter, math unit or render cache ask for it.
    pub fn non_pipelined(&self) -> bool {
        self.ma_non_pipelined()
            || self.is(reg::MATH_CTL, fields::MATH_CTL::NON_PIPELINE_MODE_ENABLE)
            || self.is(reg::RC_CTL, fields::RC_CTL::NON_PIPELINE_MODE_ENABLE)
    }

    /// The arbiter lets one message at a time through.
    fn ma_non_pipelined(&self) -> bool {
        self.is(
            reg::MA_DEBUG_1,
            fields::MA_DEBUG_1::NON_PIPELINE_MODE_ENABLE,
        )
    }

    pub(super) fn math_rdata(&self) -> u32 {
        use fields::MATH_CTL::DEBUG_DATA_MUX_SELECT::Value;
        use fields::MATH_CTL::{DEBUG_DATA_MUX_SELECT, EM_UNIT_SELECT};
        let em = usize::try_from(self.field(reg::MATH_CTL, EM_UNIT_SELECT)).unwrap_or(0);
        match self.field(reg::MATH_CTL, DEBUG_DATA_MUX_SELECT) {
            m if m == Value::ErrorMessageHeader as u32 => {
                self.shared.math.get(em).map_or(0, |w| w.words.header)
            }
            m if m == Value::EmDebugData as u32 => {
                self.shared.math_input.get(em).map_or(0, |w| w.0[0])
            }
            _ => 0,
        }
    }

    pub(super) fn sampler_rdata(&self) -> u32 {
        use fields::SAMPLER_CTL::DEBUG_DATA_MUX_SELECT::Value;
        use fields::SAMPLER_CTL::SAMPLER_UNIT_SELECT::Value as Unit;
        use fields::SAMPLER_CTL::{DEBUG_DATA_MUX_SELECT, SAMPLER_UNIT_SELECT};
        // Messages come in through the first unit, and the error words are of a message; what the others
        // show is not published.
        if self.field(reg::SAMPLER_CTL, SAMPLER_UNIT_SELECT) != Unit::Si as u32 {
            return 0;
        }
        let mux = self.field(reg::SAMPLER_CTL, DEBUG_DATA_MUX_SELECT);
        let words = self.shared.sampler.words;
        match mux {
            m if m == Value::ErrorMessageHeader as u32 => words.header,
            m if m == Value::HeaderDword6 as u32 => words.dword6,
            m if m == Value::HeaderDword7 as u32 => words.dword7,
            _ => 0,
        }
    }

    pub(super) fn dp_rdata(&self) -> u32 {
        use fields::DP_CTL::DEBUG_DATA_MUX_SELECT;
        use fields::DP_CTL::DEBUG_DATA_MUX_SELECT::Value;
        let mux = self.field(reg::DP_CTL, DEBUG_DATA_MUX_SELECT);
        let words = self.shared.data_port.words;
        match mux {
            m if m == Value::ErrorMessageHeader as u32 => words.header,
            m if m == Value::HeaderDword6 as u32 => words.dword6,
            m if m == Value::HeaderDword7 as u32 => words.dword7,
            m => m
                .checked_sub(Value::BindingTablePointer0 as u32)
                .and_then(|i| self.shared.binding_tables.get(i as usize))
                .copied()
                .unwrap_or(0),
        }
    }

    pub(super) fn urb_rdata(&self) -> u32 {
        use fields::URB_CTL::DEBUG_DATA_MUX_SELECT::Value;
        match self.mux(SnapshotUnit::Urb) {
            m if m == Value::ErrorMessageHeader as u32 => self.shared.urb.words.header,
            m if m == Value::HeaderDword6 as u32 => self.shared.urb.words.dword6,
            m if m == Value::HeaderDword7 as u32 => self.shared.urb.words.dword7,
            _ => self.latched(SnapshotUnit::Urb),
        }
    }
}
