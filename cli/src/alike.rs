//! Names that a word may have been meant for.

/// How alike two names have to be for one to be meant by the other; 1 is the same.
const ALIKE: f64 = 0.6;
/// Names that a message has room for.
const MOST: usize = 3;

/// The names that are alike a word, or whose last part is alike the word's, the likeliest first; three at most. Parts end at slashes.
pub fn names(word: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let mut alike: Vec<(f64, String)> = names
        .map(|name| {
            let whole = strsim::normalized_damerau_levenshtein(word, &name);
            let end = strsim::normalized_damerau_levenshtein(last(word), last(&name));
            // Names that are alike as a whole come first.
            (whole.max(end * 0.99), name)
        })
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    alike.dedup_by(|a, b| a.1 == b.1);
    alike.into_iter().map(|(_, name)| name).take(MOST).collect()
}

/// The last part of a name.
pub(crate) fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Names as a question behind a message, with a blank before it; nothing for no names.
pub fn question(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        quoted => format!(" Did you mean {}?", quoted.join(" or ")),
    }
}
