//! The commands by name, with what their help says.

use super::session::{Debugger, Flow};
use super::{Answer, Refusal};
use crate::alike;

/// Words of a line; those in quotation marks are one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(Vec<String>);

impl Words {
    /// The words before a comment.
    pub fn of(line: &str) -> Answer<Self> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut quoted = false;
        for letter in line.chars() {
            match letter {
                '"' => {
                    quoted = !quoted;
                    word.get_or_insert_default();
                }
                '#' if !quoted && word.is_none() => break,
                ' ' | '\t' if !quoted => words.extend(word.take()),
                letter => word.get_or_insert_default().push(letter),
            }
        }
        if quoted {
            return Err("a quotation mark has no end".into());
        }
        words.extend(word);
        Ok(Words(words))
    }

    /// The first.
    pub fn first(&self) -> Option<&str> {
        self.0.first().map(String::as_str)
    }

    /// All but the first.
    pub fn rest(&self) -> Self {
        Words(self.0.iter().skip(1).cloned().collect())
    }

    /// As a slice of words.
    pub fn list(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }

    /// The words with a space in between, without marks.
    pub fn joined(&self) -> String {
        self.0.join(" ")
    }

    /// At the place of a word that stands alone: what is before it and what is behind.
    pub fn split_at(&self, middle: &str) -> Option<(Words, Words)> {
        let at = self.0.iter().position(|word| word == middle)?;
        let (before, after) = self.0.split_at(at);
        Some((
            Words(before.to_vec()),
            Words(after.iter().skip(1).cloned().collect()),
        ))
    }

    /// The line again, marks where they are needed.
    pub fn line(&self) -> String {
        let quote = |word: &String| {
            if word.is_empty() || word.contains([' ', '\t', '#']) {
                format!("\"{word}\"")
            } else {
                word.clone()
            }
        };
        self.0.iter().map(quote).collect::<Vec<_>>().join(" ")
    }
}

/// A command.
pub struct Help {
    /// Name.
    pub name: &'static str,
    /// Short names.
    pub aliases: &'static [&'static str],
    /// How it is written.
    pub usage: &'static str,
    /// What it does.
    pub text: &'static str,
    /// Words that can follow, for completion.
    pub words: &'static [&'static str],
    /// What it prints is not what `expect text` looks at.
    pub(super) keeps_text: bool,
    pub(super) run: fn(&mut Debugger, &Words) -> Answer,
}

const fn command(
    name: &'static str,
    aliases: &'static [&'static str],
    usage: &'static str,
    text: &'static str,
    words: &'static [&'static str],
    run: fn(&mut Debugger, &Words) -> Answer,
) -> Help {
    Help {
        name,
        aliases,
        usage,
        text,
        words,
        keeps_text: false,
        run,
    }
}

const UNITS: &[&str] = &["vs", "hs", "ds", "gs", "clip", "sf", "ps", "media"];

