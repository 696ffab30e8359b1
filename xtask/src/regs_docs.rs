//! `docs/regs/`, generated from the register tables.
//! The generator itself lives with the tables, in `regs_meta`.

use std::path::Path;

/// Writes the pages or, with `check`, compares them; false when they differ or cannot be made.
pub fn run(root: &Path, check: bool) -> bool {
    let tables = root.join("regs/tables/intel");
    let pages = root.join("docs/regs/intel");
    match regs_meta::docs(&tables, &pages, check) {
        Ok(pages) => {
            println!("regs-docs: ok, {pages} pages");
            true
        }
        Err(error) => {
            println!("docs/regs:1: {error}");
            println!("regs-docs: run `cargo xtask regs-docs`");
            false
        }
    }
}
