//! What commands do, by the columns of the tables.
//! PRM vol1 command headers; Ironlake PRM vol1 part 2 "Logical Context Data"; Sandy Bridge PRM vol1 part 3 "User Mode
//! Privileged Commands".

use std::collections::BTreeSet;

use regs::desc::{Engine, Property};
use regs::platform::{GEN40, GEN45, GEN50, GEN60, GENERATIONS, Generation};

fn with(g: &Generation, property: Property) -> BTreeSet<&'static str> {
    let commands = g.commands.iter().filter(|c| c.is(property));
    commands.map(|c| c.name).collect()
}

#[test]
fn batches_end_chain_and_draw_by_one_command_each() {
    for g in GENERATIONS {
        let one = |name| BTreeSet::from([name]);
        assert_eq!(with(g, Property::Ends), one("MI_BATCH_BUFFER_END"));
        assert_eq!(with(g, Property::Chains), one("MI_BATCH_BUFFER_START"));
        assert_eq!(with(g, Property::Draw), one("3DPRIMITIVE"));
        assert!(with(g, Property::Object).contains("MEDIA_OBJECT"));
    }
}

#[test]
fn a_context_keeps_the_state_of_all_pipelines() {
    let context = with(&GEN40, Property::Context);
    for kept in [
        "URB_FENCE",
        "CS_URB_STATE",
        "STATE_BASE_ADDRESS",
        "STATE_SIP",
        "PIPELINE_SELECT",
        "MEDIA_STATE_POINTERS",
        "3DSTATE_PIPELINED_POINTERS",
        "3DSTATE_VERTEX_ELEMENTS",
        "3DSTATE_CHROMA_KEY",
        "3DSTATE_SAMPLER_PALETTE_LOAD0",
    ] {
        assert!(context.contains(kept), "{kept}");
    }
    assert_eq!(context.len(), 21);
    assert!(!context.contains("3DPRIMITIVE") && !context.contains("CONSTANT_BUFFER"));
    let added: Vec<_> = with(&GEN50, Property::Context)
        .difference(&context)
        .copied()
        .collect();
    assert_eq!(
        added,
        [
            "3DSTATE_AA_LINE_PARAMETERS",
            "3DSTATE_CLEAR_PARAMS",
            "3DSTATE_HIER_DEPTH_BUFFER",
            "3DSTATE_STENCIL_BUFFER"
        ]
    );
}

#[test]
fn what_reaches_beyond_the_client_is_privileged() {
    // MI_STORE_DATA_IMM to a graphics address and to a physical one, the same of MI_STORE_REGISTER_MEM.
    for (words, privileged) in [
        ([0x1040_0002, 0, 0], false),
        ([0x1000_0002, 0, 0], true),
        ([0x1240_0001, 0, 0], false),
        ([0x1200_0001, 0, 0], true),
        ([0x1080_0001, 0, 0], true),  // MI_STORE_DATA_INDEX
        ([0x0380_0000, 0, 0], true),  // MI_REPORT_HEAD
        ([0x0c00_0000, 0, 0], true),  // MI_SET_CONTEXT
        ([0x1100_0001, 0, 0], true),  // MI_LOAD_REGISTER_IMM
        ([0x0200_0000, 0, 0], false), // MI_FLUSH
    ] {
        for g in [&GEN40, &GEN45, &GEN50] {
            let command = (g.command)(words[0]).unwrap();
            assert_eq!(
                command.is_privileged(&words),
                privileged,
                "{}",
                command.name
            );
        }
    }
    // On Sandy Bridge bit 22 chooses between the process space and the global GTT, through which stores of batches of
    // users go, too (i915 gem/i915_gem_execbuffer.c eb_relocate_entry, "Sandybridge PPGTT errata").
    for (words, privileged) in [
        ([0x1040_0002, 0, 0], false),
        ([0x1000_0002, 0, 0], false),
        ([0x1240_0001, 0, 0], false),
        ([0x1200_0001, 0, 0], false),
        ([0x1080_0001, 0, 0], true),  // MI_STORE_DATA_INDEX
        ([0x0380_0000, 0, 0], true),  // MI_REPORT_HEAD
        ([0x0b00_0001, 0, 0], true),  // MI_SEMAPHORE_MBOX
        ([0x0c00_0000, 0, 0], true),  // MI_SET_CONTEXT
        ([0x1100_0001, 0, 0], true),  // MI_LOAD_REGISTER_IMM
        ([0x1180_0001, 0, 0], true),  // MI_UPDATE_GTT
        ([0x1300_0002, 0, 0], false), // MI_FLUSH_DW
    ] {
        let command = (GEN60.command)(words[0]).unwrap();
        assert_eq!(
            command.is_privileged(&words),
            privileged,
            "{}",
            command.name
        );
    }
}

/// What batches of ValleyView's users may not have (i915 i915_cmd_parser.c, gen7_common_cmds and the lists behind it): the global GTT, and registers,
/// which PIPE_CONTROL writes, too (`PIPE_CONTROL_MMIO_WRITE`).
#[test]
fn global_gtt_and_registers_are_privileged_on_valleyview() {
    for (words, privileged) in [
        ([0x1000_0002, 0, 0], false), // MI_STORE_DATA_IMM
        ([0x1040_0002, 0, 0], true),
        ([0x1200_0001, 0, 0], true),       // MI_STORE_REGISTER_MEM
        ([0x1480_0001, 0, 0], true),       // MI_LOAD_REGISTER_MEM
        ([0x1300_0002, 0x1000, 0], false), // MI_FLUSH_DW
        ([0x1300_0002, 0x1004, 0], true),
        ([0x1b20_0001, 0, 0], false), // MI_CONDITIONAL_BATCH_BUFFER_END
        ([0x1b60_0001, 0, 0], true),
        ([0x7a00_0003, 1 << 14, 0], false), // PIPE_CONTROL
        ([0x7a00_0003, 1 << 24 | 1 << 14, 0], true),
        ([0x7a00_0003, 1 << 23, 0], true),
        ([0x7a00_0003, 1 << 22 | 1 << 25, 0], false),
    ] {
        let command = (regs::platform::GEN70.command)(words[0]).unwrap();
        assert_eq!(
            command.is_privileged(&words),
            privileged,
            "{} {words:x?}",
            command.name
        );
    }
}

