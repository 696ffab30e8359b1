//! Kind `debug`: writes and reads of registers in their order.
//!
//! PRM: volume 4, chapter 3. Statements are those of `bench.rs` and `read REGISTER [& MASK]`; the expectation has a line
//! `REGISTER = VALUE` for each read. A case with frames goes through the driver, see `debug/frame.rs`, and so
//! does one whose threads stop, see `debug/stops.rs`.

mod frame;
mod stops;

use super::Kind;
use super::bench::Bench;
use super::file::{Case, File, Problem};
use super::value::number;

/// The kind.
pub struct Debug;

impl Kind for Debug {
    fn name(&self) -> &'static str {
        "debug"
    }

    fn options(&self) -> &'static [&'static str] {
        &["device"]
    }

    fn run(&self, file: &File, case: &Case) -> Result<Vec<String>, Problem> {
        if stops::wanted(case) {
            return stops::run(file, case);
        }
        if frame::wanted(case) {
            return frame::run(file, case);
        }
        let mut out = Vec::new();
        let bench = Bench::new(file, case, |bench, what| {
            let (name, mask) = what.split_once('&').unwrap_or((what, "0xffffffff"));
            let value = bench.register(name.trim())? & number(mask.trim())?;
            let before = case.expect.get(out.len()).map_or("", |l| l.text.as_str());
            out.push(line(what, value, before));
            Ok(())
        })?;
        let faults = bench.device.status().faults().iter();
        out.extend(faults.map(|r| format!("fault: {}: {}", r.place, r.fault)));
        Ok(out)
    }
}

/// The device that a file names.
fn device(file: &File) -> Result<&str, String> {
    let name = file.option("device").map_or("gm965", |l| l.text.as_str());
    match mmio_mock::intel::r#gen::find(name) {
        Some(_) => Ok(name),
        None => Err(format!("no device `{name}`")),
    }
}

/// The line of a read, as it was if it holds.
fn line(what: &str, value: u32, before: &str) -> String {
    let holds = before
        .split_once('=')
        .is_some_and(|(name, text)| name.trim() == what.trim() && number(text.trim()) == Ok(value));
    if holds {
        before.to_owned()
    } else {
        format!("{} = {value:#010x}", what.trim())
    }
}
