//! The units that take snapshots: triggers, outputs.
//!
//! PRM vol4 3.3.4 to 3.3.11, 3.4.9. Not modelled: relative vertex numbers of GS inputs, which have no output.
use alloc::vec;
use alloc::vec::Vec;

use super::limits::{SF_KEPT, VF_KEPT};
use super::{Arming, Flag, PixelSnapshot, Unit};
use crate::intel::registers::fields::{
    CL_CTL as ClCtl, GS_CTL as GsCtl, SF_CTL as SfCtl, TS_CTL as TsCtl, URB_CTL as UrbCtl,
    VF_CTL as VfCtl, VFE_CTL as VfeCtl, VS_CTL as VsCtl, WIZ_CTL as WizCtl,
    WIZ_STRG_VAL as WizTrigger,
};
use crate::intel::registers::reg::{
    CL_CTL, CL_RDATA, CL_STRG_VAL, GS_CTL, GS_RDATA, GS_STRG_VAL, SF_CTL, SF_RDATA, SF_STRG_VAL,
    TS_CTL, TS_RDATA, TS_STRG_0_6VAL, TS_STRG_0_7VAL, URB_CTL, URB_RDATA, VF_CTL, VF_RDATA,
    VF_STRG_VAL, VFE_CTL, VFE_RDATA, VFE_STRG_VAL, VS_CTL, VS_RDATA, VS_STRG_VAL, WIZ_CTL,
    WIZ_RDATA, WIZ_STRG_VAL,
};

/// Multiplexer setting of the windower that shows the number of instances.
pub const WIZ_INSTANCES: u8 = 1;

/// Where a vertex comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VertexTag {
    /// Unit code of what made it (PRM vol4 3.3.1).
    pub ffid: u8,
    /// Sequence number of the vertex for VF and VS, number of the thread for others.
    pub number: u32,
    /// Which of the thread's vertices it is; 0 where no thread makes several.
    pub relative: u32,
}

impl VertexTag {
    fn new(tag: u32, relative: u32) -> Self {
        VertexTag {
            ffid: (tag >> 28) as u8,
            number: tag & 0x00ff_ffff,
            relative,
        }
    }
}

/// A thread of a unit by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadTrigger {
    /// Number since the counters were reset: 24 bits of VS, 28 of the others.
    pub id: u32,
    /// Which threads get the snapshot flag.
    pub flag: Flag,
}

macro_rules! registers {
    ($control:ident, $data:ident) => {
        const CONTROL: u32 = $control.offset();
        const DATA: u32 = $data.offset();
    };
}

macro_rules! thread_control {
    ($fields:ident, $flag:expr) => {{
        let mut control = $fields::SNAPSHOT_ENABLE::SET.value;
        match $flag {
            Flag::None => {}
            Flag::Trapped => control |= $fields::THREAD_SNAPSHOT_ENABLE::SET.value,
            Flag::All => {
                control |= $fields::THREAD_SNAPSHOT_ENABLE::SET.value
                    | $fields::SNAPSHOT_ALL_THREADS::SET.value;
            }
        }
        control
    }};
}

/// The units that trap a thread by its number: registers, fields of the control register, bits that the number has,
/// bits of the control register that are kept, and how the outputs are read.
macro_rules! thread_units {
    ($($(#[$doc:meta])* $unit:ident: $control:ident as $fields:ident, $trigger:ident & $bits:literal,
       keep $keep:expr, $outputs:ident: $gather:ident -> $data:ty;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $unit;

        impl Unit for $unit {
            type Trigger = ThreadTrigger;
            type Data = $data;
            registers!($control, $outputs);

            fn arming(trigger: &ThreadTrigger) -> Arming {
                Arming {
                    triggers: vec![($trigger.offset(), trigger.id & $bits)],
                    control: thread_control!($fields, trigger.flag),
                    keep: $keep,
                }
            }

            fn gather(output: &mut dyn FnMut(u8) -> u32) -> $data {
                $gather(output)
            }
        }
    )+};
}

thread_units! {
    /// Vertex shader.
    Vs: VS_CTL as VsCtl, VS_STRG_VAL & 0x00ff_ffff, keep 0, VS_RDATA: shader -> ShaderSnapshot;
    /// Geometry shader.
    Gs: GS_CTL as GsCtl, GS_STRG_VAL & 0x0fff_ffff, keep 0, GS_RDATA: six_vertices -> PrimitiveSnapshot;
    /// Clipper.
    Clip: CL_CTL as ClCtl, CL_STRG_VAL & 0x0fff_ffff, keep 0, CL_RDATA: three_vertices -> PrimitiveSnapshot;
    /// Strips and fans; its threads have the numbers of primitives.
    Sf: SF_CTL as SfCtl, SF_STRG_VAL & 0x0fff_ffff, keep SF_KEPT, SF_RDATA: three_vertices -> PrimitiveSnapshot;
}

/// Vertex fetch.
#[derive(Clone, Copy, Debug)]
pub struct Vf;

/// A vertex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VertexTrigger {
    /// By sequence number, 24 bits.
    Sequence(u32),
    /// By index.
    Index(u32),
}

