//! Questions to a thread that has stopped, and their answers.
//!
//! PRM: volume 4, 11.3. `rN[.S] TYPE: VALUES` (`_` for a value that does not matter), `mN ..`, `acc0 TYPE: ..` (channels of
//! both accumulators), `f0: HEX HEX`, `a0: HEX..`, `masks: AMASK IMASK LMASK CMASK`, `depth: IF LOOP`, `emask: HEX`,
//! `cr0: HEX HEX HEX` (CR0, CR1, AIP), `n0: N N`, `ip: HEX`, `stop: WHY`, `message N: ..`, `payload N.M TYPE: ..`,
//! `messages: N`.

use eu::{Grf, Thread};
use isa::operand::Type;

use super::super::file::{Case, Problem};
use super::super::value::{Element, element, elements, squeeze};
use super::port::Bench;
use super::{Register, load, place};

/// The expectation section with true answers.
pub fn answer(
    case: &Case,
    thread: &Thread,
    stop: &str,
    bench: &Bench,
) -> Result<Vec<String>, Problem> {
    let mut out = Vec::new();
    let mut asked = false;
    for line in &case.expect {
        asked |= line.text.starts_with("stop:");
        let (head, rest) = line
            .text
            .split_once(':')
            .ok_or_else(|| line.problem("a question has a colon"))?;
        let rest = rest.trim();
        let truth = match registers(head, rest, thread, bench) {
            Some(text) => text.map_err(|what| line.problem(what))?,
            None => plain(head, rest, thread, stop, bench)
                .ok_or_else(|| line.problem(format!("unknown question `{head}`")))?,
        };
        out.push(if squeeze(&truth) == squeeze(rest) {
            line.text.clone()
        } else {
            format!("{head}: {truth}")
        });
    }
    if !asked && stop != "end" {
        out.push(format!("stop: {stop}"));
    }
    Ok(out)
}

/// Questions whose answer is compared as text.
fn plain(head: &str, rest: &str, thread: &Thread, stop: &str, bench: &Bench) -> Option<String> {
    let view = thread.view();
    let words = |words: &[u16]| {
        let texts: Vec<String> = words.iter().map(|w| format!("{w:04x}")).collect();
        texts.join(" ")
    };
    Some(match head {
        "f0" => words(&view.flag),
        "a0" => words(&view.address),
        "emask" => format!("{:04x}", thread.exec_mask()),
        "masks" => {
            let m = view.masks;
            words(&[m.amask, m.imask, m.lmask, m.cmask])
        }
        "depth" => format!("{} {}", view.masks.imsd, view.masks.lmsd),
        "cr0" => {
            let [cr0, cr1, aip] = view.control;
            format!("{cr0:08x} {cr1:08x} {aip:x}")
        }
        "n0" => format!("{} {}", view.notification[0], view.notification[1]),
        "ip" => format!("{:x}", view.ip),
        "messages" => bench.sent.len().to_string(),
        // The reason of a hang is told when nobody asks for it.
        "stop" if stop.starts_with(&format!("{rest} ")) => rest.to_owned(),
        "stop" => stop.to_owned(),
        _ => {
            let nth: usize = head.strip_prefix("message ")?.parse().ok()?;
            bench
                .sent
                .get(nth)
                .map_or_else(|| "none".to_owned(), |sent| sent.text.clone())
        }
    })
}

/// Questions for elements of registers.
fn registers(
    head: &str,
    rest: &str,
    thread: &Thread,
    bench: &Bench,
) -> Option<Result<String, String>> {
    let (name, ty) = head.rsplit_once(' ')?;
    let ty = element(ty).ok()?;
    Some(values(name, ty, rest, thread, bench))
}

fn values(
    name: &str,
    ty: Type,
    rest: &str,
    thread: &Thread,
    bench: &Bench,
) -> Result<String, String> {
    let wanted = elements(ty, rest)?;
    let acc: [Grf; 2];
    let (file, first): (&[Grf], usize) = if name == "acc0" {
        let view = thread.view().acc;
        acc = [
            std::array::from_fn(|i| view[i]),
            std::array::from_fn(|i| view[i + 8]),
        ];
        (&acc, 0)
    } else if let Some(which) = name.strip_prefix("payload ") {
        let (nth, register) = which.split_once('.').unwrap_or((which, "0"));
        let bad = || format!("`{which}` is no payload register");
        let nth: usize = nth.parse().map_err(|_| bad())?;
        let register: usize = register.parse().map_err(|_| bad())?;
        let sent = bench.sent.get(nth).ok_or_else(bad)?;
        (&sent.payload, register * 32)
    } else {
        match place(name, ty)? {
            (Register::General, at) => (thread.grf(), at),
            (Register::Message, at) => (thread.mrf(), at),
        }
    };
    let bits = |i: usize| load(file, first + i * ty.size(), ty);
    let holds = |(i, w): (usize, &Element)| w.holds(bits(i));
    if wanted.iter().enumerate().all(holds) {
        return Ok(rest.to_owned());
    }
    let texts: Vec<String> = wanted
        .iter()
        .enumerate()
        .map(|(i, w)| w.write(bits(i)))
        .collect();
    Ok(texts.join(" "))
}
