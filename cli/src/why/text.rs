//! An answer as a short tree.

mod later;

use std::fmt;

use driver::debug::walk::{Tag, Unit};
use kernel::string_helpers::Counted;
use mmio_mock::intel::ff::topology::Topology;

use super::{Component, Input, Own, Why};

impl Why {
    /// An address with its place in the capture.
    fn at(&self, address: u32) -> String {
        match self.places.get(&address) {
            Some(place) => format!("{address:#010x} [{place}]"),
            None => format!("{address:#010x}"),
        }
    }

    /// A kernel by its start pointer.
    fn kernel(&self, pointer: u32) -> String {
        self.at(self.walk.pixel_thread.base.wrapping_add(pointer))
    }

    fn vertex(&self, f: &mut fmt::Formatter<'_>, depth: usize, sequence: u32) -> fmt::Result {
        let pad = depth * 2;
        let Some(vertex) = self.walk.vertices.get(&sequence) else {
            return Ok(());
        };
        let index = vertex
            .index
            .map_or_else(|| "unknown".to_owned(), |i| i.to_string());
        write!(f, "{:pad$}vertex {sequence}, index {index}", "")?;
        match vertex.thread {
            None => writeln!(f, ", not shaded")?,
            Some(id) => {
                let kernel = self.walk.vertex_threads.get(&id).map(|t| t.kernel);
                let slot = match (vertex.slot, self.walk.vertex_threads.get(&id)) {
                    (Some(slot), Some(thread)) if thread.indices.len() > 1 => {
                        format!(
                            ", the {} of its two vertices",
                            ["first", "second"][usize::from(slot & 1)]
                        )
                    }
                    _ => String::new(),
                };
                let kernel =
                    kernel.map_or_else(String::new, |k| format!(", kernel {}", self.kernel(k)));
                writeln!(f, ": VS thread {id}{slot}{kernel}")?;
            }
        }
        for input in self.inputs.get(&sequence).into_iter().flatten() {
            self.input(f, pad + 2, input)?;
        }
        Ok(())
    }

    /// Says that the application has not asked for the draw.
    fn own(&self, f: &mut fmt::Formatter<'_>, own: &Own) -> fmt::Result {
        let Own::Copy {
            from,
            size: (width, height),
            drawn_by,
        } = own
        else {
            return writeln!(
                f,
                "  hint: the driver drew this pixel last, to clear: a rectangle without a vertex shader, whose pixel shader samples nothing"
            );
        };
        write!(
            f,
            "  hint: the driver drew this pixel last, to copy a surface, as for glReadPixels or to resolve samples: {width}x{height} pixels at {}",
            self.at(*from)
        )?;
        match drawn_by.as_deref() {
            Some(name) if !name.is_empty() => writeln!(f, ", drawn by {name}"),
            _ => writeln!(f),
        }
    }

    fn input(&self, f: &mut fmt::Formatter<'_>, pad: usize, input: &Input) -> fmt::Result {
        write!(f, "{:pad$}input {}: ", "", input.element)?;
        let values = input.components.iter().map(ToString::to_string);
        write!(f, "({})", values.collect::<Vec<_>>().join(", "))?;
        match &input.source {
            None => writeln!(f),
            Some(source) => writeln!(
                f,
                " from vertex buffer {}, {} at {}{}",
                source.buffer,
                source.format,
                self.at(source.address),
                if source.mapped {
                    ""
                } else {
                    " (outside every buffer)"
                }
            ),
        }?;
        match &input.source {
            Some(source) => self.written(f, pad + 2, source.address),
            None => Ok(()),
        }
    }

    fn payload(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.payload {
            Some(payload) => write!(f, "{payload}"),
            // With a setup thread the layout is the driver's own.
            None if self.walk.setup.kernel.is_some() => writeln!(
                f,
                "    attributes: the shader computes them from what the setup kernel has written; `step` in `crestline debug` shows how"
            ),
            None => Ok(()),
        }
    }

