//! Arguments that are wrong: what is said of them holds their text.

use std::process::exit;

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use kernel::string_helpers::{escape, escape_lines};

/// Says what is wrong, or shows the help that was asked for, and ends the program. Text of arguments is made safe for a
/// terminal; only then the message has no colours.
pub fn refuse(mut error: Error) -> ! {
    let values: Vec<_> = error
        .context()
        .filter(|(kind, _)| !is_own(*kind))
        .filter_map(|(kind, value)| Some((kind, escaped(value)?)))
        .collect();
    for (kind, value) in values {
        error.insert(kind, value);
    }
    let text = error.render().to_string();
    let safe = escape_lines(&text);
    if safe == text {
        error.exit();
    }
    super::say(&safe);
    exit(error.exit_code())
}

/// Whether a value is this program's own text, which may have several lines.
fn is_own(kind: ContextKind) -> bool {
    kind == ContextKind::Usage
}

/// A value without characters that a terminal obeys, when it has any.
fn escaped(value: &ContextValue) -> Option<ContextValue> {
    match value {
        ContextValue::String(text) if escape(text) != text.as_str() => {
            Some(ContextValue::String(escape(text).into_owned()))
        }
        ContextValue::Strings(texts) if texts.iter().any(|text| escape(text) != text.as_str()) => {
            let texts = texts.iter().map(|text| escape(text).into_owned());
            Some(ContextValue::Strings(texts.collect()))
        }
        // Tips.
        ContextValue::StyledStr(text) => styled(text).map(ContextValue::StyledStr),
        ContextValue::StyledStrs(texts) if texts.iter().any(|text| styled(text).is_some()) => {
            let texts = texts
                .iter()
                .map(|text| styled(text).unwrap_or_else(|| text.clone()));
            Some(ContextValue::StyledStrs(texts.collect()))
        }
        _ => None,
    }
}

/// A text with colours in the same way; the colours go.
fn styled(text: &StyledStr) -> Option<StyledStr> {
    let plain = text.to_string();
    (escape(&plain) != plain).then(|| StyledStr::from(escape(&plain).into_owned()))
}