/// What vertex fetch trapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VertexSnapshot {
    /// Number of the VS thread that has shaded the vertex, now or when it came into the vertex cache; of vertices
    /// trapped by their sequence numbers.
    pub thread: u32,
    /// Data that the manual leaves to another document; of vertices trapped by their indices.
    pub internal: u32,
}

impl Unit for Vf {
    type Trigger = VertexTrigger;
    type Data = VertexSnapshot;
    registers!(VF_CTL, VF_RDATA);

    fn arming(trigger: &VertexTrigger) -> Arming {
        let (value, kind) = match *trigger {
            VertexTrigger::Sequence(number) => (
                number & 0x00ff_ffff,
                VfCtl::SNAPSHOT_TYPE::SequenceNumber.value,
            ),
            VertexTrigger::Index(index) => (index, VfCtl::SNAPSHOT_TYPE::VertexIndex.value),
        };
        Arming {
            triggers: vec![(VF_STRG_VAL.offset(), value)],
            control: kind | VfCtl::SNAPSHOT_ENABLE::SET.value,
            keep: VF_KEPT,
        }
    }

    fn gather(output: &mut dyn FnMut(u8) -> u32) -> VertexSnapshot {
        VertexSnapshot {
            thread: output(0),
            internal: output(1),
        }
    }
}

/// What the vertex shader trapped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShaderSnapshot {
    /// Indices of the one or two vertices of the thread.
    pub indices: Vec<u32>,
    /// Kernel start pointer.
    pub kernel_pointer: u32,
}

fn shader(output: &mut dyn FnMut(u8) -> u32) -> ShaderSnapshot {
    let mut indices = vec![output(0), output(1)];
    indices.truncate(output(2) as usize);
    ShaderSnapshot {
        indices,
        kernel_pointer: output(3),
    }
}

/// What a unit trapped that takes primitives apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrimitiveSnapshot {
    /// Its vertices: where each comes from.
    pub vertices: Vec<VertexTag>,
    /// Kernel start pointer.
    pub kernel_pointer: u32,
}

/// What follows the vertices in the outputs: their count, and the kernel.
fn primitive(
    mut vertices: Vec<VertexTag>,
    count: u8,
    output: &mut dyn FnMut(u8) -> u32,
) -> PrimitiveSnapshot {
    vertices.truncate(output(count) as usize);
    PrimitiveSnapshot {
        vertices,
        kernel_pointer: output(count + 1),
    }
}

/// Outputs of clipper and SF: a tag and a relative number for each of three vertices.
fn three_vertices(output: &mut dyn FnMut(u8) -> u32) -> PrimitiveSnapshot {
    let tags = [0, 2, 4].map(|mux| VertexTag::new(output(mux), output(mux + 1)));
    primitive(tags.to_vec(), 6, output)
}

/// Outputs of GS: a tag for each of six vertices.
fn six_vertices(output: &mut dyn FnMut(u8) -> u32) -> PrimitiveSnapshot {
    let tags = [0, 2, 4, 6, 8, 10].map(|mux| VertexTag::new(output(mux), 0));
    primitive(tags.to_vec(), 12, output)
}

/// Windower.
#[derive(Clone, Copy, Debug)]
pub struct Wiz;

/// A subspan of 2x2 pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Subspan {
    /// Column of one of its pixels.
    pub x: u16,
    /// Row of one of its pixels.
    pub y: u16,
    /// Which occurrence (1 to 255), or the first; 0 comes never, and only counts.
    pub instance: Option<u8>,
    /// Only in the primitive that SF's snapshot has trapped.
    pub upstream: bool,
    /// One subspan in a thread.
    pub single: bool,
    /// Which threads get the snapshot flag.
    pub flag: Flag,
}

impl Unit for Wiz {
    type Trigger = Subspan;
    type Data = PixelSnapshot;
    registers!(WIZ_CTL, WIZ_RDATA);

    fn arming(trigger: &Subspan) -> Arming {
        let at = WizTrigger::PIXEL_Y_COMPARE_VALUE.val(trigger.y.into())
            + WizTrigger::PIXEL_X_COMPARE_VALUE.val(trigger.x.into());
        let mut control = thread_control!(WizCtl, trigger.flag);
        if trigger.upstream {
            control |= WizCtl::USE_UPSTREAM_SNAPSHOT_FLAG::SET.value;
        }
        if trigger.single {
            control |= WizCtl::SINGLE_SUBSPAN_DISPATCH::SET.value;
        }
        if let Some(instance) = trigger.instance {
            let which = WizCtl::ENABLE_SUBSPAN_INSTANCE_COMPARE::SET
                + WizCtl::SUBSPAN_INSTANCE_NUMBER.val(instance.into());
            control |= which.value;
        }
        Arming {
            triggers: vec![(WIZ_STRG_VAL.offset(), at.value)],
            control,
            keep: 0,
        }
    }

