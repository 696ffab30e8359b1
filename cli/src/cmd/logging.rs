//! Messages of driver, model and node (`pr_*!`, `dev_*!`, `log`) on standard error.
//!
//! Warnings and errors are shown unless `--log` or the variable `RUST_LOG` says otherwise. Messages have no times: the
//! same run prints the same text. A thread of its own writes them: the thread that has a message may hold a lock that all clients need.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

use env_filter::Filter;
use kernel::string_helpers::escape;
use log::{Level, LevelFilter, Log, Metadata, Record};
use node::Voice;

use super::progress;

/// Variable with a filter, as other Rust programs have it.
const VARIABLE: &str = "RUST_LOG";
/// What filters of modules begin with.
const MODULES: [&str; 6] = ["crestline", "driver", "eu", "mem", "mmio_mock", "node"];
/// Messages of one place in the source that are shown when neither --log nor RUST_LOG is given.
const OF_ONE_PLACE: u32 = 10;

/// Parses what `--log` is given.
pub fn filter(text: &str) -> Result<String, String> {
    for directive in text.split('/').next().unwrap_or_default().split(',') {
        let directive = directive.trim();
        let is_level = |word: &str| word.parse::<LevelFilter>().is_ok();
        let is_module = |word: &str| MODULES.iter().any(|name| word.starts_with(name));
        let is_good = match directive.split_once('=') {
            Some((module, level)) => is_module(module) && is_level(level),
            None => is_level(directive) || is_module(directive),
        };
        if !is_good {
            return Err(format!(
                "{directive:?} is neither a level (off, error, warn, info, debug, trace) nor a module with its level, \
                such as driver=debug"
            ));
        }
    }
    Ok(text.to_owned())
}

/// What writes the messages, from the first one on.
static VOICE: OnceLock<Voice> = OnceLock::new();

/// Waits until the messages so far are written, unless standard error is not read.
pub fn settle() {
    if let Some(voice) = VOICE.get() {
        voice.wait();
    }
}

/// The program ends: waits for a reader that is late.
pub fn finish() {
    if let Some(voice) = VOICE.get() {
        voice.finish();
    }
}

/// Standard error, without a bar in the way.
struct Beside;

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        progress::beside(|| std::io::stderr().lock().write_all(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Logger {
    filter: Filter,
    /// How often each place has had something to say; `None` when all of it is shown.
    seen: Option<Mutex<HashMap<(String, u32), u32>>>,
}

/// Shows messages from now on: those that `asked` lets through, or the variable, or warnings and errors.
pub fn install(asked: Option<&str>) {
    let variable = std::env::var(VARIABLE).ok();
    let text = asked
        .or(variable.as_deref())
        .filter(|text| !text.is_empty());
    let mut builder = env_filter::Builder::new();
    let parsed = builder.try_parse(text.unwrap_or("warn"));
    if let Err(error) = parsed.map(drop) {
        // `--log` has been looked at before.
        super::say(&format!(
            "crestline: {VARIABLE}: {error}; warnings and errors are shown"
        ));
        builder = env_filter::Builder::new();
        builder.filter_level(LevelFilter::Warn);
    }
    let filter = builder.build();
    let level = filter.filter();
    let logger = Logger {
        filter,
        seen: text.is_none().then(Mutex::default),
    };
    // What was said before a panic stands before it.
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        settle();
        told(panic);
    }));
    // This is the only logger of the program.
    if log::set_boxed_logger(Box::new(logger)).is_ok() {
        log::set_max_level(level);
    }
}

impl Logger {
    /// Whether a message is one of too many from its place, and the last that is shown.
    fn is_last(&self, record: &Record<'_>) -> Option<bool> {
        let Some(seen) = &self.seen else {
            return Some(false);
        };
        let place = (
            record.file().unwrap_or_default().to_owned(),
            record.line().unwrap_or_default(),
        );
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let count = seen.entry(place).or_default();
        *count = count.saturating_add(1);
        (*count <= OF_ONE_PLACE).then_some(*count == OF_ONE_PLACE)
    }
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.filter.enabled(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        if !self.filter.matches(record) {
            return;
        }
        let Some(is_last) = self.is_last(record) else {
            return;
        };
        let text = record.args().to_string();
        let mut line = match record.level() {
            Level::Error => format!("crestline: error: {text}"),
            Level::Warn => format!("crestline: warning: {text}"),
            Level::Info => format!("crestline: {text}"),
            level => format!(
                "crestline: {}: {}: {text}",
                level.as_str().to_ascii_lowercase(),
                record.target()
            ),
        };
        if is_last {
            line.push_str(" (more of these are not shown; `--log warn` shows all)");
        }
        // One line, whatever the names in it hold.
        let line = format!("{}\n", escape(&line));
        VOICE.get_or_init(|| Voice::to(Beside)).say(line);
    }

    fn flush(&self) {
        settle();
    }
}

#[cfg(test)]
mod tests {
    use super::filter;

    #[test]
    fn levels_and_modules_are_taken_and_typing_errors_are_not() {
        for good in [
            "debug",
            "off",
            "driver=debug",
            "warn,mmio_mock::core::live=trace",
            "info/hang",
        ] {
            assert!(filter(good).is_ok(), "{good}");
        }
        for bad in ["", "debgu", "driver=lots", "warn,foo=debug", "warn,"] {
            assert!(filter(bad).is_err(), "{bad}");
        }
    }
}
