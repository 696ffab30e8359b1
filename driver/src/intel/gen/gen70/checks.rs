//! Commands and registers that clients of ValleyView may use with privileges.
//!
//! i915 `i915_cmd_parser.c` (`gen7_common_cmds`, `gen7_render_cmds`, `gen7_video_cmds`, `gen7_blt_cmds`, `gen7_render_regs`,
//! `gen7_blt_regs`); headers of `intel_gpu_commands.h`.
use super::super::checks::{Checks, Length, Row, Rule, Zero};

use Length::{Field, Fixed};
use Rule::{Allowed, Chain, Refused};

/// The render engine.
pub static RENDER: Checks = Checks {
    commands: &[COMMON, RENDER_COMMANDS],
    registers: RENDER_REGISTERS,
    length: render_length,
};

/// The video engine, whose clients name no registers (i915 has no list for it).
pub static VIDEO: Checks = Checks {
    commands: &[COMMON, VIDEO_COMMANDS],
    registers: &[],
    length: video_length,
};

/// The blitter.
pub static BLITTER: Checks = Checks {
    commands: &[COMMON, BLITTER_COMMANDS],
    registers: BLITTER_REGISTERS,
    length: blitter_length,
};

/// First bit of the opcode of memory-interface commands.
const MI: u8 = 23;
/// The same of 3D and media commands.
const RC: u8 = 16;
/// The same of blits.
const BC: u8 = 22;

const fn mi(opcode: u32, length: Length, rule: Rule) -> Row {
    Row {
        header: opcode << MI,
        shift: MI,
        length,
        rule,
    }
}

/// A command of the pipelines: pipeline, opcode, subopcode.
const fn rc((pipeline, opcode, sub): (u32, u32, u32), length: Length, rule: Rule) -> Row {
    Row {
        header: 3 << 29 | pipeline << 27 | opcode << 24 | sub << RC,
        shift: RC,
        length,
        rule,
    }
}

const fn bc(opcode: u32, length: Length, rule: Rule) -> Row {
    Row {
        header: 2 << 29 | opcode << BC,
        shift: BC,
        length,
        rule,
    }
}

const fn zero(dword: usize, bits: u32) -> Zero {
    Zero {
        dword,
        bits,
        when: None,
    }
}

/// The address is not one of the global GTT (`MI_GLOBAL_GTT`).
const NOT_GLOBAL: &[Zero] = &[zero(0, 1 << 22)];

/// The same, where fewer bits count for the length than i915 takes for it: the device would end the command elsewhere than the parser.
const STORES_OF_BLITTER: Rule = Rule::Zero(&[zero(0, 1 << 22 | 0x3c0)]);
const STORES_OF_VIDEO: Rule = Rule::Zero(&[zero(0, 1 << 22 | 0xc0)]);
/// Where more bits count.
const SHORT: Rule = Rule::Zero(&[zero(0, 0xc0)]);

/// Stores of PIPE_CONTROL: no register, no interrupt, neither global GTT nor status page.
const PIPE_CONTROL: &[Zero] = &[
    zero(1, 1 << 23 | 1 << 8),
    Zero {
        dword: 1,
        bits: 1 << 24 | 1 << 21,
        when: Some((1, 3 << 14)),
    },
];

/// Stores of MI_FLUSH_DW: no interrupt, neither global GTT nor status page.
const FLUSH_DW: &[Zero] = &[
    zero(0, 1 << 8),
    Zero {
        dword: 1,
        bits: 1 << 2,
        when: Some((0, 3 << 14)),
    },
    Zero {
        dword: 0,
        bits: 1 << 21,
        when: Some((0, 3 << 14)),
    },
];

/// One register, with an address that is not one of the global GTT.
const REGISTER: Rule = Rule::Registers {
    step: None,
    zero: NOT_GLOBAL,
};

/// Registers with their values.
const REGISTERS: Rule = Rule::Registers {
    step: Some(2),
    zero: &[],
};

const STORES: Rule = Rule::Zero(NOT_GLOBAL);
const FLUSHES: Rule = Rule::Zero(FLUSH_DW);

/// On all engines.
const COMMON: &[Row] = &[
    mi(0x00, Fixed(1), Allowed),      // MI_NOOP
    mi(0x02, Fixed(1), Refused),      // MI_USER_INTERRUPT
    mi(0x03, Fixed(1), Refused),      // MI_WAIT_FOR_EVENT
    mi(0x05, Fixed(1), Allowed),      // MI_ARB_CHECK
    mi(0x07, Fixed(1), Allowed),      // MI_REPORT_HEAD
    mi(0x0b, Fixed(1), Allowed),      // MI_SUSPEND_FLUSH
    mi(0x16, Field(0xff), Refused),   // MI_SEMAPHORE_MBOX
    mi(0x21, Field(0xff), Refused),   // MI_STORE_DWORD_INDEX
    mi(0x22, Field(0xff), REGISTERS), // MI_LOAD_REGISTER_IMM
    mi(0x24, Fixed(3), REGISTER),     // MI_STORE_REGISTER_MEM
    mi(0x29, Fixed(3), REGISTER),     // MI_LOAD_REGISTER_MEM
    mi(0x31, Field(0xff), Chain),     // MI_BATCH_BUFFER_START
];

