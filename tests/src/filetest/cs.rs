//! Kind `cs`: commands on a bare device, then memory, registers and faults.
//!
//! PRM: volumes 1 and 2 (commands). Statements are those of `bench.rs`. Questions: `mem ADDRESS: DWORDS`,
//! `status DWORD: DWORDS` (hardware status page), `reg NAME [& MASK] = VALUE`, `idle: yes`, `irq: no`, and for each fault in
//! turn `fault: WORDS THAT IT CONTAINS`. A fault that nobody expects and a device that is not idle fail.

use super::Kind;
use super::bench::Bench;
use super::file::{Case, File, Problem};
use super::value::{dwords, number};
use mmio_mock::Model;

/// The kind.
pub struct Cs;

impl Kind for Cs {
    fn name(&self) -> &'static str {
        "cs"
    }

    fn options(&self) -> &'static [&'static str] {
        &["device"]
    }

    fn run(&self, file: &File, case: &Case) -> Result<Vec<String>, Problem> {
        let mut bench = Bench::new(file, case, |_, _| {
            Err("`read` belongs to kind `debug`".to_owned())
        })?;
        let mut out = Vec::new();
        let mut faults = faults(&bench).into_iter();
        let mut idle_asked = false;
        for line in &case.expect {
            let text = line.text.as_str();
            idle_asked |= text.starts_with("idle:");
            let answer = if let Some(wanted) = text.strip_prefix("fault:") {
                match faults.next() {
                    Some(fault) if fault.contains(wanted.trim()) => text.to_owned(),
                    Some(fault) => format!("fault: {fault}"),
                    None => continue,
                }
            } else {
                answer(&mut bench, text).map_err(|what| line.problem(what))?
            };
            out.push(answer);
        }
        out.extend(faults.map(|fault| format!("fault: {fault}")));
        if !idle_asked && !bench.device.idle() {
            out.push("idle: no".to_owned());
        }
        Ok(out)
    }
}

/// Faults as text, oldest first.
fn faults(bench: &Bench) -> Vec<String> {
    let records = bench.device.status().faults().iter();
    records
        .map(|r| format!("{}: {}", r.place, r.fault))
        .collect()
}

fn answer(bench: &mut Bench, text: &str) -> Result<String, String> {
    let yes = |on: bool| if on { "yes" } else { "no" };
    let (head, rest) = text
        .split_once([':', '='])
        .ok_or("a question has a colon")?;
    let (verb, what) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
    match verb {
        "idle" => Ok(format!("idle: {}", yes(bench.device.idle()))),
        "irq" => Ok(format!("irq: {}", yes(bench.device.irq_line()))),
        "reg" => {
            let (name, mask) = what.split_once('&').unwrap_or((what, "0xffffffff"));
            let mask = number(mask.trim())?;
            let value = bench.register(name.trim())? & mask;
            if value == number(rest.trim())? {
                return Ok(text.to_owned());
            }
            Ok(format!("{} = {value:#010x}", head.trim()))
        }
        "mem" | "status" => {
            let wanted = dwords(rest)?;
            let at = number(what)?;
            let found = if verb == "mem" {
                bench.dwords(at, wanted.len())?
            } else {
                bench.status_page(at, wanted.len())?
            };
            if found == wanted {
                return Ok(text.to_owned());
            }
            let texts: Vec<String> = found.iter().map(|d| format!("{d:08x}")).collect();
            Ok(format!("{head}: {}", texts.join(" ")))
        }
        _ => Err(format!("unknown question `{verb}`")),
    }
}
