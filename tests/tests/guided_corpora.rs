//! The corpora of coverage-guided fuzzing, each input once.
//!
//! They are those of `tests/fuzz/corpus`: real data, and what libFuzzer has made of them to reach more.

use std::path::Path;

use crestline_tests::guided::TARGETS;

fn run(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let entries = std::fs::read_dir(corpus.join(name)).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in &files {
        let input = std::fs::read(file).unwrap();
        // The last one that is printed is the one that fails.
        println!("{name} {}", file.display());
        (target.run)(&input);
    }
}

/// One test a target, so that they run beside one another.
macro_rules! targets {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                run(stringify!($name));
            }
        )*

        #[test]
        fn every_target_has_a_test() {
            assert_eq!(TARGETS.map(|target| target.name), [$(stringify!($name)),*]);
        }
    };
}

targets! {
    captures exec_json assembler debugger_scripts wire ioctl_blocks batches kernels
}