/// All commands.
pub static COMMANDS: &[Help] = &[
    command(
        "break",
        &["b"],
        "break op NAME | eot | addr ADDR | pixel X,Y | vertex N | object N | patch N | point PATCH N | geometry N [INSTANCE] | group X,Y,Z [N] | invocation X,Y,Z N | thread UNIT",
        "Stops threads at a place. `op NAME`: before every instruction NAME, as in `break op send`. `eot`: before the \
         message that ends a thread. `addr`: before the instruction at a graphics address. The others stop a thread \
         before its first instruction. `pixel`: pixel shader threads for the 2x2 pixels that hold X,Y; row 0 is the \
         surface's first in memory. In a framebuffer object of OpenGL that is the bottom: row Y from the top of a flipped \
         picture is row HEIGHT - 1 - Y here. In a window, GBM or pbuffer surface it is the top. `vertex`: the thread that shades the vertex with index N. `object`: the setup and the pixel \
         shader threads of a triangle, line or point, which strips-and-fans counts from 0. `patch`: the hull and domain shader threads of patches with the number N in their draw. `point`: the domain shader thread of the point N of such a patch, as `why` numbers them. `geometry`: the geometry shader threads of objects with the number N in their draw, or of one instance. `group`: the threads of a thread group of a compute shader, or the one with the number N in it. `invocation`: the thread of a group that has the invocation N, gl_LocalInvocationIndex. `thread`: every thread of \
         a unit (vs hs ds gs clip sf ps media).",
        &[
            "op",
            "eot",
            "addr",
            "pixel",
            "vertex",
            "object",
            "patch",
            "point",
            "geometry",
            "group",
            "invocation",
            "thread",
            "vs",
            "hs",
            "ds",
            "gs",
            "clip",
            "sf",
            "ps",
            "media",
        ],
        Debugger::do_break,
    ),
    command(
        "watch",
        &[],
        "watch mem ADDR [BYTES] | watch rN.M",
        "Stops when memory or a register has changed. `mem`: BYTES bytes at a graphics address, 4 by default and at most \
         4096; they are compared after every instruction of every thread. `rN.M`: a dword of a general register of the \
         chosen thread; it is compared after every instruction of that thread. That makes a run slow, most of all with \
         `--backend registers`, where every instruction is a halt.",
        &["mem"],
        Debugger::do_watch,
    ),
    command(
        "delete",
        &["del"],
        "delete N... | all",
        "Removes breakpoints and watches.",
        &["all"],
        Debugger::do_delete,
    ),
    command(
        "breaks",
        &[],
        "breaks",
        "Lists breakpoints and watches.",
        &[],
        Debugger::do_breaks,
    ),
    command(
        "run",
        &["r"],
        "run",
        "Starts the frame or the program. A frame that has begun starts again from its beginning, with the same breakpoints.",
        &[],
        Debugger::do_run,
    ),
    command(
        "continue",
        &["c"],
        "continue",
        "Goes on to the next stop.",
        &[],
        Debugger::do_continue,
    ),
    command(
        "step",
        &["s", "stepi", "si"],
        "step [N]",
        "Executes the next instructions of the chosen thread. N is 1 by default; messages count as one instruction. Shows \
         the registers that have changed.",
        &[],
        Debugger::do_step,
    ),
    command(
        "finish",
        &["fin"],
        "finish",
        "Goes on to the end of the chosen thread, or to an earlier stop.",
        &[],
        Debugger::do_finish,
    ),
    command(
        "back",
        &[],
        "back [N]",
        "Takes the chosen thread back by N instructions. N is 1 by default. The frame runs again up to there; what `set` has \
         changed before that point is changed again. Not for live programs.",
        &[],
        Debugger::do_back,
    ),
    command(
        "threads",
        &[],
        "threads",
        "Lists the threads that are alive.",
        &[],
        Debugger::do_threads,
    ),
    command(
        "thread",
        &["t"],
        "thread [N]",
        "Chooses the thread for the other commands. N is its number in `threads`; without a number, shows the chosen thread.",
        &[],
        Debugger::do_thread,
    ),
    command(
        "regs",
        &[],
        "regs [grf|mrf|arf|all|NAME[..NAME][:TYPE]]...",
        "Shows registers. `grf`, the default: r0 to r127. `mrf`: the message registers m0 to m15. `arf`: all others, such as \
         accumulators and flags. Names and ranges work too: `regs r3:f r10..r12:ud m2`. Types: f ud d uw w ub b.",
        &["grf", "mrf", "arf", "all"],
        Debugger::do_regs,
    ),
    command(
        "print",
        &["p"],
        "print NAME...",
        "Shows single values: `print r5.3:f ip f0.1`.",
        &[],
        Debugger::do_print,
    ),
    command(
        "disasm",
        &["x"],
        "disasm [all | ADDR [N]]",
        "Shows instructions around the next one of the chosen thread, which `=>` marks. With `all`: the thread's kernel, to the first instruction that ends a thread. With ADDR: N instructions from a graphics address.",
        &["all"],
        Debugger::do_disasm,
    ),
    command(
        "mem",
        &["m"],
        "mem ADDR [COUNT] [b|w|d|f]",
        "Shows memory at a graphics address. COUNT elements, 16 by default, of bytes, words, dwords or floats.",
        &["b", "w", "d", "f"],
        Debugger::do_mem,
    ),
    command(
        "surfaces",
        &[],
        "surfaces [N]",
        "Explains the surfaces that the chosen thread can reach. They are entries of its binding table: those that the messages of its kernel name, or entry N.",
        &[],
        Debugger::do_surfaces,
    ),
    command(
        "show",
        &[],
        "show surface N to FILE.png | show target to FILE.png [flip]",
        "Writes a surface as a picture. `surface N`: entry N of the binding table. `target`: the render target as it is now. `flip`: last row first.",
        &["surface", "target", "to", "flip"],
        Debugger::do_show,
    ),
    command(
        "snapshot",
        &[],
        "snapshot vf seq N | vf index N | vs N | gs N | clip N | sf N | wiz X,Y [OCCURRENCE] | off | (nothing)",
        "Lets a unit's snapshot registers keep what it does for one vertex, thread, object or pixel. Sequence numbers count \
         from 0. Without an argument, shows what they have kept. `off` disarms all.",
        &["vf", "vs", "gs", "clip", "sf", "wiz", "off", "seq", "index"],
        Debugger::do_snapshot,
    ),
    command(
        "why",
        &[],
        "why X,Y",
        "Explains a pixel by its thread, its triangle, the vertices and the threads that shaded them. Runs the frame again on \
         devices of its own. Of a live program, it runs what `--record DIR` has recorded so far, up to the submission of the \
         stopped thread.",
        &[],
        Debugger::do_why,
    ),
    command(
        "set",
        &[],
        "set NAME = VALUE[,...] | set mem ADDR[:TYPE] = VALUE[,...] | set inst ADDR \"TEXT\"",
        "Changes a register, memory or an instruction. Registers: `set r5.3:f = 1.5`, `set m2 = 1,2`, `set f0 = 0xff`, \
         `set ip = 0x40`. `inst`: TEXT is assembled and replaces the instruction at ADDR.",
        &["mem", "inst"],
        Debugger::do_set,
    ),
    command(
        "trace",
        &[],
        "trace FILE [text|jsonl|perfetto] | off",
        "Writes what the device does from now on into a file. The file is complete after `trace off` or at the end. Without \
         a format the name decides: .jsonl is JSON lines, .json is for Perfetto and Chrome, everything else is text.",
        &["off", "text", "jsonl", "perfetto"],
        Debugger::do_trace,
    ),
    Help {
        keeps_text: true,
        ..command(
            "expect",
            &[],
            "expect stop WORD... | end [CODE] | NAME = VALUE[,...] [within E] | mem ADDR[:TYPE] = VALUE[,...] [within E] \
             | pixel X,Y = R,G,B[,A] [within E] | text \"TEXT\" | error \"TEXT\" COMMAND",
            "Fails unless something is true. `stop`: a thread is stopped, and every word is true of the stop: breakpoint N, \
             a unit (vs hs ds gs clip sf ps media), ordinal N, at ADDR, stepped, ended, asked. `end`: the frame has ended \
             without an error, or the program with exit code CODE (default 0). `pixel`: a pixel of the render target has \
             this colour, 0 to 255. `text`: the last command has printed TEXT. `error`: COMMAND is refused, and the \
             message contains TEXT.",
            &["stop", "end", "mem", "pixel", "text", "error", "within"],
            Debugger::do_expect,
        )
    },
    command(
        "source",
        &[],
        "source FILE",
        "Runs the commands in a file.",
        &[],
        Debugger::do_source,
    ),
    command(
        "help",
        &["h", "?"],
        "help [COMMAND]",
        "Lists the commands, or explains one.",
        &[],
        |_, words| match words.list().as_slice() {
            [] => help(None),
            [name] => help(Some(name)),
            [_, more, ..] => Err(Refusal(format!("`{more}` is too much"))),
        },
    ),
    command(
        "quit",
        &["q", "exit"],
        "quit",
        "Removes all breakpoints, waits for the end of the frame or program, and leaves with its exit code.",
        &[],
        |debugger, words| {
            none(words)?;
            debugger.leave(Flow::Quit);
            Ok(String::new())
        },
    ),
    command(
        "kill",
        &["k"],
        "kill",
        "Ends the program or abandons the frame, and leaves the debugger.",
        &[],
        |debugger, words| {
            none(words)?;
            debugger.leave(Flow::Kill);
            Ok(String::new())
        },
    ),
];

