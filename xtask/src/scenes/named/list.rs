//! Which scenes a device has to draw, and how much of each picture has to agree.
//!
//! A line is a name, the share of the pixels in percent that have to be within 2 of the better reference, settings of the
//! driver, and a word about it. `any` in place of the share: the driver is known to be wrong, so that any picture and none
//! will do. A setting is a variable of the environment, `NAME=value`, for the device's run alone. `#` begins a comment.

use std::collections::BTreeMap;

/// What is demanded of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// Percent of the pixels that are within 2.
    Near(f64),
    /// Nothing but being offered.
    Any,
}

/// What the list says of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub demand: Demand,
    /// Variables of the environment of the device's run, and their values.
    pub settings: Vec<(String, String)>,
}

/// Lines by name.
pub type List = BTreeMap<String, Line>;

/// Reads a list; the error names the line.
pub fn parse(text: &str) -> Result<List, String> {
    let mut list = List::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else {
            continue;
        };
        let demand = match words.next() {
            Some("any") => Some(Demand::Any),
            Some(share) => share
                .parse()
                .ok()
                .filter(|share| (0.0..=100.0).contains(share))
                .map(Demand::Near),
            None => None,
        };
        let demand = demand.ok_or(format!("line {number}: {name} and no share"))?;
        let settings = words.map_while(|word| word.split_once('='));
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let line = Line {
            demand,
            settings: settings.collect(),
        };
        if list.insert(name.to_owned(), line).is_some() {
            return Err(format!("line {number}: {name} a second time"));
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn lines() {
        let text = "# all\n\nmrt any  the driver's fault\nsrgb 99.8 # more\nxfb 99 A=0 B=c  a=b\nxfb2 99  for a=b\n";
        let list = parse(text).unwrap();
        assert_eq!(list.len(), 4);
        assert_eq!(list["mrt"].demand, Demand::Any);
        assert_eq!(list["srgb"].demand, Demand::Near(99.8));
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let settings = [setting("A", "0"), setting("B", "c"), setting("a", "b")];
        assert_eq!(list["xfb"].settings, settings);
        for name in ["mrt", "srgb", "xfb2"] {
            assert!(list[name].settings.is_empty(), "{name}");
        }
        for (wrong, why) in [
            ("mrt", "line 1: mrt and no share"),
            ("\nmrt -1", "line 2: mrt and no share"),
            ("mrt 101", "line 1: mrt and no share"),
            ("mrt 1\nmrt any", "line 2: mrt a second time"),
        ] {
            assert_eq!(parse(wrong), Err(why.to_owned()));
        }
    }
}
