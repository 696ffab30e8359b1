//! Arrows between crates, read from their Cargo.toml files.

use toml::{Table, Value};

use crate::finding::Finding;
use crate::workspace::{TextFile, Workspace};

/// Package, then the packages of this workspace that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("crestline-kernel", &[]),
    ("crestline-isa", &[]),
    ("crestline-regs-meta", &[]),
    (
        "crestline-regs",
        &["crestline-kernel", "crestline-regs-meta"],
    ),
    ("crestline-ringbuf", &["crestline-regs", "crestline-kernel"]),
    (
        "crestline-driver",
        &[
            "crestline-ringbuf",
            "crestline-regs",
            "crestline-isa",
            "crestline-kernel",
        ],
    ),
    ("crestline-pci", &["crestline-kernel"]),
    ("crestline-wire", &[]),
    ("crestline-num", &[]),
    ("crestline-mem", &["crestline-regs"]),
    ("crestline-eu", &["crestline-isa", "crestline-num"]),
    ("crestline-jit", &["crestline-eu", "crestline-isa"]),
    ("crestline-tess", &[]),
    (
        "crestline-mmio-mock",
        &[
            "crestline-regs",
            "crestline-isa",
            "crestline-kernel",
            "crestline-num",
            "crestline-mem",
            "crestline-eu",
            "crestline-jit",
            "crestline-tess",
        ],
    ),
    // It has a device and no driver: what it serves has one of its own.
    (
        "crestline-vfio",
        &[
            "crestline-regs",
            "crestline-kernel",
            "crestline-mem",
            "crestline-mmio-mock",
        ],
    ),
    ("xtask", &["crestline-regs-meta"]),
    ("crestline-fuzz", &["crestline-tests"]),
];

/// Where driver and model meet: these may import every library.
const MEETING_PLACES: &[&str] = &[
    "crestline",
    "crestline-tests",
    "crestline-drm-shim",
    "crestline-node",
];

/// A dependency on a package of this workspace.
struct Dependency {
    package: String,
    line: usize,
}

/// Reports every arrow that the table does not have.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let manifests: Vec<(&TextFile, Table)> = workspace
        .text
        .iter()
        .filter(|f| f.path == "Cargo.toml" || f.path.ends_with("/Cargo.toml"))
        .filter_map(|file| match file.text.parse::<Table>() {
            Ok(table) => Some((file, table)),
            Err(error) => {
                findings.push(Finding::new(&file.path, 1, error.message()));
                None
            }
        })
        .collect();
    let shared = manifests
        .iter()
        .find(|(file, _)| file.path == "Cargo.toml")
        .and_then(|(_, table)| table.get("workspace")?.get("dependencies")?.as_table());
    for (file, table) in &manifests {
        let Some(package) = table.get("package").and_then(|p| p.get("name")) else {
            continue;
        };
        let package = package.as_str().unwrap_or_default();
        let dependencies = dependencies(file, table, shared);
        if MEETING_PLACES.contains(&package) {
            for dependency in dependencies.iter().filter(|d| d.package == "xtask") {
                let what = format!("{package} must not depend on xtask");
                findings.push(Finding::new(&file.path, dependency.line, what));
            }
            continue;
        }
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package) else {
            let what = format!("{package} has no row in the table of crate arrows");
            findings.push(Finding::new(&file.path, 1, what));
            continue;
        };
        for dependency in dependencies {
            if !allowed.contains(&dependency.package.as_str()) {
                let what = format!("{package} must not depend on {}", dependency.package);
                findings.push(Finding::new(&file.path, dependency.line, what));
            }
        }
    }
    findings
}

/// Dependencies of all kinds that are packages of this workspace.
fn dependencies(file: &TextFile, table: &Table, shared: Option<&Table>) -> Vec<Dependency> {
    const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let mut tables: Vec<&Table> = vec![table];
    if let Some(targets) = table.get("target").and_then(Value::as_table) {
        tables.extend(targets.values().filter_map(Value::as_table));
    }
    let mut out = Vec::new();
    for table in tables {
        for kind in KINDS {
            let Some(list) = table.get(kind).and_then(Value::as_table) else {
                continue;
            };
            for (key, value) in list {
                // `x.workspace = true` takes its package name from the workspace's row.
                let row = if value.get("workspace").is_some() {
                    shared.and_then(|s| s.get(key)).unwrap_or(value)
                } else {
                    value
                };
                let package = row.get("package").and_then(Value::as_str).unwrap_or(key);
                let known = ARROWS.iter().any(|(name, _)| *name == package)
                    || MEETING_PLACES.contains(&package);
                if known {
                    out.push(Dependency {
                        package: package.to_owned(),
                        line: line_of(&file.text, key),
                    });
                }
            }
        }
    }
    out
}

/// Line of a dependency's key.
fn line_of(text: &str, key: &str) -> usize {
    text.lines()
        .position(|line| {
            line.trim_start()
                .strip_prefix(key)
                .is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
        })
        .map_or(1, |i| i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: (&str, &str) = (
        "Cargo.toml",
        "[workspace.dependencies]\nregs = { path = \"regs\", package = \"crestline-regs\" }\n\
         driver = { path = \"driver\", package = \"crestline-driver\" }\n\
         ringbuf = { path = \"ringbuf\", package = \"crestline-ringbuf\" }\nlog = \"0.4\"\n",
    );

    fn findings(path: &str, text: &str) -> Vec<String> {
        let found = check(&Workspace::of(&[ROOT, (path, text)]));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn allowed_arrow() {
        let text = "[package]\nname = \"crestline-mmio-mock\"\n[dependencies]\nregs.workspace = true\nlog.workspace = true\n";
        assert!(findings("mmio-mock/Cargo.toml", text).is_empty());
    }

    #[test]
    fn model_on_driver_and_ring() {
        let text = "[package]\nname = \"crestline-mmio-mock\"\n[dependencies]\nregs.workspace = true\ndriver.workspace = true\n[dev-dependencies]\nringbuf = { workspace = true }\n";
        assert_eq!(
            findings("mmio-mock/Cargo.toml", text),
            [
                "mmio-mock/Cargo.toml:5: crestline-mmio-mock must not depend on crestline-driver",
                "mmio-mock/Cargo.toml:7: crestline-mmio-mock must not depend on crestline-ringbuf",
            ]
        );
    }

    #[test]
    fn target_dependencies_count() {
        let text = "[package]\nname = \"crestline-isa\"\n[target.'cfg(unix)'.dependencies]\nregs.workspace = true\n";
        assert_eq!(findings("isa/Cargo.toml", text).len(), 1);
    }

    #[test]
    fn meeting_places_import_all_and_new_crates_need_a_row() {
        let cli = "[package]\nname = \"crestline\"\n[dependencies]\nregs.workspace = true\ndriver.workspace = true\n";
        assert!(findings("cli/Cargo.toml", cli).is_empty());
        let new = "[package]\nname = \"crestline-new\"\n";
        assert_eq!(findings("new/Cargo.toml", new).len(), 1);
    }
}
