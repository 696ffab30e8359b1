//! `expect`: what scripts check.
//!
//! Each says what was expected and what was found.

use std::path::Path;

use isa::operand::Type;

use super::backend::{Reason, Stop};
use super::breaks::{pair, unit, unit_name};
use super::change::typed_address;
use super::command::Words;
use super::gate::State;
use super::place::Place;
use super::script::Source;
use super::session::Debugger;
use super::{Answer, Refusal, value};

/// What stands behind `=`, and how near it has to be.
struct Wanted {
    values: Vec<u32>,
    within: Option<f64>,
}

fn wanted(ty: Type, words: &Words) -> Answer<Wanted> {
    let (values, within) = match words.split_at("within") {
        Some((values, within)) => {
            let text = within.joined();
            let within: f64 = text
                .parse()
                .map_err(|_| Refusal(format!("`{text}` is not a number")))?;
            (values, Some(within))
        }
        None => (words.clone(), None),
    };
    Ok(Wanted {
        values: value::list(ty, &values.joined())?,
        within,
    })
}

fn compare(name: &str, ty: Type, found: &[u32], wanted: &Wanted) -> Answer {
    let shown = |list: &[u32]| {
        let list: Vec<String> = list.iter().map(|bits| value::shown(ty, *bits)).collect();
        list.join(" ")
    };
    let same = found.len() == wanted.values.len()
        && found
            .iter()
            .zip(&wanted.values)
            .all(|(a, b)| value::equal(ty, *a, *b, wanted.within));
    if same {
        return Ok(String::new());
    }
    Err(format!(
        "expected {name} = {}, found {}",
        shown(&wanted.values),
        shown(found)
    )
    .into())
}

impl Debugger {
    pub(super) fn do_expect(&mut self, words: &Words) -> Answer {
        let list = words.list();
        match list.as_slice() {
            [] => Err("what? `help expect` says what can be expected".into()),
            ["stop", rest @ ..] => self.expect_stop(rest),
            ["end"] => self.expect_end(0),
            ["end", code] => {
                let code = value::number(code)?;
                self.expect_end(code)
            }
            ["text" | "error", "", ..] => {
                Err("which text? an empty one is part of every other".into())
            }
            ["text", text] => {
                if self.printed.contains(text) {
                    return Ok(String::new());
                }
                Err(format!(
                    "expected the text `{text}`, found:\n{}",
                    self.printed.trim_end()
                )
                .into())
            }
            ["error", _, "expect", "error", _, "expect", ..] => {
                // As deep as the line is long, otherwise.
                Err("errors of errors are not expected: `expect error TEXT COMMAND`".into())
            }
            ["error", text, ..] => {
                let line = words.rest().rest().line();
                match self.execute(&line) {
                    Ok(_) => Err(format!("expected an error with `{text}`, found none").into()),
                    Err(refusal) if refusal.0.contains(text) => Ok(format!("refused: {refusal}\n")),
                    Err(refusal) => {
                        Err(format!("expected an error with `{text}`, found: {refusal}").into())
                    }
                }
            }
            _ => self.expect_value(words),
        }
    }

    fn expect_value(&mut self, words: &Words) -> Answer {
        let (before, after) = words.split_at("=").ok_or_else(|| {
            Refusal(format!(
                "`{}` cannot be expected; `help expect` lists what can",
                words.joined()
            ))
        })?;
        match before.list().as_slice() {
            ["mem", text] => {
                let (address, ty) = typed_address(text)?;
                let wanted = wanted(ty, &after)?;
                let found = self.elements(address, wanted.values.len(), ty)?;
                compare(&format!("mem {address:#x}"), ty, &found, &wanted)
            }
            ["pixel", text] => {
                let (x, y) = pair(text)?;
                let wanted = wanted(Type::Ud, &after)?;
                let picture = self.picture()?;
                let pixel = picture.pixel(x.into(), y.into()).ok_or_else(|| {
                    Refusal(format!(
                        "pixel {x},{y} lies outside the frame of {}x{} pixels",
                        picture.width, picture.height
                    ))
                })?;
                let found: Vec<u32> = pixel
                    .iter()
                    .take(wanted.values.len())
                    .map(|c| u32::from(*c))
                    .collect();
                // Colours are counted, not bits.
                let same = found.len() == wanted.values.len()
                    && found
                        .iter()
                        .zip(&wanted.values)
                        .all(|(a, b)| value::equal(Type::Ud, *a, *b, wanted.within));
                if same {
                    return Ok(String::new());
                }
                Err(format!(
                    "expected pixel {x},{y} = {:?}, found {found:?}",
                    wanted.values
                )
                .into())
            }
            [name] => {
                let place: Place = name.parse()?;
                let registers = self.registers()?;
                let wanted = wanted(place.ty(), &after)?;
                let mut found = place.read(&registers);
                if place.sub.is_some() && wanted.values.len() > 1 {
                    // From the element on.
                    let whole = Place { sub: None, ..place }.read(&registers);
                    found = whole
                        .into_iter()
                        .skip(place.sub.unwrap_or(0))
                        .take(wanted.values.len())
                        .collect();
                }
                compare(name, place.ty(), &found, &wanted)
            }
            _ => Err(format!(
                "`{}` cannot be expected; `help expect` lists what can",
                words.joined()
            )
            .into()),
        }
    }