/// Refuses words where none belong.
pub fn none(words: &Words) -> Answer<()> {
    match words.first() {
        None => Ok(()),
        Some(word) => Err(format!("`{word}` is too much").into()),
    }
}

/// The command of a name, a short name, or the beginning of one name only.
pub fn find(name: &str) -> Answer<&'static Help> {
    let exact = |c: &&Help| c.name == name || c.aliases.contains(&name);
    if let Some(command) = COMMANDS.iter().find(exact) {
        return Ok(command);
    }
    let found: Vec<&Help> = COMMANDS
        .iter()
        .filter(|c| c.name.starts_with(name))
        .collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => {
            let names = COMMANDS.iter().map(|c| c.name.to_owned());
            let hint = alike::question(&alike::names(name, names));
            Err(format!("there is no command `{name}`; `help` lists them.{hint}").into())
        }
        several => {
            let names: Vec<&str> = several.iter().map(|c| c.name).collect();
            Err(format!("`{name}` may be {}", names.join(", ")).into())
        }
    }
}

/// What `help` says of one command, or of all.
pub fn help(name: Option<&str>) -> Answer {
    let Some(name) = name else {
        let width = COMMANDS.iter().map(|c| c.name.len()).max().unwrap_or(0);
        let lines = COMMANDS.iter().map(|c| {
            let ends = [". ", "; ", ": ", " ("].into_iter();
            let end = ends.filter_map(|end| c.text.find(end)).min();
            let first = end.map_or(c.text, |end| &c.text[..end]);
            let first = first.trim_end_matches('.');
            format!("{:width$}  {first}\n", c.name)
        });
        return Ok(lines.collect::<String>() + "`help COMMAND` says more.\n");
    };
    let command = find(name)?;
    let mut text = format!("{}\n", command.usage);
    if !command.aliases.is_empty() {
        text.push_str("also: ");
        text.push_str(&command.aliases.join(", "));
        text.push('\n');
    }
    text.push_str(command.text);
    text.push('\n');
    Ok(text)
}

