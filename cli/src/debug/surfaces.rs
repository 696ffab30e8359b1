//! Surfaces of a halted thread, and the render target, as text and as pictures.
//!
//! PRM: volume 4 4.7.1, 4.7.2. Not shown: levels other than the first, integer formats as pictures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufWriter;
use std::path::Path;

use isa::Opcode;
use mem::{GpuAddr, Tiling};
use mmio_mock::intel::shared::message::Request;
use mmio_mock::intel::surface::state::Use;
use mmio_mock::intel::surface::{Surface, SurfaceKind};

use super::command::Words;
use super::gate::State;
use super::session::Debugger;
use super::{Answer, Refusal, value};
use crate::picture::{self, PageReader, Picture, Target, View, last_target};
use crate::pipeline;
use crate::{link, shown};

/// Instructions of a kernel looked at.
const MAX_INSTRUCTIONS: u32 = 1 << 12;
/// Indices that are no entries of the binding table (PRM volume 4 5.3.1: stateless).
const STATELESS: u32 = 255;
/// Last entry of a binding table (PRM volume 4 4.7.1).
const LAST: u32 = 255;

/// What a kernel does with a surface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Samples,
    Reads,
    Writes,
}

impl Access {
    const fn name(self) -> &'static str {
        match self {
            Access::Samples => "sampled",
            Access::Reads => "read",
            Access::Writes => "written",
        }
    }
}

fn tiling(tiling: Tiling) -> &'static str {
    match tiling {
        Tiling::Linear => "linear",
        Tiling::X => "X-tiled",
        Tiling::Y => "Y-tiled",
    }
}

fn kind(kind: SurfaceKind) -> &'static str {
    match kind {
        SurfaceKind::OneD => "1D",
        SurfaceKind::TwoD => "2D",
        SurfaceKind::ThreeD => "3D",
        SurfaceKind::Cube => "cube",
        SurfaceKind::Buffer => "buffer",
        SurfaceKind::Structured => "structures",
        SurfaceKind::Null => "null",
    }
}

impl Debugger {
    /// Which entries the messages of the chosen thread's kernel name, as far as descriptors are immediate.
    fn used(&self) -> Answer<BTreeMap<u32, Vec<Access>>> {
        let (_, kernel) = self.place()?;
        let mut used: BTreeMap<u32, Vec<Access>> = BTreeMap::new();
        let mut at = kernel;
        for _ in 0..MAX_INSTRUCTIONS {
            let Ok(item) = self.instruction(at) else {
                break;
            };
            // CAST: eight or sixteen bytes.
            at = at.wrapping_add(item.size as u32);
            let ends = item.ends_thread();
            // What cannot be decoded sends nothing either.
            let Ok(inst) = item.inst else {
                continue;
            };
            let Some(send) = inst.send.filter(|_| inst.opcode == Opcode::Send) else {
                continue;
            };
            let access = match self.info.request(&send) {
                Some(Request::Sampler(sample)) => Some((sample.surface, Access::Samples)),
                Some(Request::Read(read)) => Some((read.surface, Access::Reads)),
                Some(Request::Write(write)) => Some((write.surface, Access::Writes)),
                Some(Request::Access(access)) => access.writes().map(|writes| {
                    let kind = if writes {
                        Access::Writes
                    } else {
                        Access::Reads
                    };
                    (access.surface, kind)
                }),
                _ => None,
            };
            let access = access.map(|(index, access)| (u32::from(index), access));
            if let Some((index, access)) = access
                && index != STATELESS
            {
                let list = used.entry(index).or_default();
                if !list.contains(&access) {
                    list.push(access);
                }
            }
            if ends {
                break;
            }
        }
        Ok(used)
    }

    /// Address of an entry's SURFACE_STATE.
    fn surface_state(&self, index: u32) -> Answer<u32> {
        if index > LAST {
            return Err(
                format!("there is no entry {index}: a binding table has 0 to {LAST}").into(),
            );
        }
        let (key, _) = self.chosen()?;
        let info = self.info(key).ok_or("the thread has ended")?;
        let base = info.context.bases.surface_state_base;
        let entry = base
            .wrapping_add(info.context.binding_table_pointer)
            .wrapping_add(index.wrapping_mul(4));
        let offset = self.elements(entry, 1, isa::operand::Type::Ud)?;
        // Bits 4:0 of an entry are reserved (PRM volume 4 4.7.1).
        Ok(base.wrapping_add(offset.first().copied().unwrap_or(0) & !0x1f))
    }

    fn state_words(&self, address: u32) -> Answer<Vec<u32>> {
        let structure = self.info.tables.structure("SURFACE_STATE");
        let dwords = structure.map_or(0, |structure| structure.dwords as usize);
        self.elements(address, dwords, isa::operand::Type::Ud)
    }

    fn surface_line(&self, index: u32, access: &[Access]) -> Answer {
        let at = self.surface_state(index)?;
        let words = self.state_words(at)?;
        let usage = if access.contains(&Access::Writes) {
            Use::RenderTarget
        } else {
            Use::Sampler
        };
        let names: Vec<&str> = access.iter().map(|a| a.name()).collect();
        let desc = self.info.readers.functions.surface(&words);
        let format = desc.format.map_or_else(
            || format!("format {:#x}", desc.format_code),
            |format| format.name.to_owned(),
        );
        let mut text = format!("{index:>3}  ");
        let _ = match Surface::resolve(&desc, usage).or_else(|_| Surface::resolve(&desc, Use::Raw))
        {
            Ok(s) => write!(
                text,
                "{} {}x{}x{} {format}, {}, pitch {}, at 0x{:08x}, level {}",
                kind(s.kind),
                s.width,
                s.height,
                s.depth,
                tiling(s.geometry.tiling),
                s.geometry.pitch,
                s.geometry.base.0,
                s.render_lod
            ),
            Err(error) => write!(text, "no surface: {error}"),
        };
        let _ = write!(text, "; state at 0x{at:08x}");
        if !names.is_empty() {
            let _ = write!(text, "; {}", names.join(", "));
        }
        text.push('\n');
        Ok(text)
    }

