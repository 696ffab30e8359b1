//! What differs between the generations that the interpreter runs.
//!
//! PRM: volume 4, 2.6.2, 13.2.5; units of jumps, message descriptors: Mesa 22.3.6 brw_eu.h; Sandy Bridge volume 4 part 2.
//! A kernel cache chooses once; nothing else asks for a generation.

use isa::Verx10;

/// Layout of a message descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor {
    /// First bit of the four bits of the message length.
    pub(crate) length: u8,
    /// First bit of the response length.
    pub(crate) response: u8,
    /// Largest value of that field.
    pub(crate) response_max: u8,
    /// Target and end of thread are in the descriptor; elsewhere they are in the instruction.
    pub(crate) whole: bool,
}

/// The choices of one generation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Bytes in one unit of a jump count.
    pub(crate) jump_unit: i32,
    /// Instructions lie at multiples of two to this power bytes: 3 where there are compacted ones.
    pub(crate) place: u8,
    /// A compressed message to extended math is two, of eight channels each.
    pub(crate) halves: bool,
    /// Message descriptors.
    pub(crate) descriptor: Descriptor,
    /// Message registers.
    pub(crate) message_registers: u8,
    /// The payload of a message is where source 0 says; elsewhere the instruction names a message register.
    pub(crate) payload_in_source: bool,
    /// UIP of `break` names the `while` of the loop, and not what is behind it (Mesa 22.3.6 `brw_eu_emit.c` `brw_set_uip_jip`).
    pub(crate) break_to_while: bool,
    /// Channels have instruction pointers of their own in the place of masks with stacks, and there are 32 of them.
    pub(crate) paths: bool,
    /// Float results are rounded as CR0 says, to the nearest unless told; elsewhere toward zero.
    pub(crate) rounds: bool,
    /// Instructions say whether they update the accumulator.
    pub(crate) acc_control: bool,
    /// The condition of `sel`, `if` and `while` compares two sources and leaves the flags alone.
    pub(crate) compares: bool,
    /// `rnde` and `rndz` give the whole result; elsewhere a floor, with a flag where one must be added.
    pub(crate) whole_rounds: bool,
    /// Notifications are subregisters of one register.
    pub(crate) one_notification: bool,
    /// Flag registers, of two subregisters each.
    pub(crate) flag_registers: u8,
    /// The payload of a message is in general registers.
    pub(crate) general_payload: bool,
    /// Of two dwords `mul` takes the low word of source 1, elsewhere of source 0.
    pub(crate) low_word_second: bool,
    /// Modifiers of the sources of `math` and of accumulators count.
    pub(crate) modifies_all: bool,
    /// There are doubles; each takes two channels of an instruction and one channel enable.
    pub(crate) doubles: bool,
    /// There is a timestamp register.
    pub(crate) timestamp: bool,
    /// The index of `jmpi` has sixteen bits where it is an immediate, whatever its type.
    pub(crate) word_index: bool,
    /// Dwords have the first accumulator alone, whichever quarter an instruction is for: the second one is there for floats (Mesa 22.3.6
    /// `brw_fs.cpp`, `lower_mulh_inst`, which shuns what such an instruction does; beignet 1.3.2 finds carries of both quarters in acc0).
    pub(crate) dword_accumulator: bool,
}

/// An instruction set that the interpreter runs, with what differs in it.
#[derive(Clone, Copy, Debug)]
pub struct InstructionSet {
    pub(crate) generation: Verx10,
    pub(crate) rules: Rules,
}

/// 965 and GM965.
pub const GEN40: InstructionSet = InstructionSet {
    generation: Verx10::GEN40,
    rules: Rules {
        jump_unit: 16,
        place: 4,
        halves: false,
        descriptor: Descriptor {
            length: 20,
            response: 16,
            response_max: 0xf,
            whole: true,
        },
        message_registers: 16,
        payload_in_source: false,
        break_to_while: false,
        paths: false,
        rounds: false,
        acc_control: false,
        compares: false,
        whole_rounds: false,
        one_notification: false,
        flag_registers: 1,
        general_payload: false,
        low_word_second: false,
        modifies_all: false,
        doubles: false,
        timestamp: false,
        word_index: false,
        dword_accumulator: false,
    },
};

/// Compacted instructions come with G45, its jumps still count sixteen bytes (Mesa 22.3.6 `brw_eu.h` `brw_jump_scale`).
/// Its kernels send compressed messages of one register to extended math (`brw_fs_generator.cpp` `generate_math_g45`).
pub const GEN45: InstructionSet = InstructionSet {
    generation: Verx10::from_times_ten(45),
    rules: Rules {
        place: 3,
        halves: true,
        ..GEN40.rules
    },
};

/// Ironlake: jumps count eight bytes, and descriptors have longer lengths and no target.
pub const GEN50: InstructionSet = InstructionSet {
    generation: Verx10::from_times_ten(50),
    rules: Rules {
        jump_unit: 8,
        descriptor: Descriptor {
            length: 25,
            response: 20,
            response_max: 0x1f,
            whole: false,
        },
        ..GEN45.rules
    },
};

/// Sandy Bridge: no mask stacks, 24 message registers, `math`, three sources, comparisons in `sel`, `if` and `while`
/// (Sandy Bridge PRM volume 4 part 2; Mesa 22.3.6 `brw_eu_emit.c` `gfx6_math`, `brw_set_uip_jip`).
pub const GEN60: InstructionSet = InstructionSet {
    generation: Verx10::from_times_ten(60),
    rules: Rules {
        halves: false,
        message_registers: 24,
        payload_in_source: true,
        paths: true,
        rounds: true,
        acc_control: true,
        compares: true,
        whole_rounds: true,
        one_notification: true,
        ..GEN50.rules
    },
};

/// Ivy Bridge and ValleyView: payloads in general registers, a second flag register, bit fields, doubles (ValleyView PRM volume 2 part 2;
/// Mesa 22.3.6 `brw_fs_generator.cpp`, `brw_reg_from_fs_reg`: doubles; `brw_fs.cpp`, `lower_mul_dword_inst`: words of `mul`;
/// `brw_eu_emit.c`, `gfx6_math`: modifiers). Each jump has two distances, JIP in the low and UIP in the high sixteen bits;
/// kernels have the index of `jmpi` in the place of JIP (beignet 1.3.2 gen_encoder.cpp, `patchJMPI`).
pub const GEN70: InstructionSet = InstructionSet {
    generation: Verx10::from_times_ten(70),
    rules: Rules {
        break_to_while: true,
        message_registers: 0,
        flag_registers: 2,
        general_payload: true,
        low_word_second: true,
        modifies_all: true,
        doubles: true,
        timestamp: true,
        word_index: true,
        dword_accumulator: true,
        ..GEN60.rules
    },
};

impl InstructionSet {
    /// Those that there are.
    const ALL: [InstructionSet; 5] = [GEN40, GEN45, GEN50, GEN60, GEN70];

    /// The instruction set of a generation; `None` for one that the interpreter does not run.
    #[must_use]
    pub fn of(generation: Verx10) -> Option<InstructionSet> {
        let mut all = Self::ALL.into_iter();
        all.find(|set| set.generation == generation)
    }

    /// Its generation, as encodings go by it.
    #[must_use]
    pub const fn generation(&self) -> Verx10 {
        self.generation
    }
}

#[cfg(test)]
mod tests;
