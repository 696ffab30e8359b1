//! Typed media batches: kernels, surfaces, front end state, one object a thread.
//!
//! PRM vol2 "Media pipeline"; order of the commands as in intel-vaapi-driver i965_media.c and i965_post_processing.c. Words of a
//! generation are the matter of [`MediaOps`]. Not modelled: the modes of the front end other than generic, samplers, walkers.
use alloc::vec::Vec;

use kernel::error::{Result, code::EINVAL};
use regs::any::BindingTableState;

use crate::batch::{Batch, StateOffset, Target};
use crate::emit::Sink;
use crate::r#gen::media::MediaOps;

/// Dwords of a 512-bit unit.
pub(crate) const UNIT: usize = 16;

/// What a kernel sees of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surface {
    /// Entries one behind the other.
    Buffer {
        /// How many.
        entries: u32,
        /// Bytes from one to the next.
        pitch: u32,
        /// Code of their format.
        format: u32,
    },
    /// Rows of pixels.
    Image {
        /// Columns; media blocks count dwords (PRM vol4 5.6.1).
        width: u32,
        /// Rows.
        height: u32,
        /// Bytes from row to row.
        pitch: u32,
        /// Code of the pixels' format.
        format: u32,
    },
}

/// Where the instructions of a kernel are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// In the batch's own buffer; made by [`Media::kernel`].
    State(StateOffset),
    /// In another buffer, at a multiple of 64 bytes.
    Buffer(Target, u32),
}

/// A kernel and what its threads are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// The instructions.
    pub code: Code,
    /// General registers of a thread, 1 to 128.
    pub registers: u32,
    /// Registers of constants that are loaded from r1 on.
    pub constants: u32,
    /// Binding table and its entries; made by [`Media::binding_table`].
    pub surfaces: Option<(StateOffset, u32)>,
}

/// Interface descriptors in the batch's own buffer; made by [`Media::descriptors`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptors {
    /// The first of them.
    pub first: StateOffset,
    /// How many.
    pub count: u32,
}

/// A root thread: its kernel, its data, and what it waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Object<'a> {
    /// Number of the kernel among those of [`Media::descriptors`].
    pub descriptor: u32,
    /// Data in the command; they follow the constants in the thread's registers.
    pub inline: &'a [u32],
    /// Data in memory; they follow the inline data, from a new register on.
    pub indirect: Option<Indirect>,
    /// The thread starts after a spawn root thread message (Thread Synchronization).
    pub synchronized: bool,
    /// The thread may start children. Where the front end's state says it for all of them, this says nothing.
    pub children: bool,
}

/// Data of a root thread that lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Indirect {
    /// Where they begin.
    pub from: Data,
    /// How many bytes, up to 131071.
    pub bytes: u32,
}

/// Where data are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Data {
    /// In the batch's own buffer; made by [`Batch::state`].
    State(StateOffset),
    /// In another buffer, from a byte on.
    Buffer(Target, u32),
}

/// The front end: threads, and how the URB is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrontEnd {
    /// Threads at a time.
    pub threads: u32,
    /// Entries for inline data and payloads of children.
    pub entries: u32,
    /// Their size in 512-bit units.
    pub entry_units: u32,
    /// Size of the constants in 512-bit units; 0 when there are none.
    pub constant_units: u32,
    /// Root threads may start children.
    pub children: bool,
    /// Scratch memory, and its size a thread: 1 KiB times this power of two.
    pub scratch: Option<(Target, u32)>,
}

impl FrontEnd {
    fn check(&self, urb_units: u32) -> Result {
        let wanted = self
            .entries
            .saturating_mul(self.entry_units)
            .saturating_add(self.constant_units);
        let well = (1..=128).contains(&self.threads)
            && (1..=127).contains(&self.entries)
            && (1..=urb_units).contains(&self.entry_units)
            && self.constant_units <= 32
            && self.scratch.is_none_or(|(_, power)| power <= 11);
        if well && wanted <= urb_units {
            Ok(())
        } else {
            Err(EINVAL)
        }
    }
}

/// State and commands of the media pipeline, in a [`Batch`].
///
/// `kernel`, `surface`, `binding_table` and `descriptors` make state; `begin` sets the pipeline up with it, `object`
/// or `root` starts a root thread each, `end` makes the results visible.
pub trait Media {
    /// Instructions of a kernel.
    fn kernel(&mut self, words: &[[u32; 4]]) -> StateOffset;

    /// A surface at `delta` bytes from a buffer's start; its address is filled in.
    fn surface(
        &mut self,
        ops: &MediaOps,
        surface: &Surface,
        target: Target,
        delta: u32,
    ) -> StateOffset;

