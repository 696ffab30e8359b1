//! Flow control by channel against an interpreter of one channel.
//!
//! PRM: Sandy Bridge volume 4 part 2, 8.3; distances as Mesa 22.3.6 `brw_eu_emit.c` puts them. Random structured programs are
//! executed channel by channel as a program of one channel is, without any mask.

use crate::InstructionSet;
use crate::r#gen::{GEN60, GEN70};
use crate::tests::text::{execute, thread};
use fastrand::Rng;
use std::fmt::Write as _;

/// A structured statement on one channel's registers.
enum Statement {
    /// r = r * 5 + n, so that order and count of the executed ones show.
    Mix(u32),
    /// One in `n` bits of the channel's number decides.
    If(u32, Vec<Statement>, Vec<Statement>),
    /// Repeats while the channel's own count is not zero.
    Loop(u32, Vec<Statement>),
    Break(u32),
    Continue(u32),
    Halt(u32),
}

/// What a channel does next.
#[derive(PartialEq)]
enum Flow {
    Next,
    Break,
    Continue,
    Halt,
}

/// One channel: the value that it mixes and the number that its decisions come from.
struct Channel {
    value: u32,
    noise: u32,
}

impl Channel {
    /// The condition of a decision, which changes what the next will be.
    fn decide(&mut self, bit: u32) -> bool {
        self.noise = self.noise.wrapping_mul(0x0001_0dcd).wrapping_add(1);
        self.noise >> bit & 1 != 0
    }

    fn run(&mut self, code: &[Statement]) -> Flow {
        for statement in code {
            let flow = match statement {
                Statement::Mix(n) => {
                    self.value = (self.value << 1).wrapping_add(*n);
                    Flow::Next
                }
                Statement::If(bit, then, otherwise) => {
                    if self.decide(*bit) {
                        self.run(then)
                    } else {
                        self.run(otherwise)
                    }
                }
                Statement::Loop(bit, body) => loop {
                    match self.run(body) {
                        Flow::Halt => break Flow::Halt,
                        Flow::Break => break Flow::Next,
                        Flow::Next | Flow::Continue => {}
                    }
                    if !self.decide(*bit) {
                        break Flow::Next;
                    }
                },
                Statement::Break(bit) if self.decide(*bit) => Flow::Break,
                Statement::Continue(bit) if self.decide(*bit) => Flow::Continue,
                Statement::Halt(bit) if self.decide(*bit) => Flow::Halt,
                Statement::Break(_) | Statement::Continue(_) | Statement::Halt(_) => Flow::Next,
            };
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }
}

fn random(rng: &mut Rng, depth: u32, in_loop: bool) -> Vec<Statement> {
    let count = rng.usize(1..4);
    let mut code = Vec::new();
    for _ in 0..count {
        let bit = rng.u32(16..31);
        code.push(match rng.u32(..10) {
            0..=2 if depth > 0 => {
                let then = random(rng, depth - 1, in_loop);
                let otherwise = if rng.bool() {
                    random(rng, depth - 1, in_loop)
                } else {
                    Vec::new()
                };
                Statement::If(bit, then, otherwise)
            }
            3 | 4 if depth > 0 => Statement::Loop(bit, random(rng, depth - 1, true)),
            5 if in_loop => Statement::Break(bit),
            6 if in_loop => Statement::Continue(bit),
            7 if rng.u32(..4) == 0 => Statement::Halt(bit),
            _ => Statement::Mix(rng.u32(..1000)),
        });
    }
    code
}

/// The program for all channels: r10 the values, r20 the noise.
struct Writer {
    /// `if` has two distances, and `break` leads to `while`.
    uip: bool,
    text: String,
    width: u32,
    labels: u32,
}

impl Writer {
    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    fn group(&self) -> &'static str {
        if self.width == 8 { "1Q" } else { "1H" }
    }

    fn line(&mut self, line: &str) {
        let group = self.group();
        writeln!(self.text, "{line} {{ align1 {group} }};").unwrap();
    }

    fn place(&mut self, label: u32) {
        writeln!(self.text, "L{label}:").unwrap();
    }

    /// Leaves the decision in f0.0.
    fn decide(&mut self, bit: u32) {
        let n = self.width;
        // The factor in two parts of sixteen bits: 1 << 16, and dcd.
        self.line(&format!("mul({n}) g30<1>UD g20<8,8,1>UD 0x0dcdUW"));
        self.line(&format!("shl({n}) g40<1>UD g20<8,8,1>UD 0x00000010UD"));
        self.line(&format!("add({n}) g20<1>UD g30<8,8,1>UD g40<8,8,1>UD"));
        self.line(&format!("add({n}) g20<1>UD g20<8,8,1>UD 0x00000001UD"));
        let mask = 1u32 << bit;
        self.line(&format!(
            "and.nz.f0.0({n}) null<1>UD g20<8,8,1>UD {mask:#010x}UD"
        ));
    }

