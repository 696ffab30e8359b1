//! Layers of the modules in `mmio-mock` and `driver`: imports go down.
//! The orders are those that ARCHITECTURE.md draws.

use crate::finding::Finding;
use crate::source::RustFile;
use crate::workspace::Workspace;

/// Where the model's modules are.
pub const SRC: &str = "mmio-mock/src/";

/// A layer: its name, its room, its modules. A module imports itself and rows below its own.
type Row = (&'static str, &'static str, &'static [&'static str]);

/// A crate whose modules stand in rooms: `core` is device-neutral, the others are vendors'.
struct House {
    /// What the rooms are of, for messages.
    what: &'static str,
    src: &'static str,
    /// From the bottom up.
    rows: &'static [Row],
    /// The crates that speak of a vendor's registers, commands and instructions.
    of_vendors: &'static [&'static str],
    /// A row whose modules still import one another.
    mutual: Option<&'static str>,
}

const HOUSES: &[House] = &[
    House {
        what: "the model",
        src: SRC,
        rows: MODEL,
        of_vendors: &["regs", "isa", "eu"],
        mutual: None,
    },
    House {
        what: "the driver",
        src: "driver/src/",
        rows: DRIVER,
        of_vendors: &["regs", "isa", "ringbuf"],
        mutual: Some(DEVICE),
    },
];

const MODEL: &[Row] = &[
    (
        "0",
        "core",
        &["bus", "clock", "fault", "line", "memory", "trace"],
    ),
    ("0 (records of faults)", "core", &["status"]),
    ("0 (what shells ask of a device)", "core", &["model"]),
    ("1", "intel", &["registers", "trace"]),
    ("2", "intel", &["irq", "status"]),
    ("2 (debug registers)", "intel", &["debug"]),
    ("2 (decode of offsets)", "intel", &["mmio"]),
    ("3", "intel", &["surface", "urb"]),
    ("3 (colour calculator)", "intel", &["cc"]),
    ("4", "intel", &["shared"]),
    ("4 (what the layers above borrow)", "intel", &["machine"]),
    ("5", "intel", &["td"]),
    ("6", "intel", &["ff", "media", "blt"]),
    ("7", "intel", &["cs"]),
    ("7 (what the parser repeats)", "intel", &["spin"]),
    ("8", "intel", &["gen", "reset"]),
    ("9", "intel", &["bench", "device"]),
    ("10 (shell)", "core", &["platform"]),
    ("10 (shell with a thread)", "core", &["live"]),
    ("11", "intel", &["platform"]),
];

/// The driver's row of modules that know Intel's device as a whole.
const DEVICE: &str = "19 (the device as a whole)";

const DRIVER: &[Row] = &[
    (
        "0",
        "core",
        &["groups", "handles", "limits", "pace", "uapi", "work"],
    ),
    ("1", "core", &["account", "line", "master", "range"]),
    ("2", "core", &["client"]),
    ("3", "core", &["fence"]),
    ("3 (what asks, and what it waits for)", "core", &["program"]),
    ("4", "core", &["gem", "reason", "syncobj", "timeline"]),
    ("5", "core", &["mmap", "shrink", "task"]),
    ("6 (what the core asks of a device)", "core", &["device"]),
    ("7", "core", &["file", "share"]),
    ("8", "core", &["call", "ends", "queue", "sync_file"]),
    ("9 (the loop that waits)", "core", &["wait"]),
    (
        "10 (the calls of DRM)",
        "core",
        &["dma_buf", "ioctl", "turn"],
    ),
    (
        "11",
        "intel",
        &["copies", "observe", "prologue", "tiling", "uapi", "uncore"],
    ),
    ("12", "intel", &["workarounds"]),
    ("13 (rows of the generations)", "intel", &["gen"]),
    ("14", "intel", &["gtt", "identity", "sample", "switch"]),
    ("15", "intel", &["context", "gem"]),
    ("16", "intel", &["file", "timeline"]),
    ("17", "intel", &["engine", "error_state"]),
    ("18", "intel", &["irq"]),
    (DEVICE, "intel", &["debug", "device", "hangcheck"]),
    ("20", "intel", &["call", "driver", "neutral", "request"]),
    ("21", "intel", &["extension"]),
    ("22 (the way into the ring)", "intel", &["exec"]),
    ("23 (the calls of i915)", "intel", &["ioctl"]),
];

/// The room that knows no vendor.
const NEUTRAL: &str = "core";

/// The file's module below `src`, as path segments; the crate root has none.
pub fn module_of(src: &str, path: &str) -> Option<Vec<String>> {
    let below = path.strip_prefix(src)?.strip_suffix(".rs")?;
    if below == "lib" {
        return Some(Vec::new());
    }
    Some(below.split('/').map(str::to_owned).collect())
}

/// Reports imports that go up or sideways, and modules without a row.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    HOUSES
        .iter()
        .flat_map(|house| check_house(house, workspace))
        .collect()
}

