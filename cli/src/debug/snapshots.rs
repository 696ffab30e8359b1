//! `snapshot`: arms units, and shows what they have trapped.
//!
//! PRM: volume 4, 3.2, 3.3. Not offered: flags for threads, the upstream flag, URB and thread spawner.

use std::fmt::Write as _;

use driver::Device;
use driver::debug::snapshot::units::{
    Clip, Gs, PrimitiveSnapshot, Sf, ThreadTrigger, VertexTrigger, Vf, Vs, Wiz,
};
use driver::debug::snapshot::units::{Subspan, VertexTag};
use driver::debug::snapshot::{Snapshot, Unit};
use kernel::error::code::ENODEV;

use super::breaks::{Break, pair};
use super::command::Words;
use super::session::Debugger;
use super::target::of_guest;
use super::{Answer, Refusal, value};

/// What a unit is to trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trigger {
    Sequence(u32),
    Index(u32),
    Vs(u32),
    Gs(u32),
    Clip(u32),
    Sf(u32),
    Wiz(u16, u16, Option<u8>),
}

/// An armed unit.
enum Armed {
    Vf(Snapshot<Vf>),
    Vs(Snapshot<Vs>),
    Gs(Snapshot<Gs>),
    Clip(Snapshot<Clip>),
    Sf(Snapshot<Sf>),
    Wiz(Snapshot<Wiz>),
}

/// A snapshot as it was asked for.
pub struct Asked {
    trigger: Trigger,
    text: String,
    armed: Armed,
}

fn arm(device: &Device, trigger: Trigger) -> Answer<Armed> {
    fn of<U: Unit>(device: &Device, trigger: &U::Trigger) -> Answer<Snapshot<U>> {
        device
            .arm_snapshot::<U>(trigger)
            .map_err(|error| match error {
                ENODEV => Refusal(format!(
                    "snapshots are debug registers, and no public text says what {} has; `break`, `watch` and `why` \
                     need none",
                    device.name()
                )),
                error => Refusal(format!("the snapshot cannot be armed: {error}")),
            })
    }
    let thread = |id| ThreadTrigger {
        id,
        ..ThreadTrigger::default()
    };
    Ok(match trigger {
        Trigger::Sequence(number) => Armed::Vf(of(device, &VertexTrigger::Sequence(number))?),
        Trigger::Index(index) => Armed::Vf(of(device, &VertexTrigger::Index(index))?),
        Trigger::Vs(id) => Armed::Vs(of(device, &thread(id))?),
        Trigger::Gs(id) => Armed::Gs(of(device, &thread(id))?),
        Trigger::Clip(id) => Armed::Clip(of(device, &thread(id))?),
        Trigger::Sf(id) => Armed::Sf(of(device, &thread(id))?),
        Trigger::Wiz(x, y, instance) => {
            let subspan = Subspan {
                x,
                y,
                instance,
                ..Subspan::default()
            };
            Armed::Wiz(of(device, &subspan)?)
        }
    })
}

/// A number that the units count in 24 bits (PRM vol4 3.3).
fn counted(text: &str) -> Answer<u32> {
    let number: u32 = value::number(text)?;
    if number >> 24 != 0 {
        return Err(
            format!("`{text}` is past the last number, 0xffffff: units count in 24 bits").into(),
        );
    }
    Ok(number)
}

fn tag(tag: &VertexTag) -> String {
    let unit = match tag.ffid {
        1 => "VF",
        2 => "VS",
        3 => "GS",
        4 => "CLIP",
        5 => "SF",
        _ => "unit",
    };
    match tag.relative {
        0 => format!("{unit} {}", tag.number),
        relative => format!("{unit} {} number {relative}", tag.number),
    }
}

fn primitive(data: &PrimitiveSnapshot) -> String {
    let tags: Vec<String> = data.vertices.iter().map(tag).collect();
    format!(
        "vertices {}; kernel 0x{:08x}",
        tags.join(", "),
        data.kernel_pointer
    )
}

impl Armed {
    fn is_complete(&self) -> bool {
        match self {
            Armed::Vf(s) => s.is_complete(),
            Armed::Vs(s) => s.is_complete(),
            Armed::Gs(s) => s.is_complete(),
            Armed::Clip(s) => s.is_complete(),
            Armed::Sf(s) => s.is_complete(),
            Armed::Wiz(s) => s.is_complete(),
        }
    }

    fn disarm(self) {
        match self {
            Armed::Vf(s) => s.disarm(),
            Armed::Vs(s) => s.disarm(),
            Armed::Gs(s) => s.disarm(),
            Armed::Clip(s) => s.disarm(),
            Armed::Sf(s) => s.disarm(),
            Armed::Wiz(s) => s.disarm(),
        }
    }