    pub(super) fn do_surfaces(&mut self, words: &Words) -> Answer {
        match words.list().as_slice() {
            [] => {
                let used = self.used()?;
                if used.is_empty() {
                    return Ok("the kernel's messages name no surface\n".to_owned());
                }
                let mut text = String::new();
                for (index, access) in &used {
                    match self.surface_line(*index, access) {
                        Ok(line) => text.push_str(&line),
                        Err(refusal) => {
                            let _ = writeln!(text, "{index:>3}  {refusal}");
                        }
                    }
                }
                Ok(text)
            }
            [index] => self.surface_line(value::number(index)?, &[]),
            [_, more, ..] => Err(format!("`{more}` is too much").into()),
        }
    }

    fn pages(&self) -> impl PageReader {
        let reach = self.target.reach().clone();
        move |address: u32, page: &mut [u8; 4096]| {
            reach
                .with_memory(|memory| memory.read_bytes(GpuAddr::from(address), page))
                .is_ok()
        }
    }

    pub(super) fn do_show(&mut self, words: &Words) -> Answer {
        let list = words.list();
        let (what, to) = match list.as_slice() {
            [what @ .., "to", file] => (what, (*file, false)),
            [what @ .., "to", file, "flip"] => (what, (*file, true)),
            _ => {
                return Err(
                    "what, and where? `show target to FILE.png`, `show surface N to FILE.png`"
                        .into(),
                );
            }
        };
        self.file_of_command(to.0)?;
        match what {
            ["target"] => self.save_target(to),
            ["surface", index] => {
                let state = self.surface_state(value::number(index)?)?;
                let words = self.state_words(state)?;
                let desc = self.info.readers.functions.surface(&words);
                let mut surface = Surface::resolve(&desc, Use::Sampler)
                    .or_else(|_| Surface::resolve(&desc, Use::RenderTarget))
                    .map_err(Refusal::of)?;
                // As a picture it is its first level.
                surface.render_lod = 0;
                let target = Target {
                    state,
                    format: desc.format_code,
                    surface,
                };
                let view = View::new(target, self.pages()).map_err(Refusal::of)?;
                save(view, to)
            }
            _ => Err(format!(
                "`{}` cannot be shown; `help show` lists what can",
                what.join(" ")
            )
            .into()),
        }
    }

    fn save_target(&self, to: (&str, bool)) -> Answer {
        if self.target.state() == State::Ended && !self.target.is_live() {
            return self.target.gate().with_session(|session| {
                let session = session.ok_or("the frame was left")?;
                match session.view() {
                    Ok(view) => save(view, to),
                    Err(error) => match session.view_before() {
                        Some(view) => save(view, to),
                        None => Err(Refusal::of(error)),
                    },
                }
            });
        }
        let view = View::new(self.render_target()?, self.pages()).map_err(Refusal::of)?;
        save(view, to)
    }

    /// The render target of the pipeline as it is set up now.
    fn render_target(&self) -> Answer<Target> {
        let state = self
            .target
            .reach()
            .with_device(|device| pipeline::target_state(self.info, device.pipeline_state()));
        if state == picture::State::default() {
            return Err("nothing has been drawn yet".into());
        }
        let dword = |at| {
            let words = self.elements(at, 1, isa::operand::Type::Ud).ok()?;
            words.first().copied()
        };
        last_target(&dword, state, self.info).map_err(Refusal::of)
    }

    /// The render target as pixels.
    pub(super) fn picture(&self) -> Answer<Picture> {
        if self.target.state() == State::Ended && !self.target.is_live() {
            return self.target.gate().with_session(|session| {
                let session = session.ok_or("the frame was left")?;
                session.picture().map_err(Refusal::of)
            });
        }
        let view = View::new(self.render_target()?, self.pages()).map_err(Refusal::of)?;
        Picture::read(view).map_err(Refusal::of)
    }

    /// Columns and rows of the frame, as far as it is known.
    pub(super) fn frame(&self) -> Option<(u32, u32)> {
        self.target.gate().frame()
    }

    /// A program's frame is known by the targets at its stops.
    pub(super) fn note_size(&self) {
        if self.target.is_live()
            && let Ok(target) = self.render_target()
        {
            let lod = target.surface.render_lod;
            let (width, height) = (
                target.surface.level_width(lod),
                target.surface.level_height(lod),
            );
            self.target.gate().note_frame(width, height);
        }
    }
}

fn save<R: PageReader>(mut view: View<R>, (path, flip): (&str, bool)) -> Answer {
    let path = Path::new(path);
    let shown = shown::path(path);
    let file = link::create(path, link::ALL).map_err(|e| Refusal(format!("{shown}: {e}")))?;
    view.write_png(BufWriter::new(file), flip)
        .map_err(|e| Refusal(format!("{shown}: {e}")))?;
    Ok(format!("{shown}: {}x{}\n", view.width, view.height))
}
