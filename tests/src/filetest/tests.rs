//! The runner itself, on files in a folder of its own.

use std::fs;
use std::path::PathBuf;

use similar::ChangeTag::{Delete, Equal, Insert};

use super::diff::{changes, edits};
use super::{File, KINDS, Kind, tests};

/// `mov(8) g1<1>UD g2<8,8,1>UD` by intel-gen4asm.
const MOV: &str = "00600001 20200021 008d0040 00000000";
const TEXT: &str = "mov(8) g1<1>UD g2<8,8,1>UD { align1 };";

fn disasm() -> &'static dyn Kind {
    *KINDS.iter().find(|k| k.name() == "disasm").unwrap()
}

fn problem(text: &str) -> String {
    File::parse(text, disasm()).unwrap_err().to_string()
}

/// A corpus of one file.
struct Corpus(tempfile::TempDir);

impl Corpus {
    fn new(text: &str) -> Corpus {
        let corpus = Corpus(tempfile::tempdir().unwrap());
        fs::create_dir(corpus.0.path().join("disasm")).unwrap();
        fs::write(corpus.file(), text).unwrap();
        corpus
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("disasm/one.test")
    }

    /// Names of its tests and what is wrong with them, a line each.
    fn run(&self, bless: bool) -> (String, String) {
        let tests = tests(self.0.path(), disasm());
        let failures: Vec<String> = tests.iter().filter_map(|t| t.run(bless).err()).collect();
        let names: Vec<String> = tests.into_iter().map(|t| t.name).collect();
        (names.join(" "), failures.join("\n"))
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }
}

#[test]
fn headers_are_checked() {
    assert_eq!(problem("case a\n"), "1: the header lacks `; test: KIND`");
    assert_eq!(problem("; test: fly\n\n"), "1: unknown kind `fly`");
    assert_eq!(
        problem("; test: cs\n; oracle: own: x\n\n"),
        "1: kind `cs` in the folder of `disasm`"
    );
    assert_eq!(
        problem("; test: disasm\n; colour: red\n\n"),
        "2: unknown option `colour`"
    );
    assert_eq!(
        problem("; test: disasm\n; oracle: guess\n\n"),
        "2: the header lacks `; oracle: external: WHENCE` or `; oracle: own: WHY`"
    );
    let file = File::parse(
        "; test: disasm\n; oracle: own: x\n; gen: 30\n\ncase a\nexpect\n",
        disasm(),
    );
    assert_eq!(
        file.unwrap().generation().unwrap_err().to_string(),
        "3: unknown generation 30"
    );
}

#[test]
fn bodies_are_checked() {
    let head = "; test: disasm\n; oracle: external: x\n\n";
    assert_eq!(
        problem(&format!("{head}oops\n")),
        "4: this stands before the first `case`"
    );
    assert_eq!(
        problem(&format!("{head}case a\n {MOV}\n")),
        "4: case a expects nothing"
    );
    assert_eq!(
        problem(&format!("{head}case a\nexpect\n x\ncase a\n")),
        "7: second case `a`"
    );
    assert_eq!(problem(head), "3: no case");
}

#[test]
fn a_difference_names_its_line_and_the_variable() {
    let text = format!(
        "; test: disasm\n; oracle: own: x\n\ncase a\n  {MOV}\n  {MOV}\nexpect\n  ; why\n  {TEXT}\n  nop;\n"
    );
    let corpus = Corpus::new(&text);
    let (names, failures) = corpus.run(false);
    assert_eq!(names, "disasm/one/a");
    assert_eq!(
        failures,
        format!(
            "disasm/one.test:10: case a differs\n--- expected\n+++ actual\n@@ -9,2 +9,2 @@\n {TEXT}\n-nop;\n+{TEXT}\n\
             if the new text is right: BLESS=1 rewrites the file"
        )
    );
    assert_eq!(corpus.text(), text);
}