    fn gather(output: &mut dyn FnMut(u8) -> u32) -> PixelSnapshot {
        PixelSnapshot {
            kernel_pointer: output(0),
            subspan_instances: output(WIZ_INSTANCES),
            primitive: output(2),
        }
    }
}

/// Video front end: the thread with this debug identifier, 28 bits, which gets the snapshot flag.
#[derive(Clone, Copy, Debug)]
pub struct Vfe;

impl Unit for Vfe {
    type Trigger = u32;
    type Data = ();
    registers!(VFE_CTL, VFE_RDATA);

    fn arming(trigger: &u32) -> Arming {
        Arming {
            triggers: vec![(VFE_STRG_VAL.offset(), trigger & 0x0fff_ffff)],
            control: VfeCtl::SNAPSHOT_ENABLE::SET.value,
            keep: 0,
        }
    }

    fn gather(_: &mut dyn FnMut(u8) -> u32) {}
}

/// Thread spawner.
#[derive(Clone, Copy, Debug)]
pub struct Ts;

/// Threads of the spawner that get the snapshot flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpawnTrigger {
    /// Those with these bits 23:0 of r0.6 and r0.7.
    Match {
        /// r0.6.
        r0_6: u32,
        /// r0.7.
        r0_7: u32,
    },
    /// All threads without a parent, all with one, or both.
    All {
        /// Without a parent.
        roots: bool,
        /// With one.
        children: bool,
    },
}

/// What the thread spawner trapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpawnSnapshot {
    /// Interface descriptor of the thread, as its output has it (28 bits).
    pub interface_descriptor: u32,
    /// Whether it has a parent.
    pub child: bool,
    /// The first message that the spawner has refused, as its output has it; bit 15 says that there was one.
    pub message_error: u32,
}

impl Unit for Ts {
    type Trigger = SpawnTrigger;
    type Data = SpawnSnapshot;
    registers!(TS_CTL, TS_RDATA);

    fn arming(trigger: &SpawnTrigger) -> Arming {
        let enable = TsCtl::THREAD_SNAPSHOT_ENABLE::SET.value;
        match *trigger {
            SpawnTrigger::Match { r0_6, r0_7 } => Arming {
                triggers: vec![
                    (TS_STRG_0_6VAL.offset(), r0_6 & 0x00ff_ffff),
                    (TS_STRG_0_7VAL.offset(), r0_7 & 0x00ff_ffff),
                ],
                control: enable,
                keep: 0,
            },
            SpawnTrigger::All { roots, children } => {
                let all = TsCtl::SNAPSHOT_ALL_ROOT_THREADS.val(roots.into())
                    + TsCtl::SNAPSHOT_ALL_CHILD_THREADS.val(children.into());
                Arming {
                    triggers: Vec::new(),
                    control: enable | all.value,
                    keep: 0,
                }
            }
        }
    }

    fn gather(output: &mut dyn FnMut(u8) -> u32) -> SpawnSnapshot {
        let trapped = output(3);
        SpawnSnapshot {
            interface_descriptor: trapped & 0x0fff_ffff,
            child: trapped >> 29 & 1 != 0,
            message_error: output(0),
        }
    }
}

/// URB: a data phase (0 to 15) of a write by a thread with the snapshot flag.
#[derive(Clone, Copy, Debug)]
pub struct Urb;

/// What the URB trapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WriteSnapshot {
    /// Dwords 6 and 7 of the message's header.
    pub header: [u32; 2],
    /// The data phase.
    pub data: [u32; 8],
    /// Sideband of the first message that the URB has refused, as its output has it.
    pub message_error: u32,
}

impl Unit for Urb {
    type Trigger = u8;
    type Data = WriteSnapshot;
    registers!(URB_CTL, URB_RDATA);

    fn arming(trigger: &u8) -> Arming {
        let which = UrbCtl::SNAPSHOT_OUTPUT_REGISTER_SELECT.val((trigger & 15).into());
        Arming {
            triggers: Vec::new(),
            control: (which + UrbCtl::SNAPSHOT_ENABLE::SET).value,
            keep: 0,
        }
    }

    fn gather(output: &mut dyn FnMut(u8) -> u32) -> WriteSnapshot {
        WriteSnapshot {
            header: [1, 2].map(&mut *output),
            data: [8, 9, 10, 11, 12, 13, 14, 15].map(&mut *output),
            message_error: output(0),
        }
    }
}
