//! Fixed functions do not import each other, nor do shared functions.
//! What passes between two of them is a type named in the table below.

use super::modules::{SRC, module_of};
use crate::finding::Finding;
use crate::workspace::Workspace;

/// A module whose children must not know each other.
struct Family {
    parent: &'static str,
    /// Each unit with its modules.
    units: &'static [(&'static str, &'static [&'static str])],
    /// Children that every unit may import; they import no unit.
    common: &'static [&'static str],
    /// Children that import every unit.
    switches: &'static [&'static str],
    /// Which unit, or common child, may import which types of which module: what one hands to the next.
    seams: &'static [(&'static str, &'static str, &'static [&'static str])],
}

/// The room of the model whose units these are.
const ROOM: &str = "intel";

const FAMILIES: &[Family] = &[
    Family {
        parent: "ff",
        units: &[
            ("VF", &["vf"]),
            ("VS", &["vs"]),
            ("HS", &["hs"]),
            ("TE", &["te"]),
            ("DS", &["ds"]),
            ("GS", &["gs", "gs_entry"]),
            ("SOL", &["sol"]),
            ("CL", &["cl", "clipper"]),
            ("SF", &["sf", "setup"]),
            ("WIZ", &["wiz", "windower"]),
        ],
        common: &[
            "kept", "link", "list", "payload", "reader", "spawn", "stage", "state", "topology",
        ],
        switches: &[],
        seams: &[
            ("link", "wiz", &["SetupPrimitive"]),
            (
                "SF",
                "wiz",
                &["PrimitiveKind", "ScreenVertex", "SetupPrimitive"],
            ),
        ],
    },
    Family {
        parent: "shared",
        units: &[
            ("interpolator", &["interpolator"]),
            ("math", &["math"]),
            ("null", &["null"]),
            ("spawner", &["spawner"]),
            ("URB", &["urb_msg"]),
            ("sampler", &["sampler"]),
            ("data port", &["dataport"]),
            ("gateway", &["gateway"]),
        ],
        common: &["binding", "context", "error", "groups", "places", "reader"],
        // `message` names the requests of all functions.
        switches: &["aside", "message", "router"],
        seams: &[
            ("reader", "sampler", &["BlockReader", "SamplerDesc"]),
            ("context", "interpolator", &["Planes"]),
        ],
    },
];

/// Reports a unit that imports another one, and children that belong to no unit.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for family in FAMILIES {
        for file in workspace.rust.iter().filter(|f| f.path.starts_with(SRC)) {
            let Some(module) = module_of(SRC, &file.path) else {
                continue;
            };
            let [room, parent, child, ..] = module.as_slice() else {
                continue;
            };
            if room != ROOM || parent != family.parent || family.switches.contains(&child.as_str())
            {
                continue;
            }
            let from = family.unit(child);
            if from.is_none() && !family.common.contains(&child.as_str()) && child != "tests" {
                let what = format!("`{parent}::{child}` belongs to no unit in the table of layers");
                findings.push(Finding::new(&file.path, 1, what));
                continue;
            }
            for path in file.crate_paths(&module).iter().filter(|path| !path.test) {
                let [of, target, to, rest @ ..] = path.segments.as_slice() else {
                    continue;
                };
                if of != ROOM
                    || target != family.parent
                    || family.permits(from.unwrap_or(child), to, rest)
                {
                    continue;
                }
                let what = format!(
                    "`{parent}::{child}` imports `{}` of another unit",
                    path.segments.join("::")
                );
                findings.push(Finding::new(&file.path, path.line, what));
            }
        }
    }
    findings
}

impl Family {
    fn unit(&self, child: &str) -> Option<&'static str> {
        let mut units = self.units.iter();
        units.find(|u| u.1.contains(&child)).map(|u| u.0)
    }

    fn permits(&self, from: &str, to: &str, rest: &[String]) -> bool {
        // A name of the parent itself, or of a common child.
        let Some(unit) = self.unit(to) else {
            return !self.switches.contains(&to);
        };
        from == unit
            || self.seams.iter().any(|(user, module, types)| {
                from == *user
                    && *module == to
                    && matches!(rest, [name] if types.contains(&name.as_str()))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let found = check(&Workspace::of(&[(path, text)]));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn own_parts_common_parts_and_seams() {
        let wiz = "use super::payload::PayloadLayout;\nuse super::state::DrawState;\nuse super::Step;\nuse crate::intel::td::Td;";
        assert!(findings("mmio-mock/src/intel/ff/windower.rs", wiz).is_empty());
        let sf = "use super::wiz::{SetupPrimitive, PrimitiveKind};";
        assert!(findings("mmio-mock/src/intel/ff/sf.rs", sf).is_empty());
        let router = "use super::{math, sampler};";
        assert!(findings("mmio-mock/src/intel/shared/router.rs", router).is_empty());
    }

    #[test]
    fn one_unit_in_another() {
        assert_eq!(
            findings("mmio-mock/src/intel/ff/sf.rs", "use super::wiz::Wiz;"),
            [
                "mmio-mock/src/intel/ff/sf.rs:1: `ff::sf` imports `intel::ff::wiz::Wiz` of another unit"
            ]
        );
        assert_eq!(
            findings("mmio-mock/src/intel/ff/gs.rs", "use super::vf::Vf;").len(),
            1
        );
        assert_eq!(
            findings("mmio-mock/src/intel/ff/topology.rs", "use super::vf::Vf;").len(),
            1
        );
        let deep = "use crate::intel::shared::sampler::state::Sampler;";
        assert_eq!(
            findings("mmio-mock/src/intel/shared/dataport/media.rs", deep).len(),
            1
        );
        assert_eq!(
            findings(
                "mmio-mock/src/intel/shared/math.rs",
                "use super::router::route;"
            )
            .len(),
            1
        );
    }

    #[test]
    fn a_new_child_needs_a_unit() {
        assert_eq!(findings("mmio-mock/src/intel/ff/other.rs", "").len(), 1);
    }
}
