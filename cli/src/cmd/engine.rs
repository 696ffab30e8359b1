//! `CRESTLINE_ENGINE` and `CRESTLINE_WORKERS`: what executes kernels.

use mmio_mock::intel::td::engine::{self, Engine};
use mmio_mock::intel::td::wave;

use super::Error;

/// Variable with the name of an engine.
const VARIABLE: &str = "CRESTLINE_ENGINE";
/// Variable with a number of threads.
const WORKERS: &str = "CRESTLINE_WORKERS";
/// Most of them.
const MOST: usize = 16;

/// Chooses what the variables say, for every device of this process; without them machine code, and as many threads as there are
/// processors.
pub fn choose() -> Result<(), Error> {
    choose_workers()?;
    let Some(name) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) else {
        return Ok(());
    };
    let chosen: Result<Engine, String> = name.to_string_lossy().parse();
    let chosen = chosen.map_err(|error| format!("{VARIABLE}: {error}"))?;
    // Nothing in this process has chosen before.
    engine::choose(chosen);
    Ok(())
}

fn choose_workers() -> Result<(), Error> {
    let Some(count) = std::env::var_os(WORKERS).filter(|count| !count.is_empty()) else {
        return Ok(());
    };
    let count = count.to_string_lossy();
    let chosen = count.parse().ok().filter(|&count: &usize| count <= MOST);
    let chosen =
        chosen.ok_or_else(|| format!("{WORKERS}: {count:?} is no number from 0 to {MOST}"))?;
    // As above.
    wave::choose(chosen);
    Ok(())
}