    /// `next`: the label of the end of the block that the statement is in. `leave`: behind the loop, or its `while` where `break` names
    /// that; `again`: what is in front of the `while`.
    fn block(&mut self, code: &[Statement], next: u32, leave: u32, again: u32) {
        let n = self.width;
        for statement in code {
            match statement {
                Statement::Mix(add) => {
                    self.line(&format!("shl({n}) g10<1>UD g10<8,8,1>UD 0x00000001UD"));
                    self.line(&format!("add({n}) g10<1>UD g10<8,8,1>UD {add:#010x}UD"));
                }
                Statement::If(bit, then, otherwise) => {
                    let (middle, behind, end) = (self.label(), self.label(), self.label());
                    self.decide(*bit);
                    let to = if otherwise.is_empty() { end } else { behind };
                    let uip = if self.uip {
                        format!(" UIP: L{end}")
                    } else {
                        String::new()
                    };
                    self.line(&format!("(+f0.0) if({n}) JIP: L{to}{uip}"));
                    if otherwise.is_empty() {
                        self.block(then, end, leave, again);
                    } else {
                        self.block(then, middle, leave, again);
                        self.place(middle);
                        self.line(&format!("else({n}) JIP: L{end}"));
                        self.place(behind);
                        self.block(otherwise, end, leave, again);
                    }
                    self.place(end);
                    self.line(&format!("endif({n}) JIP: L{next}"));
                }
                Statement::Loop(bit, body) => {
                    let (start, end, behind) = (self.label(), self.label(), self.label());
                    let test = self.label();
                    self.place(start);
                    let leave = if self.uip { end } else { behind };
                    self.block(body, test, leave, test);
                    // A channel that continues decides, too.
                    self.place(test);
                    self.line(&format!("endif({n}) JIP: L{end}"));
                    self.decide(*bit);
                    self.place(end);
                    self.line(&format!("(+f0.0) while({n}) JIP: L{start}"));
                    self.place(behind);
                }
                Statement::Break(bit) => {
                    self.decide(*bit);
                    self.line(&format!("(+f0.0) break({n}) JIP: L{next} UIP: L{leave}"));
                }
                Statement::Continue(bit) => {
                    self.decide(*bit);
                    self.line(&format!("(+f0.0) cont({n}) JIP: L{next} UIP: L{again}"));
                }
                Statement::Halt(bit) => {
                    self.decide(*bit);
                    self.line(&format!("(+f0.0) halt({n}) JIP: L{next} UIP: L0"));
                }
            }
        }
    }
}

#[test]
fn structured_programs_do_what_each_channel_would() {
    for (set, uip) in [(GEN60, false), (GEN70, true)] {
        structured_programs(set, uip);
    }
}

fn structured_programs(set: InstructionSet, uip: bool) {
    let mut rng = Rng::with_seed(3);
    let mut finished = 0;
    for round in 0..3000 {
        let width = if rng.bool() { 8 } else { 16 };
        let code = random(&mut rng, 4, false);
        let mut writer = Writer {
            uip,
            text: String::new(),
            width,
            labels: 0,
        };
        writer.block(&code, 0, 0, 0);
        writer.place(0);
        writer.line(&format!("halt({width}) JIP: LE UIP: LE"));
        writer.text.push_str("LE:\n");
        writer.line(&format!("mov({width}) g60<1>UD g10<8,8,1>UD"));
        let mask = if rng.bool() { u32::MAX } else { rng.u32(..) };
        let mut t = thread(set, mask);
        let seed = rng.u32(..);
        let mut expected = [[0; 8]; 2];
        for channel in 0..width as usize {
            // Some threads have channels that all decide alike.
            let noise = if round % 4 == 0 {
                seed
            } else {
                seed ^ (channel as u32).wrapping_mul(0x9e37_79b9)
            };
            let mut one = Channel {
                value: channel as u32,
                noise,
            };
            t.grf_mut()[10 + channel / 8][channel % 8] = one.value;
            t.grf_mut()[20 + channel / 8][channel % 8] = one.noise;
            if mask >> channel & 1 != 0 {
                one.run(&code);
                expected[channel / 8][channel % 8] = one.value;
            }
        }
        let (t, _) = execute(set, &writer.text, t);
        let got = [t.grf()[60], t.grf()[61]];
        assert_eq!(
            got, expected,
            "round {round}, mask {mask:08x}\n{}",
            writer.text
        );
        assert_eq!(t.exec_mask(), mask, "round {round}\n{}", writer.text);
        finished += 1;
    }
    assert_eq!(finished, 3000);
}
