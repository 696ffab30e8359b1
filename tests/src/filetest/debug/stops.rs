//! Pixel shader threads that stop, in a `debug` case.
//!
//! PRM: volume 4, 3.4.4, 3.5, 3.6. `pixel: INSTRUCTION` gathers the kernel, `start [COUNT]` draws so many triangles of one
//! thread each, 8 pixels apart, under a system routine that waits for the host. `stop` waits for the next thread there,
//! `next ORDER` lets it go (step, go, bare, nothing, skip) and waits again; both give the number of the instruction, or
//! `none`. `change N: INSTRUCTION` writes into the kernel. `write REGISTER at N [| BITS]` writes an instruction's address, once a thread
//! has stopped. `read stop.FIELD` has value (r120.0), cr0, cr1 and threads; `read pixel X,Y` the target; `end` says whether the frame ends.

use super::super::bench::offset;
use super::super::file::{Case, File, Problem};
use super::super::value::number;
use super::line;
use crate::scene::draw::Draw;
use crate::scene::{FRAME, Frame};
use crate::stops::{BARE, Bench, GO, NOTHING, Order, SKIP, STEP, Stop, assemble_text, corner};
use mmio_mock::Model;

/// Rows of the target; a triangle for eight of them.
const ROWS: u32 = 64;

/// Whether threads of a case stop.
pub fn wanted(case: &Case) -> bool {
    case.input
        .iter()
        .any(|line| line.text.starts_with("pixel:"))
}

struct Stops {
    bench: Bench,
    kernel: String,
    /// Instructions of the kernel.
    length: usize,
    frame: Option<Frame>,
    stop: Option<Stop>,
    /// Where the kernel of the thread begins that has stopped last.
    base: Option<u32>,
}

/// Carries a case out.
pub fn run(file: &File, case: &Case) -> Result<Vec<String>, Problem> {
    let device = super::device(file).map_err(|what| case.problem(what))?;
    let mut stops = Stops {
        bench: Bench::on(device, 8, ROWS),
        kernel: String::new(),
        length: 0,
        frame: None,
        stop: None,
        base: None,
    };
    let mut out: Vec<String> = Vec::new();
    for statement in &case.input {
        let before = case.expect.get(out.len()).map_or("", |l| l.text.as_str());
        let result = stops.statement(&statement.text, before);
        out.extend(result.map_err(|what| statement.problem(what))?);
    }
    if !stops.finish() {
        out.push("fault: the frame does not end".to_owned());
    }
    Ok(out)
}

impl Stops {
    /// Carries a statement out: the line of its result, if it has one.
    fn statement(&mut self, text: &str, before: &str) -> Result<Option<String>, String> {
        if let Some(instruction) = text.strip_prefix("pixel:") {
            self.kernel.push_str(instruction);
            self.kernel.push('\n');
            return Ok(None);
        }
        if let Some(count) = text.strip_prefix("start") {
            let count = count.trim();
            let count = if count.is_empty() { 1 } else { number(count)? };
            return self.start(count).map(|()| None);
        }
        if let Some(what) = text.strip_prefix("change ") {
            return self.change(what).map(|()| None);
        }
        if let Some(what) = text.strip_prefix("write ") {
            return self.write(what).map(|()| None);
        }
        if let Some(what) = text.strip_prefix("read ") {
            return Ok(Some(line(what, self.read(what)?, before)));
        }
        match text.split_once(' ').unwrap_or((text, "")) {
            ("stop", "") => {
                self.stop = self.bench.stop();
                Ok(Some(self.place(text)))
            }
            ("next", order) => {
                let order = order_of(order.trim())?;
                let stop = self.stop.take().ok_or("no thread has stopped")?;
                self.stop = self.bench.next(&stop, order);
                Ok(Some(self.place(text)))
            }
            ("end", "") => {
                let frame = self.frame.as_ref().ok_or("no frame was started")?;
                let ends = self.stop.is_none() && frame.wait(FRAME).is_ok();
                let text = if ends { "end = yes" } else { "end = no" };
                Ok(Some(text.to_owned()))
            }
            _ => Err(format!("`{text}` is no statement of a case with stops")),
        }
    }

