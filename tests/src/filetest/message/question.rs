//! Questions about a thread that sent messages, and what became of them.
//!
//! PRM: volume 4, 2.6, 2.6.11. `rN[.S] TYPE: VALUES` (`_` for a value that does not matter), `mN ..`, `mem ADDRESS TYPE: ..`,
//! `urb ROW TYPE: ..`, `stop: WHY`, `messages: N` (those delivered and those refused), `refused: N`, `rule: TEXT` (that the first refused message
//! breaks), `fault: TEXT` (the first one), `depth count: N`, `scoreboard: HEX`. What nobody asks for has to be as it is without
//! errors: the end of the program reached, no message refused, no fault (a hang that is foreseen has its own).

use eu::Grf;
use isa::operand::Type;
use mmio_mock::intel::bench::ThreadBench;
use mmio_mock::intel::urb::UrbHandle;

use super::super::eu_run::{Register, load, place};
use super::super::file::{Case, Problem};
use super::super::value::{element, elements, number, squeeze};
use super::memory;

/// The expectation section with true answers.
pub fn answer(case: &Case, bench: &ThreadBench, stop: &str) -> Result<Vec<String>, Problem> {
    let mut out = Vec::new();
    for line in &case.expect {
        let (head, rest) = line
            .text
            .split_once(':')
            .ok_or_else(|| line.problem("a question has a colon"))?;
        let rest = rest.trim();
        let truth = match plain(head, rest, bench, stop) {
            Some(text) => text,
            None => values(head, rest, bench).map_err(|what| line.problem(what))?,
        };
        out.push(if squeeze(&truth) == squeeze(rest) {
            line.text.clone()
        } else {
            format!("{head}: {truth}")
        });
    }
    for (head, harmless) in [("stop", "end"), ("refused", "0"), ("fault", "none")] {
        let asked = |l: &super::super::Line| {
            l.text.starts_with(&format!("{head}:"))
                || head == "refused" && l.text.starts_with("rule:")
        };
        // Of a hang that was foreseen the fault is the reason.
        let hang = head == "fault" && stop.starts_with("hung");
        if hang || case.expect.iter().any(asked) {
            continue;
        }
        let truth = plain(head, "", bench, stop).unwrap_or_default();
        if truth != harmless {
            out.push(format!("{head}: {truth}"));
            if head == "refused" {
                let rule = plain("rule", "", bench, stop).unwrap_or_default();
                out.push(format!("rule: {rule}"));
            }
        }
    }
    Ok(out)
}

/// Questions whose answer is compared as text.
fn plain(head: &str, rest: &str, bench: &ThreadBench, stop: &str) -> Option<String> {
    let none = || "none".to_owned();
    Some(match head {
        // The reason of a hang is told when nobody asks for it.
        "stop" if stop.starts_with(&format!("{rest} ")) => rest.to_owned(),
        "stop" => stop.to_owned(),
        "messages" => bench.messages().iter().sum::<u64>().to_string(),
        "refused" => bench.refused().to_string(),
        "rule" => bench
            .shared()
            .error
            .map_or_else(none, |e| e.what.to_owned()),
        "fault" => bench
            .faults()
            .first()
            .map_or_else(none, |f| f.fault.to_string()),
        "depth count" => bench.events().map_or(0, |e| e.depth_count).to_string(),
        "scoreboard" => {
            let clear = bench.events().map_or(0, |e| e.scoreboard_clear);
            format!("{clear:04x}")
        }
        _ => return None,
    })
}

/// Questions for elements of registers, memory and URB.
fn values(head: &str, rest: &str, bench: &ThreadBench) -> Result<String, String> {
    let unknown = || format!("unknown question `{head}`");
    let (name, ty) = head.rsplit_once(' ').ok_or_else(unknown)?;
    let ty = element(ty).map_err(|_| unknown())?;
    let wanted = elements(ty, rest)?;
    let found: Vec<u32> = if let Some(address) = name.strip_prefix("mem ") {
        memory(bench, number(address)?, ty, wanted.len())?
    } else if let Some(row) = name.strip_prefix("urb ") {
        let row = number(row)? as u16;
        (0..wanted.len())
            .map(|i| urb(bench, row, i * ty.size(), ty))
            .collect()
    } else {
        let (file, first) = place(name, ty)?;
        let thread = bench.thread().ok_or("the thread did not start")?;
        let file: &[Grf] = match file {
            Register::General => thread.grf(),
            Register::Message => thread.mrf(),
        };
        (0..wanted.len())
            .map(|i| load(file, first + i * ty.size(), ty))
            .collect()
    };
    if wanted.iter().zip(&found).all(|(w, bits)| w.holds(*bits)) {
        return Ok(rest.to_owned());
    }
    let texts: Vec<String> = wanted
        .iter()
        .zip(&found)
        .map(|(w, bits)| w.write(*bits))
        .collect();
    Ok(texts.join(" "))
}

fn urb(bench: &ThreadBench, row: u16, byte: usize, ty: Type) -> u32 {
    bench
        .urb()
        .row(UrbHandle(row), (byte / 32) as u16)
        .map_or(0, |r| load(std::slice::from_ref(r), byte % 32, ty))
}
