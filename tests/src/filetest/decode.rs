//! Kind `decode`: a batch as the listing of `crestline decode`.
//!
//! PRM: volumes 1, 2 and 4 (commands and state). Statements: `batch ADDRESS: DWORDS`, `mem ADDRESS: DWORDS`, `follow: no`.
//! Expectation: `contains: TEXT` in order of appearance, `lacks: TEXT` from there on, or the whole listing. Kernels are not
//! printed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use regs::decode::{Options, Report, Source, batch};
use regs::platform::GEN40;

use super::Kind;
use super::file::{Case, File, Problem};
use super::value::{dwords, listing, number};

/// The kind.
pub struct Decode;

impl Kind for Decode {
    fn name(&self) -> &'static str {
        "decode"
    }

    fn run(&self, _: &File, case: &Case) -> Result<Vec<String>, Problem> {
        let mut memory = Words::default();
        let mut options = Options::default();
        let mut start = None;
        for line in &case.input {
            let (head, rest) = line
                .text
                .split_once(':')
                .ok_or_else(|| line.problem("a statement has a colon"))?;
            let (verb, address) = head.split_once(' ').unwrap_or((head, ""));
            if line.text == "follow: no" {
                options.follow = false;
                continue;
            }
            let at = number(address).map_err(|what| line.problem(what))?;
            let data = dwords(rest).map_err(|what| line.problem(what))?;
            match verb {
                "batch" => start = Some((at, 4 * data.len() as u32)),
                "mem" => {}
                _ => return Err(line.problem(format!("unknown statement `{verb}`"))),
            }
            let places = (0..).map(|i: u32| at.wrapping_add(4 * i));
            memory.0.extend(places.zip(data));
        }
        let (start, bytes) = start.ok_or_else(|| case.problem("no batch"))?;
        let mut text = String::new();
        let report = batch(&GEN40, &mut memory, &mut text, start, bytes, options)
            .map_err(|e| case.problem(e.to_string()))?;
        let Report {
            commands, errors, ..
        } = report;
        // Writing to a string cannot fail.
        _ = writeln!(text, "{commands} commands, {errors} errors");
        Ok(listing(&case.expect, &text))
    }
}

/// Memory of single dwords.
#[derive(Default)]
struct Words(BTreeMap<u32, u32>);

impl Source for Words {
    fn dword(&mut self, address: u32) -> Option<u32> {
        self.0.get(&address).copied()
    }
}