const RENDER_COMMANDS: &[Row] = &[
    mi(0x04, Fixed(1), Allowed),    // MI_FLUSH
    mi(0x08, Fixed(1), Refused),    // MI_ARB_ON_OFF
    mi(0x0c, Fixed(1), Allowed),    // MI_PREDICATE
    mi(0x0d, Fixed(1), Allowed),    // MI_TOPOLOGY_FILTER
    mi(0x0e, Fixed(1), Allowed),    // MI_SET_APPID
    mi(0x14, Field(0xff), Refused), // MI_DISPLAY_FLIP
    mi(0x18, Field(0xff), Refused), // MI_SET_CONTEXT
    mi(0x19, Field(0xff), Allowed), // MI_URB_CLEAR
    mi(0x20, Field(0x3f), STORES),  // MI_STORE_DATA_IMM
    mi(0x23, Field(0xff), Refused), // MI_UPDATE_GTT
    mi(0x27, Field(0x3ff), STORES), // MI_CLFLUSH
    // MI_REPORT_PERF_COUNT, which says in the second dword where its address is.
    mi(0x28, Field(0x3f), Rule::Zero(&[zero(1, 1 << 0)])),
    mi(0x36, Field(0xff), STORES), // MI_CONDITIONAL_BATCH_BUFFER_END
    rc((1, 0, 0x0b), Fixed(1), Allowed), // 3DSTATE_VF_STATISTICS
    rc((1, 1, 0x04), Fixed(1), Allowed), // PIPELINE_SELECT
    // MEDIA_VFE_STATE: no access to registers for threads.
    rc((2, 0, 0x00), Field(0xffff), Rule::Zero(&[zero(2, 0x18)])),
    rc((2, 1, 0x04), Field(0xff), Allowed),  // GPGPU_OBJECT
    rc((2, 1, 0x05), Field(0xff), Allowed),  // GPGPU_WALKER
    rc((3, 1, 0x17), Field(0x1ff), Allowed), // 3DSTATE_SO_DECL_LIST
    rc((3, 2, 0x00), Field(0xff), Rule::Zero(PIPE_CONTROL)),
];

const VIDEO_COMMANDS: &[Row] = &[
    mi(0x08, Fixed(1), Refused),            // MI_ARB_ON_OFF
    mi(0x0e, Fixed(1), Allowed),            // MI_SET_APPID
    mi(0x20, Field(0xff), STORES_OF_VIDEO), // MI_STORE_DATA_IMM
    mi(0x23, Field(0x3f), Refused),         // MI_UPDATE_GTT
    mi(0x26, Field(0x3f), FLUSHES),         // MI_FLUSH_DW
    mi(0x36, Field(0xff), STORES),          // MI_CONDITIONAL_BATCH_BUFFER_END
    rc((1, 0, 0x00), Fixed(1), Allowed),    // MFX_WAIT
];

const BLITTER_COMMANDS: &[Row] = &[
    // MI_ARB_ON_OFF, which i915 does not know here and takes for two dwords.
    mi(0x08, Fixed(1), Refused),
    mi(0x14, Field(0xff), Refused),            // MI_DISPLAY_FLIP
    mi(0x20, Field(0x3ff), STORES_OF_BLITTER), // MI_STORE_DATA_IMM
    mi(0x23, Field(0x3f), Refused),            // MI_UPDATE_GTT
    mi(0x26, Field(0x3f), FLUSHES),            // MI_FLUSH_DW
    // MI_CONDITIONAL_BATCH_BUFFER_END, which i915 does not know here.
    mi(0x36, Field(0xff), STORES),
    bc(0x40, Field(0x3f), SHORT), // COLOR_BLT
    bc(0x43, Field(0x3f), SHORT), // SRC_COPY_BLT
];