    /// What it has trapped, in words.
    fn show(&self, trigger: Trigger) -> kernel::error::Result<String> {
        Ok(match self {
            Armed::Vf(s) => {
                let data = s.read()?;
                match trigger {
                    Trigger::Sequence(_) => format!("shaded by VS thread {}", data.thread),
                    _ => format!("trapped; internal data 0x{:08x}", data.internal),
                }
            }
            Armed::Vs(s) => {
                let data = s.read()?;
                let list: Vec<String> = data.indices.iter().map(u32::to_string).collect();
                format!(
                    "vertices with index {}; kernel 0x{:08x}",
                    list.join(" and "),
                    data.kernel_pointer
                )
            }
            Armed::Gs(s) => primitive(&s.read()?),
            Armed::Clip(s) => primitive(&s.read()?),
            Armed::Sf(s) => primitive(&s.read()?),
            Armed::Wiz(s) => {
                let data = s.read()?;
                format!(
                    "primitive {}, occurrence {}; kernel 0x{:08x}",
                    data.primitive, data.subspan_instances, data.kernel_pointer
                )
            }
        })
    }
}

impl Asked {
    fn line(&self) -> String {
        let shown = match self.armed.show(self.trigger) {
            Ok(text) => text,
            Err(kernel::error::code::EAGAIN) => "nothing trapped yet".to_owned(),
            Err(error) => error.to_string(),
        };
        format!("{}: {shown}\n", self.text)
    }
}

impl Debugger {
    pub(super) fn do_snapshot(&mut self, words: &Words) -> Answer {
        let trigger = match words.list().as_slice() {
            [] => {
                if self.snapshots.is_empty() {
                    return Ok("no unit is armed\n".to_owned());
                }
                return Ok(self.snapshots.iter().map(Asked::line).collect());
            }
            ["off"] => {
                for asked in std::mem::take(&mut self.snapshots) {
                    asked.armed.disarm();
                }
                self.backend.number();
                return Ok(String::new());
            }
            ["vf", "seq", number] => Trigger::Sequence(counted(number)?),
            ["vf", "index", number] => Trigger::Index(value::number(number)?),
            ["vs", number] => {
                let taken = |b: &&Break| self.backend.needs_vs_snapshot(b.spec);
                if let Some(other) = self.breaks.iter().find(taken) {
                    return Err(format!(
                        "breakpoint {} ({}) needs the snapshot of the unit",
                        other.number, other.text
                    )
                    .into());
                }
                Trigger::Vs(counted(number)?)
            }
            ["gs", number] => Trigger::Gs(counted(number)?),
            ["clip", number] => Trigger::Clip(counted(number)?),
            ["sf", number] => Trigger::Sf(counted(number)?),
            ["wiz", pixel] => {
                let (x, y) = pair(pixel)?;
                Trigger::Wiz(x, y, None)
            }
            ["wiz", pixel, instance] => {
                let (x, y) = pair(pixel)?;
                let counted = instance.parse().ok().filter(|n| *n != 0);
                let counted = counted.ok_or_else(|| {
                    Refusal(format!(
                        "`{instance}` is not an occurrence: their numbers are 1 to 255"
                    ))
                })?;
                Trigger::Wiz(x, y, Some(counted))
            }
            list => {
                return Err(format!(
                    "`{}` is not a snapshot; `help snapshot` lists them",
                    list.join(" ")
                )
                .into());
            }
        };
        let unit = |text: &str| text.split(' ').next().map(str::to_owned);
        let text = words.joined();
        if let Some(other) = self.snapshots.iter().find(|s| unit(&s.text) == unit(&text)) {
            return Err(format!(
                "the unit is armed already: {}; `snapshot off` disarms",
                other.text
            )
            .into());
        }
        let armed = arm(self.target.device().ok_or_else(of_guest)?, trigger)?;
        self.snapshots.push(Asked {
            trigger,
            text,
            armed,
        });
        Ok(String::new())
    }

    /// VS's snapshot registers must be free for another use.
    pub(super) fn check_vs_is_free(&self) -> Answer<()> {
        let vs = |asked: &&Asked| matches!(asked.trigger, Trigger::Vs(_));
        match self.snapshots.iter().find(vs) {
            None => Ok(()),
            Some(asked) => Err(format!(
                "the snapshot of the unit is needed for it, and armed: {}; `snapshot off` disarms",
                asked.text
            )
            .into()),
        }
    }

    /// Arms the units of a device that was just powered on.
    pub(super) fn arm_anew(&mut self) -> Answer<()> {
        for asked in &mut self.snapshots {
            asked.armed = arm(self.target.device().ok_or_else(of_guest)?, asked.trigger)?;
        }
        Ok(())
    }

    /// Snapshots that have trapped nothing, for the end of a run.
    pub(super) fn untrapped(&self) -> String {
        let mut text = String::new();
        for asked in self.snapshots.iter().filter(|s| !s.armed.is_complete()) {
            // A String takes every write.
            let _ = writeln!(text, "snapshot {} never came", asked.text);
        }
        text
    }
}