    fn start(&mut self, count: u32) -> Result<(), String> {
        if count == 0 || count > ROWS / 8 || self.frame.is_some() {
            return Err(format!("one frame of 1 to {} threads", ROWS / 8));
        }
        let mut draw = Draw::flat(self.bench.target.state());
        let code = assemble_text(&self.kernel)?;
        self.length = code.len() / 4;
        if code.is_empty() {
            return Err("a kernel without instructions".to_owned());
        }
        draw.wm_kernel = code;
        // CAST: below the number of rows.
        let corners: Vec<[f32; 8]> = (0..count)
            .flat_map(|n| corner(0.0, (8 * n) as f32))
            .collect();
        self.bench.scene.vertices(&mut draw, &corners);
        self.bench.draw(&draw);
        self.frame = Some(self.bench.submit());
        Ok(())
    }

    /// Where the thread stands that has stopped.
    fn place(&mut self, what: &str) -> String {
        let Some(stop) = &self.stop else {
            return format!("{what} = none");
        };
        let base = self.bench.threads().first().map_or(stop.ip, |t| t.1);
        self.base = Some(base);
        format!("{what} = {}", stop.ip.wrapping_sub(base) / 16)
    }

    fn instruction(&self, number: u32) -> Result<u32, String> {
        let base = self.base.ok_or("no thread has stopped yet")?;
        if number as usize >= self.length {
            return Err(format!("the kernel has {} instructions", self.length));
        }
        Ok(base.wrapping_add(number * 16))
    }

    fn change(&self, what: &str) -> Result<(), String> {
        let (place, text) = what.split_once(':').ok_or("change N: INSTRUCTION")?;
        let at = self.instruction(number(place.trim())?)?;
        let code = assemble_text(text)?;
        if code.len() != 4 {
            return Err("one instruction".to_owned());
        }
        for (n, word) in (0..).zip(code) {
            self.bench.set_memory(at + 4 * n, word);
        }
        Ok(())
    }

    fn write(&self, what: &str) -> Result<(), String> {
        let (name, value) = what.split_once(' ').ok_or("write REGISTER VALUE")?;
        let value = value.trim();
        let value = match value.strip_prefix("at ") {
            Some(place) => {
                let (place, bits) = place.split_once('|').unwrap_or((place, "0"));
                self.instruction(number(place.trim())?)? | number(bits.trim())?
            }
            None => number(value)?,
        };
        let offset = offset(name)?;
        let platform = &self.bench.scene.rig.platform;
        platform.device().write32(offset, value);
        Ok(())
    }

    fn read(&self, what: &str) -> Result<u32, String> {
        let (name, mask) = what.split_once('&').unwrap_or((what, "0xffffffff"));
        let name = name.trim();
        let value = if let Some(field) = name.strip_prefix("stop.") {
            let stop = self.stop.ok_or("no thread has stopped")?;
            match field {
                "value" => stop.value,
                "cr0" => stop.control[0],
                "cr1" => stop.control[1],
                "threads" => stop.threads,
                _ => return Err(format!("a stop has no `{field}`")),
            }
        } else if let Some(place) = name.strip_prefix("pixel ") {
            let (x, y) = place.split_once(',').ok_or("read pixel X,Y")?;
            let (x, y) = (number(x.trim())?, number(y.trim())?);
            if x >= 8 || y >= ROWS {
                return Err(format!("the target has 8x{ROWS} pixels"));
            }
            self.bench.target.word(x, y)
        } else {
            let platform = &self.bench.scene.rig.platform;
            platform.device().read32(offset(name)?)
        };
        Ok(value & number(mask.trim())?)
    }

    /// Lets everything go that still stands; whether the frame has ended by itself.
    fn finish(mut self) -> bool {
        let mut stop = self.stop.take().or_else(|| self.bench.stop());
        // A thread that a breakpoint holds again and again is left to the reset.
        for _ in 0..1000 {
            let Some(standing) = stop else { break };
            stop = self.bench.next(&standing, GO);
        }
        let mut ended = true;
        if let Some(frame) = self.frame.take() {
            ended = frame.wait(FRAME).is_ok();
            if !ended {
                // A device that cannot be reset shows in what follows.
                let _ = self.bench.scene.rig.device.reset();
            }
            frame.release();
        }
        self.bench.finish_after_fault();
        ended
    }
}

fn order_of(name: &str) -> Result<Order, String> {
    Ok(match name {
        "step" => STEP,
        "go" => GO,
        "bare" => BARE,
        "nothing" => NOTHING,
        "skip" => SKIP,
        _ => return Err("next step, go, bare, nothing or skip".to_owned()),
    })
}
