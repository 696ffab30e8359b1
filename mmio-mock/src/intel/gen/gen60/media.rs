//! Media commands and descriptors of Sandy Bridge, and r0 of its root threads.
//!
//! genxml gen6 MEDIA_VFE_STATE, MEDIA_CURBE_LOAD, MEDIA_INTERFACE_DESCRIPTOR_LOAD, INTERFACE_DESCRIPTOR_DATA, MEDIA_OBJECT,
//! MEDIA_OBJECT_WALKER; units of sizes: intel-vaapi-driver i965_post_processing.c `gen6_pp_vfe_state`. r0 is that of the kernels of
//! that driver (shaders/vme) and of Intel's compiler, which serves these parts too (vISA BuildIRImpl.cpp: r0.1 has the place, r0.2 3:0 the
//! colour, r0.5 7:0 the dispatch ID). Not modelled: a gateway that is bypassed, the scoreboard that does not stall, Dual Mode and Repel.

use eu::Grf;
use mem::{Fault, GpuAddr, Memory};
use regs::gen60 as table;

use crate::core::fault::UnitFault;
use crate::intel::r#gen::gen40::media::{self as gen40, Reader as Gen40};
use crate::intel::media::reader::{
    Descriptors, Load, MediaKernel, MediaObject, MediaReader, Missing, Place, RootHeader,
    Scoreboard, Sections, VfeMode, VfeState,
};
use crate::intel::media::walker::{Loops, Walker};
use crate::intel::shared::context::{StateBases, ThreadContext};
use crate::intel::status::Unit;
use crate::intel::td::KernelState;

use super::units::REGISTERS;

/// Dwords of MEDIA_OBJECT in front of the inline data.
const HEADER: usize = 6;
/// Dwords of MEDIA_OBJECT_WALKER in front of the inline data.
const WALKER_HEADER: usize = 17;
/// Bytes of an interface descriptor.
const DESCRIPTOR: u32 = 32;
/// Most root threads: the dispatch ID has eight bits.
const THREADS: u32 = 255;

/// The reader.
#[derive(Debug)]
pub struct Reader;