    /// A binding table: entry n is surface n.
    fn binding_table(&mut self, surfaces: &[StateOffset]) -> StateOffset;

    /// Interface descriptors of kernels, numbered from 0.
    ///
    /// `EINVAL` when a number does not fit its field.
    fn descriptors(&mut self, ops: &MediaOps, kernels: &[Kernel]) -> Result<Descriptors>;

    /// Selects the pipeline, with bases of 0, and sets it up.
    ///
    /// `EINVAL` when the URB is too small or a number does not fit its field.
    fn begin(
        &mut self,
        ops: &MediaOps,
        descriptors: Descriptors,
        front_end: &FrontEnd,
        constants: &[u32],
    ) -> Result;

    /// A root thread of kernel `descriptor`, with data that follow the constants in its registers.
    ///
    /// `EINVAL` when a number does not fit its field.
    fn object(&mut self, ops: &MediaOps, descriptor: u32, inline: &[u32]) -> Result {
        let object = Object {
            descriptor,
            inline,
            ..Object::default()
        };
        self.root(ops, &object)
    }

    /// A root thread with all that a command can say of it.
    ///
    /// `EINVAL` when a number does not fit its field.
    fn root(&mut self, ops: &MediaOps, object: &Object<'_>) -> Result;

    /// Waits for all threads and writes the render cache back.
    fn end(&mut self, ops: &MediaOps);
}

impl Media for Batch {
    fn kernel(&mut self, words: &[[u32; 4]]) -> StateOffset {
        self.state(64, words.as_flattened())
    }

    fn surface(
        &mut self,
        ops: &MediaOps,
        surface: &Surface,
        target: Target,
        delta: u32,
    ) -> StateOffset {
        let surface = self.state(32, &(ops.surface)(surface));
        self.patch_address(surface, 1, target, delta);
        surface
    }

    fn binding_table(&mut self, surfaces: &[StateOffset]) -> StateOffset {
        let empty = BindingTableState::default();
        let entries: Vec<u32> = surfaces.iter().flat_map(|_| empty.0).collect();
        let table = self.state(32, &entries);
        for (entry, surface) in surfaces.iter().enumerate() {
            self.patch_state(table, entry, *surface, 0);
        }
        table
    }

    fn descriptors(&mut self, ops: &MediaOps, kernels: &[Kernel]) -> Result<Descriptors> {
        for kernel in kernels {
            let aligned = match kernel.code {
                Code::State(_) => true,
                Code::Buffer(_, offset) => offset.is_multiple_of(64),
            };
            if !aligned || !(1..=128).contains(&kernel.registers) || kernel.constants > 63 {
                return Err(EINVAL);
            }
        }
        Ok(Descriptors {
            first: (ops.descriptors)(self, kernels),
            count: kernels.len() as u32,
        })
    }

    fn begin(
        &mut self,
        ops: &MediaOps,
        descriptors: Descriptors,
        front_end: &FrontEnd,
        constants: &[u32],
    ) -> Result {
        front_end.check(ops.urb_units)?;
        let units = constants.len().div_ceil(UNIT);
        if units > front_end.constant_units as usize {
            return Err(EINVAL);
        }
        self.put(&(ops.flush)(true));
        self.put(&(ops.select)());
        let mut padded = constants.to_vec();
        padded.resize(units * UNIT, 0);
        (ops.set_up)(self, descriptors, front_end, &padded);
        Ok(())
    }

    fn root(&mut self, ops: &MediaOps, object: &Object<'_>) -> Result {
        let bytes = object.indirect.map_or(0, |indirect| indirect.bytes);
        if object.descriptor > 31 || object.inline.len() > 0x1ff || bytes > 0x1_ffff {
            return Err(EINVAL);
        }
        let [front, back] = (ops.object)(object, bytes);
        self.put(&front);
        // An address as it is: the base of indirect objects is 0.
        match object.indirect.map(|indirect| indirect.from) {
            Some(Data::State(at)) => self.state_address(at, 0),
            Some(Data::Buffer(target, offset)) => self.address(target, offset),
            None => self.put(&[0]),
        }
        self.put(&back);
        self.put(object.inline);
        Ok(())
    }

    fn end(&mut self, ops: &MediaOps) {
        self.put(&(ops.flush)(false));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn ops() -> &'static MediaOps {
        crate::r#gen::media::of(&regs::platform::GEN40).unwrap()
    }

    const FRONT_END: FrontEnd = FrontEnd {
        threads: 16,
        entries: 32,
        entry_units: 2,
        constant_units: 1,
        children: false,
        scratch: None,
    };

