//! Kind `regs`: a register's value explained, as by `crestline regs decode`.
//!
//! PRM: volume 1 and volume 4, chapter 3. Input: `NAME VALUE` a line. Expectation as for `decode`.

use std::fmt::Write as _;

use regs::decode::explain_register;
use regs::platform::GEN40;

use super::Kind;
use super::file::{Case, File, Problem};
use super::value::listing;

/// The kind.
pub struct Regs;

impl Kind for Regs {
    fn name(&self) -> &'static str {
        "regs"
    }

    fn run(&self, _: &File, case: &Case) -> Result<Vec<String>, Problem> {
        let mut text = String::new();
        for line in &case.input {
            let parts = line.text.split_once(' ').and_then(|(name, value)| {
                let digits = value.trim().strip_prefix("0x")?.replace('_', "");
                Some((name, u128::from_str_radix(&digits, 16).ok()?))
            });
            let (name, value) = parts.ok_or_else(|| line.problem("NAME 0xVALUE"))?;
            // Writing to a string cannot fail.
            _ = match explain_register(&GEN40, name, value) {
                Ok(explained) => write!(text, "{explained}"),
                Err(near) => writeln!(text, "no register {name}; near: {}", near.join(" ")),
            };
        }
        Ok(listing(&case.expect, &text))
    }
}
