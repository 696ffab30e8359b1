//! Frames of Mesa 22.3.6 (crocus) and the rules.
//! `tests/vectors/gen70/frames`: memory of the frames, tests/data/captures of the same names.

use std::collections::BTreeSet;

use regs::check::{self, Options};
use regs::platform::GEN70;

use crate::frames::{Memory, read};

/// Mesa starts up to 36 VS threads and 48 PS threads (intel_device_info.c `intel_device_info_byt`), more than the manual lets it.
const OTHERWISE: [&str; 2] = ["ps-threads", "vs-threads"];

#[test]
fn frames_keep_the_rules_but_for_those_that_mesa_reads_otherwise() {
    let mut rules = BTreeSet::new();
    let mut wrong = Vec::new();
    for (name, frame) in read("gen70") {
        let mut memory = Memory::of(&frame);
        let at = (frame.batch, frame.bytes);
        check::batch(&GEN70, &mut memory, at, Options::default(), &mut |f| {
            if OTHERWISE.contains(&f.rule) {
                rules.insert(f.rule);
            } else {
                wrong.push((name.clone(), f));
            }
        });
    }
    assert_eq!(wrong, []);
    assert_eq!(Vec::from_iter(rules), OTHERWISE);
}
