//! Layers of the modules inside `mmio-mock`: each imports only lower ones.
//! No PRM chapter. The order is the one that ARCHITECTURE.md draws.

use crate::finding::Finding;
use crate::source::RustFile;
use crate::workspace::Workspace;

/// Where the model's modules are.
pub const SRC: &str = "mmio-mock/src/";

/// Rows from the bottom up. A module imports itself and rows below its own.
const ROWS: &[(&str, &[&str])] = &[
    ("0", &["atomics", "fault"]),
    ("1", &["bus", "trace"]),
    ("2", &["irq", "status"]),
    ("2 (debug registers)", &["debug"]),
    ("2 (decode of offsets)", &["mmio"]),
    ("3", &["surface", "urb"]),
    ("3 (colour calculator)", &["cc"]),
    ("4", &["shared"]),
    ("4 (what the layers above borrow)", &["machine"]),
    ("5", &["td"]),
    ("6", &["ff", "media", "blt"]),
    ("7", &["cs"]),
    ("7 (what the parser repeats)", &["spin"]),
    ("8", &["gen", "reset"]),
    ("9", &["bench", "device"]),
    ("9 (shell)", &["platform"]),
    ("9 (shell with a thread)", &["live"]),
];

/// The file's module below `mmio-mock/src`, as path segments; the crate root has none.
pub fn module_of(path: &str) -> Option<Vec<String>> {
    let below = path.strip_prefix(SRC)?.strip_suffix(".rs")?;
    if below == "lib" {
        return Some(Vec::new());
    }
    Some(below.split('/').map(str::to_owned).collect())
}

fn row_of(module: &str) -> Option<usize> {
    ROWS.iter().position(|(_, names)| names.contains(&module))
}

/// Reports imports that go up or sideways, and modules without a row.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let reexports = workspace
        .rust
        .iter()
        .find(|f| f.path == format!("{SRC}lib.rs"))
        .map(reexports)
        .unwrap_or_default();
    for file in &workspace.rust {
        let Some(module) = module_of(&file.path) else {
            continue;
        };
        let Some(top) = module.first() else { continue };
        let Some(row) = row_of(top) else {
            if module.len() == 1 {
                let what = format!("module `{top}` has no row in the table of layers");
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
                .map_or(first, |(_, module)| module);
            if target == top {
                continue;
            }
            if let Some(above) = row_of(target).filter(|&target| target >= row) {
                let what = format!(
                    "`{top}` (layer {}) imports `{}` of layer {}",
                    ROWS[row].0,
                    path.segments.join("::"),
                    ROWS[above].0
                );
                findings.push(Finding::new(&file.path, path.line, what));
            }
        }
    }
    findings
}

/// Names that the crate root passes on, with the module they come from.
fn reexports(root: &RustFile) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for i in 0..root.tokens.len() {
        // `pub use module::Name;` is the only form in use.
        if root.is_ident(i, "pub") && root.is_ident(i + 1, "use") {
            let names: Vec<&str> = root.tokens[i + 2..]
                .iter()
                .take_while(|t| t.kind != crate::source::Kind::Punct(';'))
                .filter_map(|t| match &t.kind {
                    crate::source::Kind::Ident(name) => Some(name.as_str()),
                    _ => None,
                })
                .collect();
            if let Some((module, rest)) = names.split_first() {
                out.extend(rest.iter().map(|n| ((*n).to_owned(), (*module).to_owned())));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: (&str, &str) = (
        "mmio-mock/src/lib.rs",
        "pub use fault::UnitFault;\npub use device::Device;",
    );

    fn findings(path: &str, text: &str) -> Vec<String> {
        let found = check(&Workspace::of(&[LIB, (path, text)]));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn down_is_allowed() {
        let text = "use crate::td::Td;\nuse crate::{UnitFault, urb};\nuse super::state::X;";
        assert!(findings("mmio-mock/src/ff/vs.rs", text).is_empty());
    }

    #[test]
    fn up_and_sideways_are_not() {
        assert_eq!(
            findings("mmio-mock/src/td.rs", "\nuse crate::ff::Pipeline;"),
            ["mmio-mock/src/td.rs:2: `td` (layer 5) imports `ff::Pipeline` of layer 6"]
        );
        assert_eq!(
            findings("mmio-mock/src/blt.rs", "fn f() { crate::ff::g() }").len(),
            1
        );
        assert_eq!(
            findings("mmio-mock/src/cs/mi.rs", "use super::super::device::X;").len(),
            1
        );
    }

    #[test]
    fn a_name_of_the_root_counts_as_its_module() {
        assert_eq!(
            findings("mmio-mock/src/cs.rs", "use crate::Device;").len(),
            1
        );
    }

    #[test]
    fn tests_may_look_around() {
        let text = "#[cfg(test)]\nmod tests { use crate::device::Device; }";
        assert!(findings("mmio-mock/src/td.rs", text).is_empty());
        assert!(findings("mmio-mock/src/td/tests.rs", "use crate::device::Device;").is_empty());
    }

    #[test]
    fn a_new_module_needs_a_row() {
        assert_eq!(findings("mmio-mock/src/new.rs", "").len(), 1);
    }
}
