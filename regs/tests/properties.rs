//! What commands do, by the columns of the tables.
//! PRM vol1 command headers; Ironlake PRM vol1 part 2 "Logical Context Data"; Sandy Bridge PRM vol1 part 3 "User Mode
//! Privileged Commands".

use std::collections::BTreeSet;

use regs::desc::Property;
use regs::platform::{GEN40, GEN45, GEN50, GENERATIONS, Generation};

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
        for g in GENERATIONS {
            let command = (g.command)(words[0]).unwrap();
            assert_eq!(
                command.is_privileged(&words),
                privileged,
                "{}",
                command.name
            );
        }
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