#[test]
fn headers_tell_what_is_non_pipelined_and_what_is_a_blit() {
    let of = |g: &Generation, header| (g.command)(header).unwrap();
    for (header, non_pipelined) in [
        (0x6101_0004, true),  // STATE_BASE_ADDRESS
        (0x6000_0001, false), // URB_FENCE
        (0x7800_0005, false), // 3DSTATE_PIPELINED_POINTERS
        (0x7905_0003, true),  // 3DSTATE_DEPTH_BUFFER
        (0x7a00_0002, false), // PIPE_CONTROL
        (0x7100_0002, false), // MEDIA_OBJECT
    ] {
        assert_eq!(of(&GEN40, header).is_non_pipelined(), non_pipelined);
    }
    assert!(of(&GEN45, 0x6904_0000).is_non_pipelined());
    assert!(of(&GEN40, 0x5400_0004).is_blit() && !of(&GEN40, 0).is_blit());
    let addresses: Vec<u16> = of(&GEN40, 0x5400_0004)
        .addresses()
        .map(|f| f.start / 32)
        .collect();
    assert_eq!(addresses, [4]);
}

/// The engine of a command: `engine` of Mesa's genxml gen5 and gen6, but for MI_FLUSH, which i915 sends to the decoder of these
/// generations, too (gt/gen2_engine_cs.c `gen4_emit_flush_vcs`). CMD_* of intel-vaapi-driver i965_defines.h are the decoder's.
#[test]
fn commands_name_the_engines_that_take_them() {
    let all = [Engine::Render, Engine::Blitter, Engine::Video];
    let takes = |g: &Generation, name: &str| {
        let command = g.commands.iter().find(|c| c.name == name).unwrap();
        all.map(|engine| command.runs_on(engine))
    };
    for g in GENERATIONS {
        for every in [
            "MI_NOOP",
            "MI_BATCH_BUFFER_START",
            "MI_BATCH_BUFFER_END",
            "MI_STORE_DATA_IMM",
            "MI_STORE_DATA_INDEX",
            "MI_LOAD_REGISTER_IMM",
            "MI_STORE_REGISTER_MEM",
            "MI_REPORT_HEAD",
            "MI_USER_INTERRUPT",
            "MI_WAIT_FOR_EVENT",
            "MI_ARB_CHECK",
        ] {
            assert_eq!(takes(g, every), [true; 3], "{every}");
        }
        for render in [
            "MI_SET_CONTEXT",
            "MI_LOAD_SCAN_LINES_EXCL",
            "PIPE_CONTROL",
            "PIPELINE_SELECT",
            "STATE_BASE_ADDRESS",
            "3DPRIMITIVE",
            "MEDIA_OBJECT",
        ] {
            assert_eq!(takes(g, render), [true, false, false], "{render}");
        }
    }
    for g in [&GEN40, &GEN45, &GEN50] {
        assert_eq!(takes(g, "MI_FLUSH"), [true; 3]);
        assert_eq!(takes(g, "XY_COLOR_BLT"), [true, false, false]);
    }
    // gt/intel_engine_cs.c intel_engines, gt/gen6_engine_cs.c: the blitter has its own, which flushes as the decoder's does.
    for (name, engines) in [
        ("MI_FLUSH", [true, false, false]),
        ("MI_FLUSH_DW", [false, true, true]),
        ("MI_SEMAPHORE_MBOX", [true; 3]),
        ("MI_URB_CLEAR", [true, false, false]),
        ("3DSTATE_VS", [true, false, false]),
        ("MEDIA_VFE_STATE", [true, false, false]),
        ("MFD_AVC_BSD_OBJECT", [false, false, true]),
    ] {
        assert_eq!(takes(&GEN60, name), engines, "{name}");
    }
    let blits = GEN60.commands.iter().filter(|c| c.is_blit());
    assert!(blits.clone().count() > 20);
    for blit in blits {
        assert_eq!(takes(&GEN60, blit.name), [false, true, false]);
    }
    let decoder = [
        ("AVC_BSD_IMG_STATE", 0x7400_0000),
        ("AVC_BSD_QM_STATE", 0x7401_0000),
        ("AVC_BSD_SLICE_STATE", 0x7402_0000),
        ("AVC_BSD_BUF_BASE_STATE", 0x7403_0000),
        ("BSD_IND_OBJ_BASE_ADDR", 0x7404_0000),
        ("AVC_BSD_OBJECT", 0x7408_0000),
    ];
    for (name, opcode) in decoder {
        assert!((GEN40.command)(opcode).is_none(), "{name}");
        for g in [&GEN45, &GEN50] {
            assert_eq!((g.command)(opcode).map(|c| c.name), Some(name));
            assert_eq!(takes(g, name), [false, false, true], "{name}");
        }
    }
    // Dwords of i965_avc_bsd.c: a slice takes 8 on G45, 16 on Ironlake.
    let dwords = |g: &Generation| (g.command)(0x7408_0000).map(|c| (c.header & 0xffff) + 2);
    assert_eq!((dwords(&GEN45), dwords(&GEN50)), (Some(8), Some(16)));
}
