//! Every command of README.md runs.
//!
//! To edit the page one has to know what counts as a command:
//! - each line of an indented or fenced block, unless the fence says ```` ```text ````. Where lines of a block begin with
//!   `$ `, those are its commands and the others are output;
//! - each code span in running text that begins with `crestline`, `cargo`, `cc` or `apt` and has an argument.
//!
//! Commands run one after the other, in one directory, with the repository's `tests`, `docs` and `examples` in it; what
//! they write stays there. Each ends with exit code 0. `# ..` behind a command is the shell's comment.
//! - `crestline`, `target/release/crestline` and `cargo run --release [-- ..]` run the program under test;
//! - of a code span with nothing but a subcommand the help is asked for;
//! - other `cargo` and `apt` lines are not run: they have run where this test runs, or change the machine. Their subcommand
//!   is looked at;
//! - in code spans `[..]` is left out, of `a|b` and `a | b` the first is taken, and words of capitals stand for the values
//!   of [`PLACEHOLDERS`]; blocks run as they are;
//! - `cc`, and `crestline exec` and `debug` with `-- PROGRAM`, need Mesa with a driver for Gen4, its headers and the shim.
//!   Where one of them is missing these commands, and those that name what they would have written, are skipped, and the
//!   test prints each of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{PROGRAM, crestline, ok, scratch};

/// What words of capitals stand for.
const PLACEHOLDERS: [(&str, &str); 18] = [
    ("CAPTURE", "c_gouraud"),
    ("X,Y", "100,100"),
    ("WxH", "16x32"),
    ("FILE.html", "page.html"),
    ("FILE.asm", "docs/eu/saxpy.asm"),
    ("FILE.bin", "kernel.bin"),
    ("KERNEL.asm", "examples/kernels/blur.asm"),
    ("FILE", "file.out"),
    ("DIR", "directory"),
    ("PROGRAM", "target/glscenes -s c -o program.ppm"),
    ("NAME", "INSTPM"),
    ("VALUE", "0x40"),
    ("A", "docs/gears.png,format=r8"),
    ("B", "b.png"),
    ("G", "4"),
    ("U", "CS"),
    ("FORMAT", "jsonl"),
    ("N", "4"),
];

/// A command and the line that it stands on.
struct Line {
    number: usize,
    text: String,
    is_span: bool,
}

const PROGRAMS: [&str; 5] = [
    "crestline",
    "target/release/crestline",
    "cargo",
    "cc",
    "apt",
];

fn is_command(text: &str) -> bool {
    text.split_once(' ')
        .is_some_and(|(program, rest)| PROGRAMS.contains(&program) && !rest.trim().is_empty())
}

/// The commands of a page.
fn commands(page: &str) -> Vec<Line> {
    let mut found = Vec::new();
    let mut block: Vec<Line> = Vec::new();
    let mut fence: Option<String> = None;
    let mut before_is_blank = true;
    for (number, line) in (1..).zip(page.lines().chain([""])) {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            if fence.take().is_none() {
                fence = Some(language.trim().to_owned());
            } else {
                end_block(&mut block, &mut found);
            }
            continue;
        }
        let indented = line.strip_prefix("    ");
        let is_block = !block.is_empty() || before_is_blank;
        match (&fence, indented) {
            (Some(language), _) if language == "text" => {}
            (Some(_), _) => block.push(Line {
                number,
                text: line.to_owned(),
                is_span: false,
            }),
            (None, Some(text)) if is_block => block.push(Line {
                number,
                text: text.to_owned(),
                is_span: false,
            }),
            _ => {
                end_block(&mut block, &mut found);
                // Between backquotes.
                let spans = line.split('`').skip(1).step_by(2);
                found.extend(spans.filter(|span| is_command(span)).map(|span| Line {
                    number,
                    text: span.to_owned(),
                    is_span: true,
                }));
            }
        }
        before_is_blank = line.trim().is_empty();
    }
    found
}

