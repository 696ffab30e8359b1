//! Registers, snapshots, traces: what there is to look at.
//!
//! PRM: volume 4, 11.3, 3.3 (snapshots).

use std::fmt::Write as _;
use std::path::PathBuf;

use isa::operand::Type;
use mmio_mock::trace::Trace;

use super::breaks::pair;
use super::command::Words;
use super::place::{Bank, Place};
use super::registers::{Registers, row};
use super::session::Debugger;
use super::{Answer, Refusal, value};

/// Most text of a trace.
const TRACE_BYTES: usize = 64 << 20;

fn whole(registers: &Registers, bank: Bank, text: &mut String) {
    let (letter, rows) = match bank {
        Bank::Message => ("m", registers.mrf.as_slice()),
        Bank::Accumulator => ("acc", registers.acc.as_slice()),
        _ => ("r", registers.grf.as_slice()),
    };
    for (nr, each) in rows.iter().enumerate() {
        let _ = writeln!(text, "{}", row(&format!("{letter}{nr}"), each, Type::Ud));
    }
}

fn arf(registers: &Registers, text: &mut String) {
    let _ = writeln!(text, "ip 0x{:08x}", registers.ip);
    for (name, value) in registers.scalars() {
        let _ = writeln!(text, "{name} {value}");
    }
    whole(registers, Bank::Accumulator, text);
}

/// A register or an element as a line.
fn line(place: &Place, registers: &Registers) -> String {
    match (place.row(registers), place.sub) {
        (Some(all), None) => row(&place.name(), all, place.ty()),
        _ => single(place, registers),
    }
}

fn single(place: &Place, registers: &Registers) -> String {
    let ty = place.ty();
    let values: Vec<String> = place
        .read(registers)
        .into_iter()
        .map(|bits| value::shown(ty, bits))
        .collect();
    let suffix = if place.bank.has_rows() {
        format!(":{}", value::letters(ty))
    } else {
        String::new()
    };
    format!("{}{suffix} = {}", place.name(), values.join(" "))
}

impl Debugger {
    pub(super) fn do_regs(&mut self, words: &Words) -> Answer {
        let registers = self.registers()?;
        let mut text = String::new();
        let list = words.list();
        if list.is_empty() {
            whole(&registers, Bank::General, &mut text);
        }
        for word in list {
            match word {
                "grf" => whole(&registers, Bank::General, &mut text),
                "mrf" => whole(&registers, Bank::Message, &mut text),
                "arf" => arf(&registers, &mut text),
                "all" => {
                    whole(&registers, Bank::General, &mut text);
                    whole(&registers, Bank::Message, &mut text);
                    arf(&registers, &mut text);
                }
                word => range(word, &registers, &mut text)?,
            }
        }
        Ok(text)
    }

    pub(super) fn do_print(&mut self, words: &Words) -> Answer {
        let registers = self.registers()?;
        let list = words.list();
        if list.is_empty() {
            return Err("what? `print r5.3:f`".into());
        }
        let mut text = String::new();
        for word in list {
            let place: Place = word.parse()?;
            let _ = writeln!(text, "{}", single(&place, &registers));
        }
        Ok(text)
    }

    pub(super) fn do_why(&mut self, words: &Words) -> Answer {
        let list = words.list();
        let [pixel] = list.as_slice() else {
            return Err("which pixel? `why X,Y`".into());
        };
        let (x, y) = pair(pixel)?;
        if let Some((width, height)) = self.frame()
            && (u32::from(x) >= width || u32::from(y) >= height)
        {
            return Err(
                format!("pixel {x},{y} lies outside the frame of {width}x{height} pixels").into(),
            );
        }
        self.target.why((x, y))
    }

    pub(super) fn do_trace(&mut self, words: &Words) -> Answer {
        match words.list().as_slice() {
            ["off"] => {
                if self.trace.is_none() {
                    return Err("no trace is kept".into());
                }
                self.write_trace()
            }
            [file] => {
                if let Some(path) = &self.trace {
                    return Err(format!("a trace is kept already, for {}", path.display()).into());
                }
                // Now, not when the frame has run.
                std::fs::File::create(file).map_err(|e| Refusal(format!("{file}: {e}")))?;
                self.trace = Some(PathBuf::from(file));
                self.trace_anew();
                Ok(String::new())
            }
            _ => Err("where? `trace FILE`, `trace off`".into()),
        }
    }

    /// Keeps the trace of a device that was just powered on too.
    pub(super) fn trace_anew(&self) {
        if self.trace.is_some() {
            self.target
                .reach()
                .with_device(|device| device.set_trace(Trace::with_limit(TRACE_BYTES)));
        }
    }

    /// Ends the trace, if one is kept.
    pub(super) fn write_trace(&mut self) -> Answer {
        let Some(path) = self.trace.take() else {
            return Ok(String::new());
        };
        let (text, events) = self.target.reach().with_device(|device| {
            let text = device.trace().text().to_owned();
            let (events, _) = device.trace().digest();
            device.set_trace(Trace::default());
            (text, events)
        });
        std::fs::write(&path, text).map_err(|e| Refusal(format!("{}: {e}", path.display())))?;
        Ok(format!("{}: {events} events\n", path.display()))
    }
}

/// `r3:f`, `r10..r12:ud`, `f0`.
fn range(word: &str, registers: &Registers, text: &mut String) -> Answer<()> {
    let Some((first, last)) = word.split_once("..") else {
        let place: Place = word.parse()?;
        let _ = writeln!(text, "{}", line(&place, registers));
        return Ok(());
    };
    let (first, last): (Place, Place) = (first.parse()?, last.parse()?);
    let ty = last.ty.or(first.ty);
    if first.bank != last.bank
        || !first.bank.has_rows()
        || first.nr > last.nr
        || first.sub.is_some()
        || last.sub.is_some()
    {
        return Err(format!("`{word}` is no range of registers, as in r10..r13:f").into());
    }
    for nr in first.nr..=last.nr {
        let place = Place { nr, ty, ..first };
        let _ = writeln!(text, "{}", line(&place, registers));
    }
    Ok(())
}
