//! The machine's mirror of Debian, from apt's own files (sources.list(5)).
//!
//! Both formats are read: a line for each archive, and stanzas. Not modelled: mirror lists and other methods than http and https.

use std::fs;
use std::path::Path;

/// Names of Debian's releases and of what they are called while they last.
const RELEASES: [&str; 10] = [
    "bullseye",
    "bookworm",
    "trixie",
    "forky",
    "sid",
    "oldoldstable",
    "oldstable",
    "stable",
    "testing",
    "unstable",
];

/// The first mirror of Debian in apt's directory, usually /etc/apt.
pub fn mirror(etc: &Path) -> Option<String> {
    let parts = fs::read_dir(etc.join("sources.list.d"));
    let mut paths: Vec<_> = parts
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths.insert(0, etc.join("sources.list"));
    paths.iter().find_map(|path| {
        let is_stanzas = path.extension()? == "sources";
        let text = fs::read_to_string(path).ok()?;
        if is_stanzas {
            stanzas(&text)
        } else if path.extension()? == "list" {
            lines(&text)
        } else {
            None
        }
    })
}

/// The first mirror of Debian in lines of the form `deb [options] URI suite components`.
fn lines(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let line = line.split('#').next()?.trim();
        let rest = line
            .strip_prefix("deb")
            .filter(|rest| rest.starts_with([' ', '\t', '[']))?
            .trim_start();
        let rest = match rest.strip_prefix('[') {
            Some(options) => options.split_once(']')?.1,
            None => rest,
        };
        let mut words = rest.split_whitespace();
        let (uri, suite) = (words.next()?, words.next()?);
        fit(uri, [suite].into_iter(), words)
    })
}

/// The first mirror of Debian in stanzas, whose fields may go on in lines that begin with a space.
fn stanzas(text: &str) -> Option<String> {
    let mut stanza: Vec<(String, String)> = Vec::new();
    // An empty line ends the last stanza as well.
    for line in text.lines().chain([""]) {
        if line.trim().is_empty() {
            if let Some(uri) = of_stanza(&stanza) {
                return Some(uri);
            }
            stanza.clear();
        } else if line.starts_with('#') {
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = stanza.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            stanza.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    None
}

fn of_stanza(stanza: &[(String, String)]) -> Option<String> {
    let words = |name: &str| {
        let field = stanza.iter().find(|(field, _)| field == name);
        field.map_or("", |(_, value)| value).split_whitespace()
    };
    let is_off = words("enabled").any(|word| ["no", "false", "0"].contains(&word));
    if is_off || !words("types").any(|word| word == "deb") {
        return None;
    }
    words("uris").find_map(|uri| fit(uri, words("suites"), words("components")))
}

/// An address, if what lies there is Debian itself.
fn fit<'a>(
    uri: &str,
    mut suites: impl Iterator<Item = &'a str>,
    mut components: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let is_web = ["http://", "https://"]
        .iter()
        .any(|scheme| uri.starts_with(scheme));
    let is_release = suites.any(|suite| {
        let base = suite.strip_suffix("-updates").unwrap_or(suite);
        RELEASES.contains(&base)
    });
    let has_main = components.any(|component| component == "main");
    (is_web && is_release && has_main).then(|| uri.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn the_mirror_of_a_file_of_stanzas() {
        // The form of Debian 12's images, and what sources.list(5) allows beside it.
        let text = "Types: deb\n# a comment\nURIs: http://mirror.example/debian-security\nSuites: bookworm-security\nComponents: main\n\n\
            Types: deb\nURIs: http://other.example/ubuntu\nSuites: jammy\nComponents: main\n\n\
            Types: deb-src\nURIs: http://source.example/debian\nSuites: bookworm\nComponents: main\n\n\
            Enabled: no\nTypes: deb\nURIs: http://off.example/debian\nSuites: bookworm\nComponents: main\n\n\
            types: deb deb-src\nuris: http://mirror.example/debian\nSuites: bookworm\n bookworm-updates\nComponents: contrib main\nSigned-By:\n a key\n";
        let found = stanzas(text);
        assert_eq!(found.as_deref(), Some("http://mirror.example/debian"));
    }

    #[test]
    fn the_mirror_of_a_file_of_lines() {
        let text = "# deb http://not.example/debian bookworm main\ndeb-src http://not.example/debian bookworm main\n\
            deb cdrom:[Debian]/ bookworm main\ndeb http://not.example/tools stable tools\n\
            deb [arch=amd64 signed-by=/usr/key.gpg] https://mirror.example/debian/ bookworm main contrib # here\n";
        let found = lines(text);
        assert_eq!(found.as_deref(), Some("https://mirror.example/debian/"));
        assert_eq!(lines("deb http://a.example/debian"), None);
    }

    #[test]
    fn the_mirror_of_a_machine() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(mirror(dir.path()), None);
        let parts = dir.path().join("sources.list.d");
        fs::create_dir(&parts).unwrap();
        let stanza =
            "Types: deb\nURIs: http://b.example/debian\nSuites: trixie\nComponents: main\n";
        fs::write(parts.join("b.sources.off"), stanza).unwrap();
        assert_eq!(mirror(dir.path()), None);
        fs::write(parts.join("b.sources"), stanza).unwrap();
        let found = mirror(dir.path());
        assert_eq!(found.as_deref(), Some("http://b.example/debian"));
        let line = "deb http://a.example/debian bookworm main\n";
        fs::write(dir.path().join("sources.list"), line).unwrap();
        let found = mirror(dir.path());
        assert_eq!(found.as_deref(), Some("http://a.example/debian"));
    }
}