fn end_block(block: &mut Vec<Line>, found: &mut Vec<Line>) {
    let has_prompts = block.iter().any(|line| line.text.starts_with("$ "));
    for line in block.drain(..) {
        let text = match line.text.strip_prefix("$ ") {
            Some(text) => text,
            None if has_prompts => continue,
            None => &line.text,
        };
        let text = text.trim().to_owned();
        if !text.is_empty() && !text.starts_with('#') {
            found.push(Line { text, ..line });
        }
    }
}

/// The command with values for its placeholders; the word that has none otherwise.
fn filled(text: &str) -> Result<String, String> {
    let mut text = text.split(" | ").next().unwrap_or_default().to_owned();
    // The innermost brackets first. Elements of arrays (`FENCE[3]`) have no blank before the bracket.
    while let Some(start) = text.rfind(" [") {
        let Some(end) = text[start..].find(']') else {
            break;
        };
        text.replace_range(start..=start + end, "");
    }
    let mut words = Vec::new();
    for word in text.split(' ') {
        let is_quoted = word.contains(['"', '\'']);
        let word = match word.split_once('|') {
            Some((first, _)) if !is_quoted && !first.is_empty() => first,
            _ => word,
        };
        if let Some((_, value)) = PLACEHOLDERS.iter().find(|(name, _)| *name == word) {
            words.push((*value).to_owned());
            continue;
        }
        let capitals = word.chars().next().is_some_and(char::is_uppercase)
            && word.chars().all(|c| c.is_uppercase() || ",.".contains(c));
        // A register of the manual is a name and no placeholder.
        if capitals && !["INSTPM"].contains(&word) {
            return Err(word.to_owned());
        }
        words.push(word.to_owned());
    }
    Ok(words.join(" "))
}

/// Why programs of Mesa cannot run here, if they cannot.
pub fn without_mesa() -> Option<String> {
    let headers = ["EGL/egl.h", "GLES2/gl2.h", "gbm.h"];
    for header in headers {
        let path = Path::new("/usr/include").join(header);
        if !path.is_file() {
            return Some(format!("{} is missing", path.display()));
        }
    }
    let libraries = std::fs::read_dir("/usr/lib")
        .into_iter()
        .flatten()
        .flatten();
    let mut drivers = libraries.map(|dir| dir.path().join("dri/crocus_dri.so"));
    if !drivers.any(|driver| driver.exists()) {
        return Some("there is no crocus_dri.so: Mesa is missing".to_owned());
    }
    let dir = Path::new(PROGRAM).parent().unwrap();
    let shim = "libcrestline_drm_shim.so";
    if !dir.join(shim).is_file() && !dir.join("deps").join(shim).is_file() {
        return Some(format!("{shim} is not built: `cargo build`"));
    }
    let cc = Command::new("cc").arg("--version").output();
    cc.err().map(|error| format!("cc: {error}"))
}

/// The directory in which the commands run.
fn place(root: &Path) -> PathBuf {
    let dir = scratch("readme");
    std::fs::create_dir_all(dir.join("target/release")).unwrap();
    for name in ["tests", "docs", "examples"] {
        std::os::unix::fs::symlink(root.join(name), dir.join(name)).unwrap();
    }
    std::os::unix::fs::symlink(PROGRAM, dir.join("target/release/crestline")).unwrap();
    let binary = ["asm", "--gen", "4", "docs/eu/saxpy.asm", "-o", "kernel.bin"];
    ok(&crestline(&dir, &binary));
    dir
}

fn run(dir: &Path, command: &str) -> Result<(), String> {
    let mut path = Path::new(PROGRAM).parent().unwrap().as_os_str().to_owned();
    if let Some(old) = std::env::var_os("PATH") {
        path.push(":");
        path.push(old);
    }
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(dir)
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{}\n{said}", output.status))
    }
}

/// What a command that is not run does wrong, if anything.
fn looked_at(root: &Path, command: &str) -> Result<(), String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words.as_slice() {
        ["cargo", "build" | "test" | "doc" | "install" | "bench", ..] | ["apt", "install", ..] => {
            Ok(())
        }
        ["cargo", "xtask", task, ..] => {
            let source = std::fs::read_to_string(root.join("xtask/src/main.rs")).unwrap();
            let is_there = source.contains(&format!("\"{task}\""));
            is_there
                .then_some(())
                .ok_or_else(|| format!("there is no task {task}"))
        }
        _ => Err("this test does not know what to do with it; see its head".to_owned()),
    }
}