const RENDER_REGISTERS: &[u32] = &[
    0x2290, 0x2294, // GPGPU_THREADS_DISPATCHED
    0x2300, 0x2304, // HS_INVOCATION_COUNT
    0x2308, 0x230c, // DS_INVOCATION_COUNT
    0x2310, 0x2314, // IA_VERTICES_COUNT
    0x2318, 0x231c, // IA_PRIMITIVES_COUNT
    0x2320, 0x2324, // VS_INVOCATION_COUNT
    0x2328, 0x232c, // GS_INVOCATION_COUNT
    0x2330, 0x2334, // GS_PRIMITIVES_COUNT
    0x2338, 0x233c, // CL_INVOCATION_COUNT
    0x2340, 0x2344, // CL_PRIMITIVES_COUNT
    0x2348, 0x234c, // PS_INVOCATION_COUNT
    0x2350, 0x2354, // PS_DEPTH_COUNT
    0x2358, 0x235c, // TIMESTAMP
    0x2400, 0x2404, // MI_PREDICATE_SRC0
    0x2408, 0x240c, // MI_PREDICATE_SRC1
    0x2420, // 3DPRIM_END_OFFSET
    0x2430, 0x2434, 0x2438, // 3DPRIM_START_VERTEX, _VERTEX_COUNT, _INSTANCE_COUNT
    0x243c, 0x2440, // 3DPRIM_START_INSTANCE, _BASE_VERTEX
    0x2500, 0x2504, 0x2508, // GPGPU_DISPATCHDIMX, Y and Z
    0x4358, 0x435c, // TIMESTAMP at the place of the video engine before Sandy Bridge
    0x5200, 0x5204, 0x5208, 0x520c, // SO_NUM_PRIMS_WRITTEN
    0x5210, 0x5214, 0x5218, 0x521c, //
    0x5240, 0x5244, 0x5248, 0x524c, // SO_PRIM_STORAGE_NEEDED
    0x5250, 0x5254, 0x5258, 0x525c, //
    0x5280, 0x5284, 0x5288, 0x528c, // SO_WRITE_OFFSET
    0xb010, 0xb020, 0xb024, // L3SQCREG1, L3CNTLREG2, L3CNTLREG3
    0x2_2358, 0x2_235c, // TIMESTAMP of the blitter
];

const BLITTER_REGISTERS: &[u32] = &[
    0x2358, 0x235c, // TIMESTAMP of the render engine
    0x4358, 0x435c,   // as above
    0x2_2200, // BCS_SWCTRL
    0x2_2358, 0x2_235c, // TIMESTAMP
];

/// What the upper three bits of a header say: memory interface, blits, render and media.
const CLIENT_MI: u32 = 0;
const CLIENT_BC: u32 = 2;
const CLIENT_RC: u32 = 3;
/// Bits 28:27 of media commands.
const MEDIA: u32 = 2;

/// i915 `gen7_render_get_cmd_length_mask`.
fn render_length(header: u32) -> u32 {
    match header >> 29 {
        CLIENT_MI => 0x3f,
        CLIENT_RC if header >> 27 & 3 == MEDIA => 0xffff,
        CLIENT_RC => 0xff,
        _ => 0,
    }
}

/// i915 `gen7_bsd_get_cmd_length_mask`.
fn video_length(header: u32) -> u32 {
    match header >> 29 {
        CLIENT_MI => 0x3f,
        CLIENT_RC if header >> 27 & 3 == MEDIA => match header >> 24 & 7 {
            6 => 0xffff,
            _ => 0xfff,
        },
        CLIENT_RC => 0xff,
        _ => 0,
    }
}

/// i915 `gen7_blt_get_cmd_length_mask`.
fn blitter_length(header: u32) -> u32 {
    match header >> 29 {
        CLIENT_MI => 0x3f,
        CLIENT_BC => 0xff,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// i915 `validate_cmds_sorted`, `check_sorted`: the lists are searched by halves.
    #[test]
    fn lists_are_in_order() {
        for checks in [&RENDER, &VIDEO, &BLITTER] {
            assert!(checks.registers.is_sorted_by(|a, b| a < b));
            for list in checks.commands {
                assert!(list.is_sorted_by(|a, b| a.header < b.header));
                assert!(list.iter().all(|row| row.is(row.header)));
            }
        }
        assert_eq!(
            RENDER_REGISTERS.len(),
            2 * 13 + 4 + 6 + 3 + 2 + 16 + 4 + 3 + 2
        );
    }

    /// Headers as i915 and Mesa write them.
    #[test]
    fn headers_find_their_rows() {
        let rule = |checks: &Checks, header| checks.row(header).map(|row| row.rule);
        assert_eq!(rule(&RENDER, 0x7a00_0003), Some(Rule::Zero(PIPE_CONTROL)));
        assert_eq!(rule(&RENDER, 0x1100_0001), Some(REGISTERS));
        assert_eq!(rule(&RENDER, 0x1880_0100), Some(Chain));
        assert_eq!(rule(&RENDER, 0x0c00_0000), Some(Refused));
        assert_eq!(rule(&RENDER, 0x7105_0009), Some(Allowed), "GPGPU_WALKER");
        assert_eq!(rule(&RENDER, 0x7b00_0005), None, "3DPRIMITIVE");
        assert_eq!(rule(&RENDER, 0x1300_0001), None, "MI_FLUSH_DW");
        assert_eq!(rule(&BLITTER, 0x1320_4001), Some(FLUSHES));
        assert_eq!(rule(&BLITTER, 0x54c0_0006), None, "XY_SRC_COPY_BLT");
        assert_eq!(rule(&VIDEO, 0x6800_0000), Some(Allowed), "MFX_WAIT");
    }
}
