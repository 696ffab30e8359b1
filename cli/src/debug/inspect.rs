//! Registers, snapshots, traces: what there is to look at.
//!
//! PRM: volume 4, 11.3, 3.3 (snapshots).

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use isa::operand::Type;
use kernel::string_helpers::Counted;
use mmio_mock::Model;
use mmio_mock::ModelPlatform;
use mmio_mock::intel::trace::Trace;

use super::breaks::pair;
use super::command::Words;
use super::place::{Bank, Place};
use super::registers::{Registers, row};
use super::session::Debugger;
use super::{Answer, Refusal, value};
use crate::replay::{Attendant, Placed, Rest};
use crate::trace::{Format, Stream, stream};
use crate::{link, shown};

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
        if !self.target.is_live()
            && let Some((width, height)) = self.frame()
            && (u32::from(x) >= width || u32::from(y) >= height)
        {
            return Err(
                format!("pixel {x},{y} lies outside the frame of {width}x{height} pixels").into(),
            );
        }
        let unless = Arc::new(Unless(Arc::clone(&self.interrupt)));
        let answer = self.target.why((x, y), unless);
        if answer.is_err() && self.interrupted() {
            return Err("interrupted".into());
        }
        answer
    }

    pub(super) fn do_trace(&mut self, words: &Words) -> Answer {
        let (file, format) = match words.list().as_slice() {
            ["off"] => {
                if self.trace.is_none() {
                    return Err("no trace is kept".into());
                }
                return self.write_trace();
            }
            [file] => (*file, None),
            [file, format] => (*file, Some(*format)),
            _ => return Err("where? `trace FILE [text|jsonl|perfetto]`, `trace off`".into()),
        };
        self.file_of_command(file)?;
        if let Some(kept) = &self.trace {
            return Err(format!("a trace is kept already, for {}", shown::path(&kept.path)).into());
        }
        let path = PathBuf::from(file);
        let extension = path.extension().and_then(|e| e.to_str());
        let format = match (format, extension) {
            (Some("jsonl"), _) | (None, Some("jsonl")) => Format::Jsonl,
            (Some("perfetto"), _) | (None, Some("json")) => Format::Perfetto,
            (Some("text") | None, _) => Format::Text,
            (Some(other), _) => {
                return Err(format!(
                    "`{other}` is not a format; the formats are text jsonl perfetto"
                )
                .into());
            }
        };
        let mut kept = Kept {
            path,
            format,
            stream: None,
            text: None,
        };
        self.begin_trace(&mut kept)?;
        self.trace = Some(kept);
        Ok(String::new())
    }

    fn begin_trace(&self, kept: &mut Kept) -> Answer<()> {
        let shown = shown::path(&kept.path);
        // Now, not when the frame has run.
        let file =
            link::create(&kept.path, link::ALL).map_err(|e| Refusal(format!("{shown}: {e}")))?;
        let reach = self.target.reach();
        let device = reach.with_device(|device| device.info());
        let trace = if kept.format == Format::Text {
            kept.text = Some(file);
            Trace::with_limit(TRACE_BYTES)
        } else {
            let both = stream(kept.format, device, Box::new(file));
            let (trace, stream) = both.unzip();
            kept.stream = stream;
            trace.unwrap_or_default()
        };
        reach.with_device(|device| device.set_trace(trace));
        Ok(())
    }

    /// Keeps the trace of a device that was just powered on, from its beginning.
    pub(super) fn trace_anew(&mut self) -> Answer<()> {
        let Some(mut kept) = self.trace.take() else {
            return Ok(());
        };
        (kept.stream, kept.text) = (None, None);
        self.begin_trace(&mut kept)?;
        self.trace = Some(kept);
        Ok(())
    }

    /// Ends the trace, if one is kept.
    pub(super) fn write_trace(&mut self) -> Answer {
        let Some(mut kept) = self.trace.take() else {
            return Ok(String::new());
        };
        let shown = shown::path(&kept.path);
        let (text, events) = self.target.reach().with_device(|device| {
            let text = device.event_log().text().to_owned();
            let (events, _) = device.event_log().digest();
            device.set_trace(Trace::default());
            (text, events)
        });
        let written = match kept.stream {
            Some(stream) => stream.finish(),
            None => match &mut kept.text {
                Some(file) => file.write_all(text.as_bytes()).map(|()| events),
                None => Ok(events),
            },
        };
        let events = written.map_err(|e| Refusal(format!("{shown}: {e}")))?;
        Ok(format!("{shown}: {}\n", Counted(events, "event")))
    }
}

/// Leaves runs that are not wanted any more.
struct Unless(Arc<AtomicBool>);

impl Unless {
    fn rest(&self) -> Rest {
        if self.0.load(Ordering::SeqCst) {
            Rest::Leave
        } else {
            Rest::GoOn
        }
    }
}

impl Attendant for Unless {
    fn placed(&self, _: &Placed<'_>) -> Rest {
        self.rest()
    }

    fn passed(&self, _: &ModelPlatform) -> Rest {
        self.rest()
    }
}

/// A trace that is kept.
pub struct Kept {
    path: PathBuf,
    format: Format,
    /// Where events go as they happen; text stays with the device.
    stream: Option<Stream>,
    /// Where text goes at the end.
    text: Option<File>,
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
        return Err(format!("`{word}` is not a range of registers such as r10..r13:f").into());
    }
    for nr in first.nr..=last.nr {
        let place = Place { nr, ty, ..first };
        let _ = writeln!(text, "{}", line(&place, registers));
    }
    Ok(())
}