/// What a command writes that later ones may need.
fn products(command: &str) -> Vec<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let pairs = words.windows(2);
    let named =
        pairs.filter(|pair| ["-o", "--record", "--png", "--trace", "--out"].contains(&pair[0]));
    named.map(|pair| pair[1].to_owned()).collect()
}

fn needs(command: &str, missing: &BTreeSet<String>) -> bool {
    command
        .split_whitespace()
        .any(|word| missing.contains(word))
}

#[test]
fn every_command_of_the_page_runs() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = root.canonicalize().unwrap();
    let page = std::fs::read_to_string(root.join("README.md")).unwrap();
    let lines = commands(&page);
    assert!(lines.len() >= 5, "{} commands", lines.len());
    let dir = place(&root);
    let without = without_mesa();
    let mut missing = BTreeSet::new();
    let mut troubles = Vec::new();
    let mut ran = 0;
    for line in &lines {
        let mut trouble = |what: String| {
            troubles.push(format!(
                "README.md:{}: {}\n  {what}",
                line.number, line.text
            ));
        };
        let filled = if line.is_span {
            filled(&line.text)
        } else {
            Ok(line.text.clone())
        };
        let command = match filled {
            Ok(command) => command,
            Err(word) => {
                trouble(format!(
                    "{word} has no value in PLACEHOLDERS of cli/tests/readme.rs"
                ));
                continue;
            }
        };
        let plain = command.split(" #").next().unwrap_or_default().trim();
        let is_mention = line.is_span && plain.split_whitespace().count() == 2;
        let plain = match plain.strip_prefix("crestline ") {
            Some(subcommand) if is_mention => &format!("crestline {subcommand} --help"),
            _ => plain,
        };
        let command = match plain.strip_prefix("cargo run --release") {
            Some(rest) => format!("crestline{}", rest.replacen(" -- ", " ", 1)),
            None => plain.to_owned(),
        };
        let program = command.split(' ').next().unwrap_or_default();
        if ["cargo", "apt"].contains(&program) {
            if let Err(what) = looked_at(&root, &command) {
                trouble(what);
            }
            continue;
        }
        let is_live = program == "cc" || command.contains(" -- ");
        if let Some(why) = &without
            && (is_live || needs(&command, &missing))
        {
            println!("README.md:{}: skipped, {why}: {command}", line.number);
            missing.extend(products(&command));
            continue;
        }
        ran += 1;
        if let Err(what) = run(&dir, &command) {
            trouble(what);
        }
    }
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
    assert!(ran >= 3, "{ran} commands ran");
}

#[test]
fn blocks_spans_and_placeholders_are_understood() {
    let page = "Text with `crestline regs NAME` and `crestline`.\n\n    cargo build   # first\n    crestline replay g\n\n\
        ```text\ncrestline no\n```\n\n    $ crestline decode x\n    output\n\n- item:\n    not a block\n";
    let found: Vec<(usize, String)> = commands(page)
        .into_iter()
        .map(|line| (line.number, line.text))
        .collect();
    let expected = [
        (1, "crestline regs NAME"),
        (3, "cargo build   # first"),
        (4, "crestline replay g"),
        (10, "crestline decode x"),
    ];
    let expected: Vec<(usize, String)> = expected.map(|(n, text)| (n, text.to_owned())).into();
    assert_eq!(found, expected);
    assert_eq!(
        filled("crestline replay CAPTURE [--png FILE] [--stats]").unwrap(),
        "crestline replay c_gouraud"
    );
    assert_eq!(
        filled("crestline x a|b|c FENCE[3] | y").unwrap(),
        "crestline x a FENCE[3]"
    );
    assert_eq!(filled("crestline x WHATEVER").unwrap_err(), "WHATEVER");
}
