//! The case table of the public drivers against the rules.

use super::*;

/// One word a case: mode (Promoted, Non-promoted, Computed), source depth in the payload, source
/// depth to the render target, destination depth, destination stencil. The index is kill 1,
/// computed depth 2, depth write 4, depth test 8, stencil write 16, stencil test 32
/// (Mesa 22.3 brw_fs_thread_payload, wm_iz_table).
const EARLY: &str = "
    P0000 P0000 P0000 P0000 P0000 N1100 N0100 N0100
    P0000 P0000 C0110 C0110 P0000 N1100 C0110 C0110
    P0000 P0000 P0000 P0000 P0000 N1100 N0100 N0100
    P0000 P0000 C0110 C0110 P0000 N1100 C0110 C0110
    P0000 P0000 P0000 P0000 P0000 N1101 N0101 N0101
    P0000 P0000 C0111 C0111 P0000 N1101 C0111 C0111
    P0000 C0001 P0000 C0101 P0000 C1101 C0101 C0101
    P0000 C1111 C0111 C0111 P0000 C1111 C0111 C0111
";

/// The first rows of the same table for drivers that leave the early test off (Mesa 7, 2008).
const LATE: &str = "
    P0000 P0000 C0100 C0100 C1100 C1100 C0100 C0100
    C1110 C1110 C0110 C0110 C1110 C1110 C0110 C0110
    P0000 P0000 C0100 C0100 C1100 C1100 C0100 C0100
    C1110 C1110 C0110 C0110 C1110 C1110 C0110 C0110
    C0001 C0001 C0101 C0101 C1101 C1101 C0101 C0101
    C1111 C1111 C0111 C0111 C1111 C1111 C0111
";

fn inputs(index: usize, early: bool) -> IzInputs {
    let bit = |n: usize| index >> n & 1 != 0;
    IzInputs {
        kill: bit(0),
        computed_depth: bit(1),
        depth_write: bit(2),
        depth_test: bit(3),
        stencil_write: bit(4),
        stencil_test: bit(5),
        early,
        ..IzInputs::default()
    }
}

fn word(case: IzCase) -> String {
    let mode = match case.mode {
        IzMode::Promoted => 'P',
        IzMode::NonPromoted => 'N',
        IzMode::Computed => 'C',
    };
    let bit = u8::from;
    format!(
        "{mode}{}{}{}{}",
        bit(case.source_depth),
        bit(case.source_depth_to_target),
        bit(case.destination_depth),
        bit(case.destination_stencil)
    )
}

#[test]
fn every_case_is_the_drivers_case() {
    for (table, early, rows) in [(EARLY, true, 64), (LATE, false, 47)] {
        assert_eq!(table.split_whitespace().count(), rows);
        for (index, expected) in table.split_whitespace().enumerate() {
            let found = word(IzCase::new(inputs(index, early)));
            assert_eq!(found, expected, "case {index:#x}, early {early}");
        }
    }
}

#[test]
fn counting_behind_a_kill_needs_source_depth() {
    let case = IzCase::new(IzInputs {
        kill: true,
        depth_test: true,
        early: true,
        statistics: true,
        ..IzInputs::default()
    });
    assert_eq!(case.mode, IzMode::Promoted);
    assert!(case.source_depth && case.source_depth_to_target && case.late_count);
    assert!(!case.destination_depth);
}