    fn expect_end(&mut self, code: u32) -> Answer {
        let name = self.target.name().to_owned();
        match self.target.gate().ending() {
            Some(ending) if u32::from(ending.code) == code => Ok(String::new()),
            Some(ending) => Err(format!(
                "expected the end of {name} with code {code}, found: {}",
                ending.headline()
            )
            .into()),
            None => Err(format!("expected the end of {name}, which has not ended").into()),
        }
    }

    fn expect_stop(&mut self, words: &[&str]) -> Answer {
        let stop = (self.target.state() == State::Stopped)
            .then(|| self.backend.stopped())
            .flatten();
        let Some(stop) = stop else {
            return Err(format!(
                "expected a stop, but {} {}",
                self.target.name(),
                match self.target.state() {
                    State::Ready => "has not run yet",
                    State::Ended => "has ended",
                    State::Running | State::Stopped => "is not stopped",
                }
            )
            .into());
        };
        let mut rest = words;
        while let Some((word, more)) = rest.split_first() {
            rest = more;
            let argument = |rest: &mut &[&str]| -> Answer<u32> {
                let (first, more) = rest
                    .split_first()
                    .ok_or_else(|| Refusal(format!("`{word}` needs a number")))?;
                *rest = more;
                value::number(first)
            };
            let holds = match *word {
                "breakpoint" | "break" | "watch" => {
                    let number = argument(&mut rest)?;
                    stop.reason == Reason::Break(number)
                }
                "ordinal" => {
                    let ordinal = u64::from(argument(&mut rest)?);
                    stop.thread.is_some_and(|(key, _)| key.ordinal == ordinal)
                }
                "at" => {
                    let address = argument(&mut rest)?;
                    self.place().is_ok_and(|(at, _)| at == address)
                }
                "stepped" => stop.reason == Reason::Stepped,
                "ended" => stop.reason == Reason::Ended,
                "asked" => stop.reason == Reason::Asked,
                name => {
                    let wanted = unit(name).map_err(|_| {
                        Refusal(format!(
                            "`{name}` is not a property of a stop; `help expect` lists them"
                        ))
                    })?;
                    stop.thread.is_some_and(|(key, _)| key.unit == wanted)
                }
            };
            if !holds {
                return Err(format!(
                    "expected stop {}, found: {}",
                    words.join(" "),
                    self.describe(&stop)
                )
                .into());
            }
        }
        Ok(String::new())
    }

    fn describe(&self, stop: &Stop) -> String {
        let reason = match stop.reason {
            Reason::Break(number) => format!("breakpoint {number}"),
            Reason::Stepped => "stepped".to_owned(),
            Reason::Ended => "ended".to_owned(),
            Reason::Asked => "asked".to_owned(),
        };
        let thread = stop.thread.map_or_else(String::new, |(key, _)| {
            format!(", {} ordinal {}", unit_name(key.unit), key.ordinal)
        });
        let at = self
            .place()
            .map_or_else(|_| String::new(), |(at, _)| format!(", at {at:#x}"));
        format!("{reason}{thread}{at}")
    }

    pub(super) fn do_source(&mut self, words: &Words) -> Answer {
        let list = words.list();
        let [file] = list.as_slice() else {
            return Err("which file? `source FILE`".into());
        };
        self.file_of_command(file)?;
        if self.depth >= super::session::DEPTH {
            return Err(format!("{file}: scripts are nested too deeply").into());
        }
        let source = Source::read(Path::new(file))?;
        self.depth += 1;
        let mut out = String::new();
        let mut outcome = Ok(());
        for (n, line) in source.lines.iter().enumerate() {
            match self.execute(line) {
                Ok(text) => out.push_str(&text),
                Err(refusal) => {
                    outcome = Err(Refusal(format!("{file}:{}: {refusal}", n + 1)));
                    break;
                }
            }
            if self.flow() != super::Flow::GoOn {
                break;
            }
        }
        self.depth -= 1;
        outcome.map(|()| out)
    }
}
