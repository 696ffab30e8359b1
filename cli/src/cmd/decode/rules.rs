//! What a batch does that the device's manual forbids.
//!
//! Sources of the rules: `regs::check`. Not checked: what kernels do.

use std::fmt::{self, Write};

use kernel::string_helpers::Counted;
use regs::check::{self, Options};
use regs::decode::Source;
use regs::platform::Generation;

use super::output::Output;

/// Prints the rules that a batch breaks, a line each, and how many they are. The complaint about them, if there are any.
pub fn print(
    (generation, name): (&'static Generation, &str),
    source: &mut dyn Source,
    batch: (u32, u32),
    out: &mut Output,
) -> Result<Option<String>, fmt::Error> {
    if generation.rules.is_empty() {
        writeln!(out, "no rules are written down for this device")?;
        return Ok(None);
    }
    let mut found = Vec::new();
    let mut report = |finding| found.push(finding);
    check::batch(generation, source, batch, Options::default(), &mut report);
    for finding in &found {
        let rule = generation.rules.iter().find(|r| r.name == finding.rule);
        let asks = rule.map_or("", |rule| rule.asks);
        let source = rule.map_or("", |rule| rule.source);
        writeln!(
            out,
            "{:#010x}:  {} breaks {}: {}\n    {asks} ({source})",
            finding.address, finding.command, finding.rule, finding.what
        )?;
    }
    let rules = Counted(generation.rules.len(), "rule");
    writeln!(out, "{rules} asked, {}", Counted(found.len(), "finding"))?;
    let complaint = format!(
        "{name}: {} against the device's manual",
        Counted(found.len(), "finding")
    );
    Ok((!found.is_empty()).then_some(complaint))
}