#[test]
fn blessing_keeps_comments_and_other_cases() {
    let text = |first: &str| {
        format!(
            "; test: disasm\n; oracle: own: x\n\n; About a.\ncase a\n  {MOV}\nexpect\n  ; why\n  {first}\n\n; About b.\ncase b\n  \
             {MOV}\nexpect\n  {TEXT}\n\ncase c\n  {MOV}\nexpect\n  {first}\n"
        )
    };
    let corpus = Corpus::new(&text("nop;"));
    assert_eq!(corpus.run(true).1, "");
    assert_eq!(corpus.text(), text(TEXT));
    let names = "disasm/one/a disasm/one/b disasm/one/c";
    assert_eq!(corpus.run(false), (names.to_owned(), String::new()));
}

#[test]
fn an_empty_section_is_filled() {
    let text = format!("; test: disasm\n; oracle: own: x\n\ncase a\n  {MOV}\nexpect\n");
    let corpus = Corpus::new(&text);
    assert!(corpus.run(false).1.contains("case a differs"));
    assert_eq!(corpus.run(true).1, "");
    assert_eq!(corpus.text(), format!("{text}  {TEXT}\n"));
}

#[test]
fn an_external_oracle_is_never_rewritten() {
    let text =
        format!("; test: disasm\n; oracle: external: Mesa\n\ncase a\n  {MOV}\nexpect\n  nop;\n");
    let corpus = Corpus::new(&text);
    let (_, failures) = corpus.run(true);
    let note =
        "disasm/one.test: not rewritten: its oracle is external: Mesa; BLESS=1 leaves it alone";
    assert!(failures.ends_with(note), "{failures}");
    assert_eq!(corpus.text(), text);
}

#[test]
fn problems_have_a_place() {
    let text = "; test: disasm\n; oracle: own: x\n\ncase a\n  0060\nexpect\n  nop;\n";
    let corpus = Corpus::new(text);
    assert_eq!(
        corpus.run(true).1,
        "disasm/one.test:5: an instruction has four words of eight digits (case a)"
    );
    assert_eq!(corpus.text(), text);
    let corpus = Corpus::new("case a\n");
    let unread = "disasm/one.test:1: the header lacks `; test: KIND`".to_owned();
    assert_eq!(corpus.run(true), ("disasm/one".to_owned(), unread));
    fs::remove_file(corpus.file()).unwrap();
    let (name, none) = corpus.run(true);
    assert_eq!(name, "disasm");
    assert!(none.ends_with("disasm: no *.test files here"), "{none}");
}

#[test]
fn differences_are_short() {
    let new = ["a".to_owned(), "x".to_owned(), "c".to_owned()];
    let ops = edits(&["a", "b", " c"], &new);
    let changes: Vec<_> = changes(&ops).collect();
    assert_eq!(changes, [(Equal, 0), (Delete, 1), (Insert, 1), (Equal, 2)]);
}

/// The expectation section that a case of kind `message` ought to have.
fn message(body: &str) -> Result<Vec<String>, String> {
    let kind = *KINDS.iter().find(|k| k.name() == "message").unwrap();
    let text = format!("; test: message\n; oracle: own: x\n\ncase a\n{body}");
    let file = File::parse(&text, kind).unwrap();
    kind.run(&file, &file.cases[0]).map_err(|p| p.to_string())
}

#[test]
fn messages_say_what_nobody_asked_for() {
    let buffer = "surface 5: Surface Type = SURFTYPE_BUFFER, Surface Format = R32_UINT, Surface Base Address = 0x1000, Width = 1, Surface Pitch = 3\n";
    let load = "send(16) 1 g10<1>UW g0<8,8,1>UW 0x0238e005 sampler;\n";
    let answer = message(&format!(
        "mem 0x1000 ud: 7 8\n{buffer}m2 ud: 1*8\n{load}expect\nr10 ud: 8 9\nmem 0x1004 ud: 8\n"
    ));
    assert_eq!(answer.unwrap(), ["r10 ud: 8 8", "mem 0x1004 ud: 8"]);
    // Nothing is mapped.
    let answer = message(&format!("{buffer}{load}expect\nr10 ud: 0\n")).unwrap();
    let stop = "stop: hung Read at 0x00001000: the GTT entry is not valid";
    assert_eq!(answer, ["r10 ud: 0", stop]);
    // Length 10 of type 3.
    let answer = message("send(8) 1 g10<1>UD g0<8,8,1>UD 0x02a4c005 sampler;\nexpect\nr10 ud: 0\n");
    let rule = "rule: no such combination of type and length (PRM 4.8.1.3)";
    assert_eq!(answer.unwrap(), ["r10 ud: 0", "refused: 1", rule]);
}

