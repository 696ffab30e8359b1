//! The corpus of `tests/filetests`: a test for each case, `KIND/FILE/CASE`.
//!
//! Every file names the source of its expectations. A filter that no name has in it is looked for in `KIND/CASE`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use crestline_tests::filetest::{KINDS, blessing, corpus, strangers, tests};
use libtest_mimic::{Arguments, Failed, Trial};

/// `KIND/CASE` of `KIND/FILE/CASE`.
fn short(name: &str) -> Option<String> {
    let (kind, rest) = name.split_once('/')?;
    Some(format!("{kind}/{}", rest.split_once('/')?.1))
}

fn every_folder_belongs_to_a_kind() -> Result<(), Failed> {
    let strangers = strangers(&corpus());
    if strangers.is_empty() {
        return Ok(());
    }
    Err(format!("folders of no kind: {strangers:?}").into())
}

fn main() {
    let mut arguments = Arguments::from_args();
    let corpus = corpus();
    let mut trials = vec![Trial::test(
        "every_folder_belongs_to_a_kind",
        every_folder_belongs_to_a_kind,
    )];
    for test in KINDS.iter().flat_map(|kind| tests(&corpus, *kind)) {
        let name = test.name.clone();
        let run = move || test.run(blessing()).map_err(Failed::from);
        trials.push(Trial::test(name, run));
    }
    if let Some(filter) = &arguments.filter {
        let exact = arguments.exact;
        let fits = |name: &str| {
            if exact {
                name == filter
            } else {
                name.contains(filter)
            }
        };
        if !trials.iter().any(|trial| fits(trial.name())) {
            trials.retain(|trial| short(trial.name()).is_some_and(|name| fits(&name)));
            arguments.filter = None;
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}