/// Units by the names of the command line.
pub const UNIT_NAMES: &[&str] = UNITS;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn words_and_comments() {
        let words = Words::of("set inst 0x40 \"mov (8) r1\"  # a comment").unwrap();
        assert_eq!(words.list(), ["set", "inst", "0x40", "mov (8) r1"]);
        assert_eq!(words.line(), "set inst 0x40 \"mov (8) r1\"");
        assert_eq!(Words::of("  # nothing").unwrap().first(), None);
        assert!(Words::of("expect text \"a").is_err());
    }

    #[test]
    fn names_are_found() {
        assert_eq!(find("b").unwrap().name, "break");
        assert_eq!(find("cont").unwrap().name, "continue");
        assert_eq!(find("si").unwrap().name, "step");
        assert!(find("s").is_ok() && find("wh").is_ok());
        assert!(find("f").is_ok());
        assert!(
            find("brea")
                .err()
                .is_some_and(|e| e.0.contains("break, breaks"))
        );
        assert!(find("nothing").is_err());
    }

    #[test]
    fn every_command_has_help() {
        let all = help(None).unwrap();
        for command in COMMANDS {
            assert!(all.contains(command.name));
            let one = help(Some(command.name)).unwrap();
            assert!(one.starts_with(command.name), "{one}");
        }
    }
}
