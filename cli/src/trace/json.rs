//! Objects of JSON, member by member, without anything in between.

use std::fmt::Write as _;

/// An object under way. Writing to a String cannot fail.
pub struct Object<'a> {
    out: &'a mut String,
    first: bool,
}

impl<'a> Object<'a> {
    /// Begins an object.
    pub fn new(out: &'a mut String) -> Self {
        out.push('{');
        Object { out, first: true }
    }

    /// Begins a member.
    pub fn key(&mut self, name: &str) -> &mut String {
        if !std::mem::take(&mut self.first) {
            self.out.push(',');
        }
        let _ = write!(self.out, "\"{name}\":");
        self.out
    }

    /// A whole number.
    pub fn number(&mut self, name: &str, value: impl Into<u64>) -> &mut Self {
        let value = value.into();
        let _ = write!(self.key(name), "{value}");
        self
    }

    /// Nanoseconds as microseconds.
    pub fn micros(&mut self, name: &str, nanos: u64) -> &mut Self {
        let _ = write!(self.key(name), "{}.{:03}", nanos / 1000, nanos % 1000);
        self
    }

    /// A dword in hexadecimal, as a string.
    pub fn hex(&mut self, name: &str, value: u32) -> &mut Self {
        let _ = write!(self.key(name), "\"{value:#010x}\"");
        self
    }

    /// Several of them.
    pub fn hexes(&mut self, name: &str, values: &[u32]) -> &mut Self {
        let out = self.key(name);
        list(out, values, |out, value| {
            let _ = write!(out, "\"{value:#010x}\"");
        });
        self
    }

    /// Several whole numbers.
    pub fn numbers(&mut self, name: &str, values: &[u16]) -> &mut Self {
        let out = self.key(name);
        list(out, values, |out, value| {
            let _ = write!(out, "{value}");
        });
        self
    }

    /// True or false.
    pub fn bool(&mut self, name: &str, value: bool) -> &mut Self {
        let _ = write!(self.key(name), "{value}");
        self
    }

    /// A string.
    pub fn text(&mut self, name: &str, value: &str) -> &mut Self {
        let out = self.key(name);
        out.push('"');
        for c in value.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                c if c.is_control() => {
                    let _ = write!(out, "\\u{:04x}", u32::from(c));
                }
                c => out.push(c),
            }
        }
        out.push('"');
        self
    }

    /// A string that ends the object.
    pub fn text_end(mut self, name: &str, value: &str) {
        self.text(name, value);
        self.end();
    }

    /// Ends it.
    pub fn end(self) {
        self.out.push('}');
    }
}

/// A list of whatever.
pub fn list<T: Copy>(out: &mut String, values: &[T], mut one: impl FnMut(&mut String, T)) {
    out.push('[');
    for (n, &value) in values.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        one(out, value);
    }
    out.push(']');
}

/// A number as JSON has it; JSON has no infinity and no NaN, which become null.
pub fn float(out: &mut String, value: f32) {
    if value.is_finite() {
        let _ = write!(out, "{value}");
    } else {
        out.push_str("null");
    }
}