fn check_house(house: &House, workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let reexports = workspace
        .rust
        .iter()
        .find(|f| f.path == format!("{}lib.rs", house.src))
        .map(reexports)
        .unwrap_or_default();
    for file in &workspace.rust {
        let Some(module) = module_of(house.src, &file.path) else {
            continue;
        };
        if module.first().is_some_and(|room| room == NEUTRAL) {
            findings.extend(house.vendors_in(file, &module, &reexports));
        }
        // The crate root, and the files that list the modules of a room.
        let [room, top, ..] = module.as_slice() else {
            if module
                .first()
                .is_some_and(|room| !house.is_room(room) && room != "tests")
            {
                let what = format!("`{}` is no room of {}", module[0], house.what);
                findings.push(Finding::new(&file.path, 1, what));
            }
            continue;
        };
        let Some(row) = house.row_of(&module) else {
            if module.len() == 2 && top != "tests" {
                let what = format!("module `{room}::{top}` has no row in the table of layers");
                findings.push(Finding::new(&file.path, 1, what));
            }
            continue;
        };
        for path in file.crate_paths(&module) {
            let Some(first) = path.segments.first().filter(|_| !path.test) else {
                continue;
            };
            let target = reexports
                .iter()
                .find(|(name, _)| name == first)
                .map_or(path.segments.as_slice(), |(_, module)| module);
            if target.starts_with(&module[..2]) {
                continue;
            }
            let ours = house.rows[row].0;
            let mutual = |target| target == row && house.mutual == Some(ours);
            if let Some(above) =
                (house.row_of(target)).filter(|&target| target >= row && !mutual(target))
            {
                let what = format!(
                    "`{room}::{top}` (layer {}) imports `{}` of layer {}",
                    ours,
                    path.segments.join("::"),
                    house.rows[above].0
                );
                findings.push(Finding::new(&file.path, path.line, what));
            }
        }
    }
    findings
}

impl House {
    /// The row of a path that begins with a room and a module of it.
    fn row_of(&self, path: &[String]) -> Option<usize> {
        let [room, module, ..] = path else {
            return None;
        };
        let is = |row: &Row| row.1 == room && row.2.contains(&module.as_str());
        self.rows.iter().position(is)
    }

    fn is_room(&self, name: &str) -> bool {
        self.rows.iter().any(|(_, room, _)| *room == name)
    }

    /// Names of vendors' rooms, and of crates about their devices, in the neutral room.
    fn vendors_in(
        &self,
        file: &RustFile,
        module: &[String],
        reexports: &[(String, Vec<String>)],
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        for path in file.crate_paths(module).iter().filter(|path| !path.test) {
            let first = path.segments.first().map_or("", String::as_str);
            let room = reexports
                .iter()
                .find(|(name, _)| name == first)
                .and_then(|(_, from)| from.first())
                .map_or(first, String::as_str);
            if room != NEUTRAL && self.is_room(room) {
                let what = format!(
                    "`{}` knows no vendor and imports `{}`",
                    module.join("::"),
                    path.segments.join("::")
                );
                findings.push(Finding::new(&file.path, path.line, what));
            }
        }
        for (i, token) in file.tokens.iter().enumerate() {
            let foreign = self.of_vendors.iter().find(|name| file.is_ident(i, name));
            let inside = i >= 2 && file.is_path_sep(i - 2);
            if let Some(name) = foreign
                && file.is_path_sep(i + 1)
                && !inside
                && !token.test
            {
                let what = format!(
                    "`{}` knows no vendor and names the crate `{name}`",
                    module.join("::")
                );
                findings.push(Finding::new(&file.path, token.line, what));
            }
        }
        findings
    }
}