#[test]
fn states_of_messages_are_checked_against_their_tables() {
    let problem = |line: &str| message(&format!("{line}\nexpect\nr10 ud: 0\n")).unwrap_err();
    assert!(problem("surface 5: Colour = 1").starts_with("5: no field `Colour`; there are: "));
    assert_eq!(
        problem("surface 5: Width = 8192"),
        "5: 0x2000 does not fit `Width`"
    );
    assert_eq!(
        problem("sampler 0: Border Color Pointer = 0x10"),
        "5: 0x10 does not fit `Border Color Pointer`"
    );
    assert_eq!(problem("sampler 16: Width = 1"), "5: sampler 16 of 16");
    assert_eq!(
        problem("state 0x12000 NONE: A = 1"),
        "5: no structure `NONE`"
    );
    assert_eq!(
        problem("surface 5: Surface Type = SURFTYPE_4D"),
        "5: `SURFTYPE_4D` is no value of `Surface Type`"
    );
    assert_eq!(problem("border 0: 1 2 3"), "5: four channels");
    assert_eq!(problem("q1 ud: 1"), "5: `q1` is no register");
}

/// What a case of kind `debug` comes to: its results, or the line of its problem and what it is.
fn debug(device: &str, statements: &str) -> Result<Vec<String>, String> {
    let kind = *KINDS.iter().find(|k| k.name() == "debug").unwrap();
    let body = statements.replace('\n', "\n  ");
    let text = format!(
        "; test: debug\n; device: {device}\n; oracle: own: x\n\ncase a\n  {body}\nexpect\n  x\n"
    );
    let file = File::parse(&text, kind).unwrap();
    let run = kind.run(&file, &file.cases[0]);
    run.map_err(|problem| problem.to_string())
}

#[test]
fn statements_of_stops_are_checked() {
    let kernel = "pixel: nop.breakpoint;\npixel: mov(8) m2<1>UD g1<8,8,1>UD { align1 nomask };\npixel: send(16) 1 null<1>UW g0<8,8,1>UW 0x85a04800 { align1 EOT };\nwrite TD_CTL 0x10\n";
    let stopped = format!("{kernel}start\nstop\n");
    let bad = |device: &str, text: &str| debug(device, text).unwrap_err();
    assert!(bad("nosuch", kernel).contains("no device `nosuch`"));
    assert_eq!(
        bad("gm965", "pixel:\nstart"),
        "7: a kernel without instructions"
    );
    for (statement, message) in [
        (
            "write ISC_L1CA_BP_ADR1 at 0x10000000",
            "12: the kernel has 3 instructions",
        ),
        ("change 3: nop;", "12: the kernel has 3 instructions"),
        ("change 1:", "12: one instruction"),
        ("change 1: what;", "12: "),
        ("start", "12: one frame of 1 to 8 threads"),
        ("read pixel 8,0", "12: the target has 8x64 pixels"),
        ("read stop.nothing", "12: a stop has no `nothing`"),
        ("next", "12: next step, go, bare, nothing or skip"),
        ("walk", "12: `walk` is no statement of a case with stops"),
    ] {
        let problem = bad("gm965", &format!("{stopped}{statement}"));
        assert!(problem.starts_with(message), "{statement}: {problem}");
    }
    // A kernel that goes round for ever.
    let out = debug(
        "gm965",
        "pixel: jmpi(1) -2D { align1 nomask };\nstart\nstop\nend",
    )
    .unwrap();
    assert_eq!(
        out,
        ["stop = none", "end = no", "fault: the frame does not end"]
    );
}