impl MediaReader for Reader {
    fn sets_front_end(&self) -> &'static str {
        "MEDIA_VFE_STATE"
    }

    fn front_end(
        &self,
        _mem: &Memory,
        _bases: &StateBases,
        command: &[u32],
    ) -> Result<VfeState, Fault> {
        let c = table::MediaVfeState::from_dwords(command);
        let sections = self.sections(command);
        let bypass = (
            "Bypass Gateway Control of MEDIA_VFE_STATE",
            "genxml gen6 MEDIA_VFE_STATE",
        );
        Ok(VfeState {
            addr: None,
            mode: Ok(VfeMode::Generic),
            entries: sections.entries,
            entry_rows: sections.entry_rows,
            // CAST: at most 255.
            threads: (c.maximum_number_of_threads() + 1).min(THREADS) as u8,
            children: false,
            // Pointers begin where descriptors were loaded from.
            descriptors: 0,
            scratch: c.scratch_space_base_pointer(),
            scratch_power: c.per_thread_scratch_space(),
            scratch_bytes: gen40::scratch_bytes(c.per_thread_scratch_space()),
            groups: false,
            scoreboard: scoreboard(&c),
            missing: c.bypass_gateway_control().then_some(bypass),
        })
    }

    fn sections(&self, command: &[u32]) -> Sections {
        let c = table::MediaVfeState::from_dwords(command);
        // CAST: fields of 16 bits and less; all sizes count rows of 256 bits.
        Sections {
            constants: c.curbe_allocation_size() as u16,
            entries: c.number_of_urb_entries() as u16,
            // An entry has a row at least: i915's gt/gen7_renderclear.c gives objects with data entries of 0.
            entry_rows: (c.urb_entry_allocation_size() as u16).max(1),
        }
    }

    fn constants_load(&self, command: &[u32]) -> Load {
        let c = table::MediaCurbeLoad::from_dwords(command);
        Load {
            start: c.curbe_data_start_address(),
            bytes: c.curbe_total_data_length(),
        }
    }

    fn descriptors_load(&self, command: &[u32]) -> Load {
        let c = table::MediaInterfaceDescriptorLoad::from_dwords(command);
        Load {
            start: c.interface_descriptor_data_start_address(),
            bytes: c.interface_descriptor_total_length(),
        }
    }

    fn kernel(
        &self,
        _mem: &Memory,
        bases: &StateBases,
        loaded: &Descriptors,
        pointer: u32,
    ) -> Result<MediaKernel, UnitFault> {
        let Some(words) = loaded.at(pointer, table::InterfaceDescriptorData::LEN) else {
            return Err(UnitFault::State {
                unit: "VFE",
                addr: GpuAddr::from(bases.dynamic().wrapping_add(pointer)),
                what: "interface descriptor that no MEDIA_INTERFACE_DESCRIPTOR_LOAD has loaded"
                    .to_owned(),
            });
        };
        let d = table::InterfaceDescriptorData::from_dwords(words);
        Ok(MediaKernel {
            kernel: KernelState {
                ip: d.kernel_start_pointer(),
                grf_count: REGISTERS,
                alt_float: d.floating_point_mode() != 0,
                single_program_flow: d.single_program_flow(),
                illegal_opcode_exception: d.illegal_opcode_exception_enable(),
                mask_stack_exception: d.mask_stack_exception_enable(),
                software_exception: d.software_exception_enable(),
                high_priority: d.thread_priority() != 0,
                urb_start: 1,
            },
            context: ThreadContext {
                bases: *bases,
                binding_table_pointer: d.binding_table_pointer(),
                sampler_state_pointer: d.sampler_state_pointer(),
                scratch_base: 0,
                scratch_size: 0,
                ffid: Unit::Media.ffid(),
            },
            // CAST: fields of 16 bits.
            constant_offset: d.constant_urb_entry_read_offset() as u16,
            constant_rows: d.constant_urb_entry_read_length() as u16,
        })
    }

    fn object<'a>(&self, command: &'a [u32]) -> MediaObject<'a> {
        let c = table::MediaObject::from_dwords(command);
        // CAST: fields of nine, eight and four bits.
        MediaObject {
            descriptor: c.interface_descriptor_offset() * DESCRIPTOR,
            inline: command.get(HEADER..).unwrap_or_default(),
            indirect: c.indirect_data_start_address(),
            indirect_bytes: c.indirect_data_length(),
            synchronized: c.thread_synchronization(),
            children: c.children_present(),
            place: Place {
                x: c.scoreboard_x() as u16,
                y: c.scoreboard_y() as u16,
                color: c.scoreboard_color() as u8,
            },
            waits: c.use_scoreboard().then_some(c.scoreboard_mask() as u8),
        }
    }

    fn walker<'a>(&self, command: &'a [u32]) -> Result<(MediaObject<'a>, Walker), Missing> {
        let c = table::MediaObjectWalker::from_dwords(command);
        let missing = |what| Err((what, "genxml gen6 MEDIA_OBJECT_WALKER"));
        if c.dual_mode() || c.repel() {
            return missing("Dual Mode and Repel of MEDIA_OBJECT_WALKER");
        }
        // CAST: fields of at most ten bits.
        let pair = |x: u32, y: u32| (x as i32, y as i32);
        let walker = Walker {
            colors: c.color_count_minus_one() as u8 + 1,
            middle: (c.mid_loop_unit_x(), c.local_mid_loop_unit_y()),
            middle_lines: c.middle_loop_extra_steps() + 1,
            local: Loops {
                start: pair(c.local_start_x(), c.local_start_y()),
                outer: (c.local_outer_loop_stride_x(), c.local_outer_loop_stride_y()),
                inner: (c.local_inner_loop_unit_x(), c.local_inner_loop_unit_y()),
                lines: c.local_loop_exec_count() + 1,
            },
            global: Loops {
                start: (c.global_start_x(), c.global_start_y()),
                outer: (
                    c.global_outer_loop_stride_x(),
                    c.global_outer_loop_stride_y(),
                ),
                inner: (c.global_inner_loop_unit_x(), c.global_inner_loop_unit_y()),
                lines: c.global_loop_exec_count() + 1,
            },
            block: pair(c.block_resolution_x(), c.block_resolution_y()),
            resolution: pair(c.global_resolution_x(), c.global_resolution_y()),
        };
        let end = pair(c.local_end_x(), c.local_end_y());
        if walker.first_end().is_some_and(|first| first != end) {
            return missing(
                "a Local End of MEDIA_OBJECT_WALKER that is not where the first line ends",
            );
        }
        let object = MediaObject {
            descriptor: c.interface_descriptor_offset() * DESCRIPTOR,
            inline: command.get(WALKER_HEADER..).unwrap_or_default(),
            indirect: c.indirect_data_start_address(),
            indirect_bytes: c.indirect_data_length(),
            synchronized: c.thread_synchronization(),
            children: c.children_present(),
            place: Place::default(),
            waits: c.use_scoreboard().then_some(c.scoreboard_mask() as u8),
        };
        Ok((object, walker))
    }

    fn root(&self, header: &RootHeader) -> Grf {
        let place = header.place;
        let mut r0 = Gen40.root(header);
        r0[1] = u32::from(place.x) | u32::from(place.y) << 16;
        r0[2] |= u32::from(place.color);
        r0
    }

    /// These parts have no snapshots.
    fn flag(&self, _r0: &mut Grf) {}

    /// Nor debug identifiers.
    fn identifier(&self, _object: u32, _thread: u32) -> u32 {
        0
    }
}

/// The scoreboard of a MEDIA_VFE_STATE.
fn scoreboard(c: &table::MediaVfeState) -> Result<Option<Scoreboard>, Missing> {
    if !c.scoreboard_enable() {
        return Ok(None);
    }
    if c.scoreboard_type() != 0 {
        return Err((
            "the scoreboard that does not stall",
            "genxml gen6 MEDIA_VFE_STATE, Scoreboard Type",
        ));
    }
    // CAST: signed fields of four bits, and a mask of eight.
    let deltas = [
        (c.scoreboard_0_delta_x(), c.scoreboard_0_delta_y()),
        (c.scoreboard_1_delta_x(), c.scoreboard_1_delta_y()),
        (c.scoreboard_2_delta_x(), c.scoreboard_2_delta_y()),
        (c.scoreboard_3_delta_x(), c.scoreboard_3_delta_y()),
        (c.scoreboard_4_delta_x(), c.scoreboard_4_delta_y()),
        (c.scoreboard_5_delta_x(), c.scoreboard_5_delta_y()),
        (c.scoreboard_6_delta_x(), c.scoreboard_6_delta_y()),
        (c.scoreboard_7_delta_x(), c.scoreboard_7_delta_y()),
    ];
    Ok(Some(Scoreboard {
        deltas: deltas.map(|(x, y)| (x as i8, y as i8)),
        mask: c.scoreboard_mask() as u8,
    }))
}

#[cfg(test)]
mod tests;
