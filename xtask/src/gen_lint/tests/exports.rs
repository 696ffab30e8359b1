//! What leaves a room under a neutral name.

use super::*;

#[test]
fn a_room_exports_no_generation_s_own_under_a_neutral_name() {
    for (text, reported) in [
        ("pub use regs::gen50::VsState;", true),
        ("pub(crate) use regs::gen50::{self, VsState};", true),
        ("pub use self::gen50::{Ironlake, other::State};", true),
        ("pub use regs::gen50::VsState as State;", true),
        ("pub use gen50::*;", true),
        ("pub type State = regs::gen50::VsState;", true),
        ("pub use self::gen40::{I965G, I965GM};", false),
        ("pub use self::models::{MODELS, Model};", false),
        ("use regs::gen50::VsState;", false),
        ("pub use regs::gen50::VsState as Gen50State;", false),
        ("type State = regs::gen50::VsState;", false),
        ("pub mod gen50;", false),
    ] {
        for room in [
            "driver/src/intel/gen.rs",
            "mmio-mock/src/intel/gen/gen50.rs",
        ] {
            assert_eq!(findings(room, text) == [1], reported, "{room}: {text}");
        }
    }
}

#[test]
fn tables_hand_on_no_generation_s_own_under_a_neutral_name() {
    for (room, text, reported) in [
        (
            "regs/src/gen.rs",
            "pub use gen50::VsState as ModernVsState;",
            true,
        ),
        ("regs/src/gen.rs", "pub use gen50::VsState;", true),
        ("regs/src/gen.rs", "pub use self::gen50 as modern;", true),
        (
            "regs/src/gen.rs",
            "pub mod vs { pub use super::gen50::VsState as State; }",
            true,
        ),
        (
            "regs/src/gen/late.rs",
            "pub type State = crate::gen50::VsState;",
            true,
        ),
        ("isa/src/tables.rs", "pub use gen50::TABLE;", true),
        (
            "isa/src/tables/recent.rs",
            "pub(crate) use super::gen50::TABLE as NEWEST;",
            true,
        ),
        ("regs/src/gen.rs", "pub mod gen50;", false),
        ("regs/src/gen.rs", "use gen50::VsState as State;", false),
        ("isa/src/tables.rs", "use gen50::TABLE;", false),
        (
            "regs/src/gen/gen50.rs",
            "pub use super::gen45::VsState;",
            false,
        ),
        (
            "isa/src/tables/gen50.rs",
            "pub use super::gen45::TABLE;",
            false,
        ),
    ] {
        assert_eq!(findings(room, text) == [1], reported, "{room}: {text}");
    }
}

#[test]
fn a_room_s_constants_and_modules_are_named_after_their_generation() {
    for (text, reported) in [
        ("pub const WITH_VIDEO: Verx10 = Verx10(45);", true),
        ("pub static NEWEST: &DeviceInfo = &IRONLAKE;", true),
        ("pub static NEWEST: &DeviceInfo = last();", true),
        ("pub(crate) const LATE: u32 = gen50::LENGTH;", true),
        ("#[path = \"gen50.rs\"] pub mod recent;", true),
        ("#[path = \"gen50.rs\"] mod recent;", true),
        ("pub const GEN45: Verx10 = Verx10(45);", false),
        ("const LATE: u32 = gen50::LENGTH;", false),
        ("pub static ALL: &[&DeviceInfo] = &[&IRONLAKE];", false),
        ("pub const LENGTH: u32 = 4;", false),
        ("#[path = \"gen50.rs\"] mod gen50;", false),
    ] {
        for room in [
            "isa/src/tables.rs",
            "driver/src/intel/gen.rs",
            "mmio-mock/src/intel/gen/parts.rs",
            "regs/src/gen/platform.rs",
        ] {
            assert_eq!(findings(room, text) == [1], reported, "{room}: {text}");
        }
    }
}