    /// Headers as intel-vaapi-driver i965_defines.h has them, fields as in i965_structs.h.
    #[test]
    fn a_batch_is_the_documented_dwords() {
        let mut batch = Batch::new();
        let image = batch.buffer();
        let code = batch.kernel(&[[1, 2, 3, 4]]);
        let state = Surface::Image {
            width: 4,
            height: 16,
            pitch: 1,
            format: 0,
        };
        let surface = batch.surface(ops(), &state, image, 0x40);
        let table = batch.binding_table(&[surface]);
        let kernel = Kernel {
            code: Code::State(code),
            registers: 20,
            constants: 1,
            surfaces: Some((table, 1)),
        };
        let descriptors = batch.descriptors(ops(), &[kernel]).unwrap();
        batch
            .begin(ops(), descriptors, &FRONT_END, &[7, 8])
            .unwrap();
        batch.object(ops(), 0, &[11, 12]).unwrap();
        let buffer = batch.buffer();
        let indirect = |from, bytes| Some(Indirect { from, bytes });
        let data = batch.state(64, &[5, 6, 7]);
        let objects = [
            Object {
                descriptor: 2,
                inline: &[13],
                indirect: indirect(Data::Buffer(buffer, 0x48), 0x1_0004),
                synchronized: true,
                ..Object::default()
            },
            Object {
                indirect: indirect(Data::State(data), 12),
                ..Object::default()
            },
        ];
        for object in &objects {
            batch.root(ops(), object).unwrap();
        }
        batch.end(ops());
        let built = batch.build(0x10_0000, &[0x20_0000, 0x30_0000]).unwrap();
        let dword = |at: u32| {
            let at = at as usize;
            u32::from_le_bytes(built.bytes[at..at + 4].try_into().unwrap())
        };
        let commands: Vec<u32> = (0..built.commands / 4).map(|i| dword(i * 4)).collect();
        let heap = 0x10_0000 + built.state;
        let state = |at: StateOffset| built.state + at.0;
        let vfe = commands[10] - 0x10_0000;
        assert_eq!(
            commands[..11],
            [
                0x0200_0002, // MI_FLUSH, invalidate
                0x6104_0001, // PIPELINE_SELECT of this family, media
                0x6101_0004, // STATE_BASE_ADDRESS
                1,
                1,
                1,
                1,
                1,
                0x7000_0001, // MEDIA_STATE_POINTERS
                0,
                0x10_0000 + vfe,
            ]
        );
        let fence = commands.iter().position(|d| *d == 0x6000_3f01).unwrap();
        assert!(commands[11..fence].iter().all(|d| *d == 0) && fence % 16 <= 13);
        let constants = commands[fence + 6];
        assert_eq!(
            commands[fence..],
            [
                0x6000_3f01, // URB_FENCE
                0,
                64 << 10 | 65 << 20,
                0x6001_0000, // CS_URB_STATE
                1,
                0x6002_0100, // CONSTANT_BUFFER, valid
                constants,
                0x7100_0004, // MEDIA_OBJECT
                0,
                0,
                0,
                11,
                12,
                0x7100_0003, // the same with indirect data, bit 24 of dword 2: Thread Synchronization
                2,
                0x0101_0004,
                0x0030_0048,
                13,
                0x7100_0002,
                0,
                12,
                heap + data.0,
                0x0200_0000, // MI_FLUSH
                0x0500_0000, // MI_BATCH_BUFFER_END
            ]
            .into_iter()
            .chain(core::iter::repeat_n(0, commands.len() - fence - 24))
            .collect::<Vec<_>>()
        );
        let constants = constants - 0x10_0000;
        assert_eq!([dword(constants), dword(constants + 4)], [7, 8]);
        assert_eq!(dword(vfe + 4), 15 << 25 | 1 << 16 | 32 << 9);
        assert_eq!(dword(vfe + 8), heap + descriptors.first.0);
        let at = state(descriptors.first);
        assert_eq!(
            [0, 4, 8, 12].map(|i| dword(at + i)),
            [(heap + code.0) | 2, 1 << 26, 0, (heap + table.0) | 1]
        );
        assert_eq!(dword(state(table)), heap + surface.0);
        assert_eq!(
            [0, 4, 8].map(|i| dword(state(surface) + i)),
            [1 << 29, 0x20_0040, 3 << 6 | 15 << 19]
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut batch = Batch::new();
        let code = batch.kernel(&[[0; 4]]);
        let kernel = |registers, constants| Kernel {
            code: Code::State(code),
            registers,
            constants,
            surfaces: None,
        };
        for (registers, constants) in [(0, 0), (129, 0), (1, 64)] {
            assert!(
                batch
                    .descriptors(ops(), &[kernel(registers, constants)])
                    .is_err()
            );
        }
        let unaligned = Kernel {
            code: Code::Buffer(Target::BATCH, 32),
            ..kernel(128, 0)
        };
        assert!(batch.descriptors(ops(), &[unaligned]).is_err());
        let descriptors = batch.descriptors(ops(), &[kernel(128, 0)]).unwrap();
        let wrong = [
            FrontEnd {
                threads: 0,
                ..FRONT_END
            },
            FrontEnd {
                threads: 129,
                ..FRONT_END
            },
            FrontEnd {
                entries: 0,
                ..FRONT_END
            },
            FrontEnd {
                entries: 128,
                ..FRONT_END
            },
            FrontEnd {
                entries: 127,
                entry_units: 3,
                ..FRONT_END
            },
            FrontEnd {
                constant_units: 33,
                ..FRONT_END
            },
            FrontEnd {
                entries: 120,
                constant_units: 20,
                ..FRONT_END
            },
        ];
        for front_end in wrong {
            assert!(
                batch.begin(ops(), descriptors, &front_end, &[]).is_err(),
                "{front_end:?}"
            );
        }
        assert!(
            batch
                .begin(ops(), descriptors, &FRONT_END, &[0; 17])
                .is_err()
        );
        assert!(batch.object(ops(), 32, &[]).is_err());
        assert!(batch.object(ops(), 0, &[0; 0x200]).is_err());
        let large = Indirect {
            from: Data::State(code),
            bytes: 0x2_0000,
        };
        let object = Object {
            indirect: Some(large),
            ..Object::default()
        };
        assert!(batch.root(ops(), &object).is_err());
    }

    /// Headers: intel-vaapi-driver i965_defines.h; order and sizes: i965_post_processing.c, `gen6_pp_vfe_state` and those behind it;
    /// places of fields: genxml gen6.
    #[test]
    fn state_in_commands() {
        let ops = crate::r#gen::media::of(&regs::platform::GEN60).unwrap();
        let mut batch = Batch::new();
        let (out, scratch) = (batch.buffer(), batch.buffer());
        let surface = Surface::Buffer {
            entries: 8,
            pitch: 16,
            format: 0,
        };
        let surface = batch.surface(ops, &surface, out, 0);
        let table = batch.binding_table(&[surface]);
        let kernel = |code| Kernel {
            code,
            registers: 128,
            constants: 2,
            surfaces: Some((table, 1)),
        };
        let code = batch.kernel(&[[1, 2, 3, 4]]);
        let kernels = [kernel(Code::State(code)), kernel(Code::Buffer(out, 0x40))];
        let descriptors = batch.descriptors(ops, &kernels).unwrap();
        let front_end = FrontEnd {
            scratch: Some((scratch, 3)),
            ..FRONT_END
        };
        batch.begin(ops, descriptors, &front_end, &[7; 9]).unwrap();
        let object = Object {
            descriptor: 1,
            inline: &[11, 12],
            indirect: Some(Indirect {
                from: Data::Buffer(out, 0x48),
                bytes: 20,
            }),
            synchronized: true,
            children: true,
        };
        batch.root(ops, &object).unwrap();
        let built = batch.build(0x10_0000, &[0x20_0000, 0x30_0000]).unwrap();
        let words = built.bytes.as_chunks::<4>().0.iter();
        let words: Vec<u32> = words.map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let state = 0x10_0000 + built.state;
        let begin = words.iter().position(|w| *w == 0x7000_0006).unwrap();
        let load = words[begin + 11];
        let table_of = words[begin + 15];
        let expected = [
            0x7000_0006,
            0x30_0003,
            32 << 8 | 15 << 16,
            0,
            2 | 4 << 16,
            0,
            0,
            0,
            0x7001_0002,
            0,
            64,
            load,
            0x7002_0002,
            0,
            64,
            table_of,
            0x7100_0006,
            1,
            0x14 | 1 << 24 | 1 << 31,
            0x20_0048,
            0,
            0,
            11,
            12,
        ];
        assert_eq!(words[begin..begin + 24], expected);
        let at = |address: u32| &words[(address - 0x10_0000) as usize / 4..];
        assert_eq!(
            at(load)[..16],
            [7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(
            at(table_of)[..8],
            [
                state + code.0,
                0,
                0,
                (state + table.0) | 1,
                2 << 16,
                0,
                0,
                0
            ]
        );
        assert_eq!(
            at(table_of)[8..16],
            [0x20_0040, 0, 0, (state + table.0) | 1, 2 << 16, 0, 0, 0]
        );
    }
}
