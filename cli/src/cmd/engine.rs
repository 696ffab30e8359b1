//! `CRESTLINE_ENGINE`: what executes kernels.

use mmio_mock::intel::td::engine::{self, Engine};

use super::Error;

/// Variable with the name of an engine.
const VARIABLE: &str = "CRESTLINE_ENGINE";

/// Chooses the engine that the variable names, for every device of this process; without it machine code.
pub fn choose() -> Result<(), Error> {
    let Some(name) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) else {
        return Ok(());
    };
    let chosen: Result<Engine, String> = name.to_string_lossy().parse();
    let chosen = chosen.map_err(|error| format!("{VARIABLE}: {error}"))?;
    // Nothing in this process has chosen before.
    engine::choose(chosen);
    Ok(())
}
