//! Where generations may be named: folders, files, and rows inside of files.

use crate::source::{Kind, RustFile};

/// Folders, which end in a slash, and files. A file is no room because of its name.
const ROOMS: &[&str] = &[
    "driver/src/intel/gen.rs",
    "driver/src/intel/gen/",
    "isa/src/tables.rs",
    "isa/src/tables/",
    "mmio-mock/eu/src/gen.rs",
    "mmio-mock/eu/src/gen/",
    "mmio-mock/src/intel/gen.rs",
    "mmio-mock/src/intel/gen/",
    "regs/src/gen.rs",
    "regs/src/gen/",
    "regs/tables/",
    "ringbuf/src/gen.rs",
    "ringbuf/src/gen/",
    // Names that no table has, for this check.
    "xtask/src/gen_lint/without_table.txt",
];

/// Where restrictions on instructions stand, whose rows say for which generations they hold.
const RESTRICTIONS: &str = "isa/src/validate/";

/// Fields and arguments that hold a citation.
const CITATIONS: [&str; 1] = ["prm"];

/// Whether all of a file may name generations.
pub fn is_room(path: &str) -> bool {
    ROOMS.iter().any(|room| match room.strip_suffix('/') {
        Some(folder) => path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/')),
        None => path == *room,
    })
}

/// Whether the token is inside a `RULES` table of restrictions: each row has its generations and its source.
pub fn is_row(file: &RustFile, i: usize) -> bool {
    if !file.path.starts_with(RESTRICTIONS) {
        return false;
    }
    let begin = (0..i)
        .rev()
        .find(|&at| file.is_ident(at, "const") || file.is_ident(at, "fn"));
    begin.is_some_and(|at| {
        let ended = file.tokens[at..i].iter();
        // An array's length stands behind a `;` too, but a table of rows is a slice.
        file.is_ident(at + 1, "RULES") && !ended.clone().any(|t| t.kind == Kind::Punct(';'))
    })
}

/// Whether the literal cites a source or is the path of a file: `prm: "genxml .."`, the sources of restrictions, and what
/// `include_str!` takes.
pub fn is_citation(file: &RustFile, i: usize) -> bool {
    let before = |back: usize, name: &str| i >= back && file.is_ident(i - back, name);
    let field = i >= 2 && file.is_punct(i - 1, ':') && CITATIONS.iter().any(|name| before(2, name));
    // const NAME: &str = "..
    let constant = file.path.starts_with(RESTRICTIONS) && before(2, "str") && before(6, "const");
    let included = ["include_str", "include_bytes"].iter().any(|name| {
        let begin = i.saturating_sub(12);
        (begin..i).any(|at| {
            file.is_ident(at, name) && file.is_punct(at + 1, '!') && file.closing(at + 2) > i
        })
    });
    field || constant || included
}