/// Names that the crate root passes on, with the path of the module they come from.
fn reexports(root: &RustFile) -> Vec<(String, Vec<String>)> {
    let mut out = Vec::new();
    for i in 0..root.tokens.len() {
        // `pub use crate::room::module::Name;` is the only form in use.
        if root.is_ident(i, "pub") && root.is_ident(i + 1, "use") {
            let names: Vec<String> = root.tokens[i + 2..]
                .iter()
                .take_while(|t| t.kind != crate::source::Kind::Punct(';'))
                .filter_map(|t| match &t.kind {
                    crate::source::Kind::Ident(name) if name != "crate" => Some(name.clone()),
                    _ => None,
                })
                .collect();
            if let Some((name, module)) = names.split_last() {
                out.push((name.clone(), module.to_vec()));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRIVER_LIB: (&str, &str) = (
        "driver/src/lib.rs",
        "pub use crate::core::gem::Object;\npub use crate::intel::device::Device;",
    );

    const LIB: (&str, &str) = (
        "mmio-mock/src/lib.rs",
        "pub use crate::core::fault::UnitFault;\npub use crate::intel::device::Device;",
    );

    fn findings(path: &str, text: &str) -> Vec<String> {
        let found = check(&Workspace::of(&[LIB, DRIVER_LIB, (path, text)]));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn down_is_allowed() {
        let text =
            "use crate::intel::td::Td;\nuse crate::{UnitFault, intel::urb};\nuse super::state::X;";
        assert!(findings("mmio-mock/src/intel/ff/vs.rs", text).is_empty());
    }

    #[test]
    fn up_and_sideways_are_not() {
        assert_eq!(
            findings(
                "mmio-mock/src/intel/td.rs",
                "\nuse crate::intel::ff::Pipeline;"
            ),
            [
                "mmio-mock/src/intel/td.rs:2: `intel::td` (layer 5) imports `intel::ff::Pipeline` of layer 6"
            ]
        );
        assert_eq!(
            findings(
                "mmio-mock/src/intel/blt.rs",
                "fn f() { crate::intel::ff::g() }"
            )
            .len(),
            1
        );
        assert_eq!(
            findings(
                "mmio-mock/src/intel/cs/mi.rs",
                "use super::super::device::X;"
            )
            .len(),
            1
        );
    }

    #[test]
    fn a_name_of_the_root_counts_as_its_module() {
        assert_eq!(
            findings("mmio-mock/src/intel/cs.rs", "use crate::Device;").len(),
            1
        );
    }

    #[test]
    fn tests_may_look_around() {
        let text = "#[cfg(test)]\nmod tests { use crate::intel::device::Device; }";
        assert!(findings("mmio-mock/src/intel/td.rs", text).is_empty());
        let files = [
            ("mmio-mock/src/intel/td.rs", "#[cfg(test)]\nmod tests;"),
            (
                "mmio-mock/src/intel/td/tests.rs",
                "use crate::intel::device::Device;",
            ),
        ];
        assert!(check(&Workspace::of(&files)).is_empty());
    }

    #[test]
    fn the_neutral_room_knows_no_vendor() {
        let up = "\nuse crate::intel::device::Device;";
        assert_eq!(
            findings("mmio-mock/src/core/bus.rs", up),
            [
                "mmio-mock/src/core/bus.rs:2: `core::bus` (layer 0) imports `intel::device::Device` of layer 9",
                "mmio-mock/src/core/bus.rs:2: `core::bus` knows no vendor and imports `intel::device::Device`",
            ][..]
            .iter()
            .rev()
            .copied()
            .collect::<Vec<_>>()
        );
        // Also where the order of layers alone would allow it: in the shells, and in the file of the room itself.
        for path in [
            "mmio-mock/src/core/live/thread.rs",
            "mmio-mock/src/core/platform.rs",
            "mmio-mock/src/core.rs",
        ] {
            for planted in [
                "use crate::intel::r#gen::DeviceInfo;",
                "use crate::Device;",
                "use regs::ids::RegId;",
                "fn f(isa: isa::Verx10) {}",
            ] {
                assert_eq!(findings(path, planted).len(), 1, "{path}: {planted}");
            }
        }
        let neutral = "use crate::UnitFault;\nuse super::bus::regs::X;\nuse kernel::io::Io;\nfn f() { let regs = 1; regs.g() }\n#[cfg(test)]\nmod tests { use crate::Device; }";
        assert!(findings("mmio-mock/src/core/live.rs", neutral).is_empty());
    }

    #[test]
    fn the_core_of_the_driver_knows_no_vendor() {
        for path in [
            "driver/src/core/fence.rs",
            "driver/src/core/ioctl/base.rs",
            "driver/src/core.rs",
        ] {
            for planted in [
                "use crate::intel::uapi::gem;",
                "use crate::Device;",
                "use regs::ids::RegId;",
                "use ringbuf::RingBuffer;",
                "fn f(isa: isa::Verx10) {}",
            ] {
                let found = findings(path, planted);
                let told = found.iter().any(|line| line.contains("knows no vendor"));
                assert!(told, "{path}: {planted}: {found:?}");
            }
        }
        let neutral = "use crate::Object;\nuse crate::core::client::Client;\nuse kernel::io::Io;\n#[cfg(test)]\nmod tests { use crate::Device; }";
        assert!(findings("driver/src/core/file.rs", neutral).is_empty());
    }

    #[test]
    fn the_driver_has_layers() {
        let up = "use crate::core::file::File;";
        assert_eq!(
            findings("driver/src/core/gem.rs", up),
            [
                "driver/src/core/gem.rs:1: `core::gem` (layer 4) imports `core::file::File` of layer 7"
            ]
        );
        let down = "use crate::core::file::File;\nuse crate::core::fence::Fence;";
        assert!(findings("driver/src/core/wait.rs", down).is_empty());
        assert_eq!(
            findings("driver/src/intel/gtt.rs", "use crate::Device;").len(),
            1
        );
        // The modules that know the device as a whole know one another.
        assert!(findings("driver/src/intel/debug.rs", "use crate::Device;").is_empty());
    }

    #[test]
    fn a_new_module_needs_a_row() {
        assert_eq!(findings("mmio-mock/src/intel/new.rs", "").len(), 1);
        assert_eq!(findings("mmio-mock/src/core/new.rs", "").len(), 1);
        assert_eq!(findings("mmio-mock/src/new.rs", "").len(), 1);
        assert_eq!(findings("driver/src/intel/new.rs", "").len(), 1);
        assert_eq!(findings("driver/src/core/new.rs", "").len(), 1);
        assert_eq!(findings("driver/src/new.rs", "").len(), 1);
    }
}