    fn tags(&self, f: &mut fmt::Formatter<'_>, depth: usize, tags: &[Tag]) -> fmt::Result {
        let pad = depth * 2;
        let mut last = None;
        for tag in tags {
            if matches!(tag.unit, Unit::Vf | Unit::Vs) {
                self.vertex(f, depth, tag.number)?;
                self.streamed(f, pad + 2, tag)?;
                continue;
            }
            if tag.unit == Unit::Ds {
                self.point(f, depth, tag)?;
                self.streamed(f, pad + 2, tag)?;
                let mut behind = tags.iter().skip_while(|t| *t != tag).skip(1);
                if !behind.any(|t| self.patch_of(t) == self.patch_of(tag)) {
                    self.patch(f, depth, tag)?;
                }
                continue;
            }
            let key = (tag.unit, tag.number, tag.half);
            let name = if tag.unit == Unit::Gs { "GS" } else { "CLIP" };
            writeln!(
                f,
                "{:pad$}vertex {} of {name} thread {}",
                "", tag.relative, tag.number
            )?;
            self.streamed(f, pad + 2, tag)?;
            // Several vertices out of one thread: its inputs once.
            let next = tags.iter().skip_while(|t| *t != tag).nth(1);
            let again = next.is_some_and(|next| (next.unit, next.number, next.half) == key);
            if !again && last != Some(key) {
                last = Some(key);
                if let Some(emitter) = self.walk.emitters.get(&(tag.unit, tag.number)) {
                    let kernel = self.kernel(emitter.kernel);
                    let part = emitter.parts.get(usize::from(tag.half));
                    write!(f, "{:pad$}{name} thread {}", "", tag.number)?;
                    if let Some(part) = part {
                        write!(f, ", object {}, instance {}", part.object, part.instance)?;
                    }
                    writeln!(f, ": kernel {kernel}")?;
                    let inputs = part.map_or(&emitter.inputs, |part| &part.inputs);
                    self.tags(f, depth + 1, inputs)?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Component::Nothing => f.write_str("-"),
            Component::Float(v) => write!(f, "{v:?}"),
            Component::Unsigned(v) => write!(f, "{v}"),
            Component::Signed(v) => write!(f, "{v}"),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let walk = &self.walk;
        let (x, y) = walk.pixel;
        let thread = &walk.pixel_thread;
        write!(f, "pixel {x},{y}")?;
        match self.colour {
            Some([r, g, b, a]) => writeln!(f, ": red {r}, green {g}, blue {b}, alpha {a}")?,
            None => writeln!(f)?,
        }
        if let Some(own) = self.draw.as_ref().and_then(|draw| draw.own.as_ref()) {
            self.own(f, own)?;
        }
        writeln!(
            f,
            "  PS thread {} of object {}, subspan {}: kernel {}",
            thread.id,
            thread.primitive,
            thread.slot,
            self.kernel(thread.kernel)
        )?;
        writeln!(
            f,
            "    subspan {} is the block of 2x2 pixels around it; {}; this one draws {:#06x}, one bit for each of its pixels",
            thread.slot,
            match thread.instances {
                1 => "one thread of the submission shades the block".to_owned(),
                count => format!(
                    "{count} threads of the submission shade the block, and this is number {}",
                    thread.instance
                ),
            },
            thread.lit,
        )?;
        match &self.draw {
            Some(draw) => writeln!(
                f,
                "  draw {}{}, number {} of the frame: {} of {}, 3DPRIMITIVE at {}",
                walk.draw,
                match draw.submission.as_str() {
                    // The capture is a submission's directory itself.
                    "" => String::new(),
                    name => format!(" of {name}"),
                },
                draw.number,
                super::json::topology(draw.call.command.topology),
                Counted(draw.call.vertices, "vertex"),
                self.at(draw.call.address)
            )?,
            None => writeln!(
                f,
                "  draw {} of submission {}, which the commands do not show",
                walk.draw, walk.submission
            )?,
        }
        let topology = self.draw.as_ref().map(|draw| draw.call.command.topology);
        let shape = match (walk.setup.vertices.len(), topology) {
            (1, _) => "point",
            (2, _) => "line",
            (_, Some(Ok(Topology::RectList))) => "rectangle",
            _ => "triangle",
        };
        let number = walk.setup.primitive;
        match walk.setup.kernel {
            Some(kernel) => writeln!(
                f,
                "  {shape} {number}: setup thread {number}, kernel {}",
                self.kernel(kernel)
            )?,
            None => writeln!(
                f,
                "  {shape} {number}: set up by strips-and-fans itself, without a thread"
            )?,
        }
        self.payload(f)?;
        self.tags(f, 2, &walk.setup.vertices)?;
        let target = self.draw.as_ref().and_then(|draw| draw.target.as_ref());
        if let Some(target) = target {
            let (width, height) = target.size;
            writeln!(
                f,
                "  render target of {width}x{height} pixels, {}, at {}",
                target.format,
                self.at(target.address)
            )?;
        }
        writeln!(
            f,
            "  the frame ran {} for this answer",
            Counted(walk.runs, "time")
        )?;
        if let Some(trouble) = &self.trouble {
            writeln!(f, "  the frame itself does not run to its end: {trouble}")?;
        }
        Ok(())
    }
}
