//! Synthetic frames on the driver: a heap of state, objects, batches.
//!
//! PRM: volume 2 (3D state commands). All state bases are 0, so that pointers are graphics addresses.

pub mod draw;
pub mod grid;
pub mod kernels;
pub mod raster;
pub mod registers;
pub mod sandybridge;
pub mod surface;

use driver::{BatchDesc, Object, Request, Tiling};
use kernel::error::Result;
use kernel::time::Delta;
use regs::gen40::values::surface_format;
use regs::gen40::{ConstantBuffer, CsUrbState, PipeControl, StateBaseAddress, UrbFence};

use crate::rig::Rig;
use draw::{Draw, places, vertex_buffer};
use surface::{Layout, Surface};

const BATCH: u32 = 0x0010_0000;
const HEAP: u32 = 0x0080_0000;
const OBJECTS: u32 = 0x0100_0000;

/// Device time for a frame.
pub const FRAME: Delta = Delta::from_millis(100);

/// A frame in the making, on a bound device.
pub struct Scene {
    /// The device.
    pub rig: Rig,
    heap: Vec<u32>,
    /// Commands so far.
    pub commands: Vec<u32>,
    /// Batches are the kernel's own: they may write registers.
    pub trusted: bool,
    objects: Vec<Object>,
    next: u32,
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

impl Scene {
    /// An empty frame on a fresh device.
    #[must_use]
    pub fn new() -> Self {
        Self::on("gm965")
    }

    /// An empty frame on a device by its name.
    #[must_use]
    pub fn on(device: &str) -> Self {
        Scene {
            rig: Rig::on(device),
            heap: Vec::new(),
            commands: Vec::new(),
            objects: Vec::new(),
            next: OBJECTS,
            trusted: false,
        }
    }

    /// Puts dwords into the heap; returns their graphics address.
    pub fn state(&mut self, align: u32, dwords: &[u32]) -> u32 {
        let at = self.heap.len().next_multiple_of(align as usize / 4);
        self.heap.resize(at, 0);
        self.heap.extend_from_slice(dwords);
        HEAP + at as u32 * 4
    }

    /// The heap's dword at a graphics address, while the frame is in the making.
    #[must_use]
    pub fn state_word(&self, address: u32) -> u32 {
        self.heap[(address - HEAP) as usize / 4]
    }

    /// Floats in the heap, as a vertex buffer or constants.
    pub fn floats(&mut self, values: &[f32]) -> u32 {
        let dwords: Vec<u32> = values.iter().map(|v| v.to_bits()).collect();
        self.state(64, &dwords)
    }

    /// A bound object of its own.
    pub fn object(&mut self, bytes: usize) -> Object {
        let object = self
            .rig
            .device
            .create_object(bytes, Tiling::None, 0)
            .expect("object");
        self.rig
            .device
            .bind_at(&object, self.next)
            .expect("binding");
        self.next += object.size() as u32 + 4096;
        self.objects.push(object.clone());
        object
    }

    /// A surface; `rows` counts all levels and slices.
    pub fn surface_rows(
        &mut self,
        (format, bytes): (u32, usize),
        (width, height): (u32, u32),
        rows: u32,
        layout: Layout,
    ) -> Surface {
        let (align, tall) = match layout {
            Layout::Linear => (64, 1),
            Layout::X => (512, 8),
            Layout::Y => (128, 32),
        };
        let pitch = (width as usize * bytes).next_multiple_of(align);
        let object = self.object(pitch * (rows as usize).next_multiple_of(tall));
        let address = object.address().expect("bound");
        Surface {
            object,
            address,
            format,
            bytes,
            width,
            height,
            pitch,
            layout,
        }
    }

    /// A surface of one level.
    pub fn surface(&mut self, format: (u32, usize), size: (u32, u32), layout: Layout) -> Surface {
        self.surface_rows(format, size, size.1, layout)
    }

    /// A B8G8R8A8 target of zeros.
    pub fn target(&mut self, width: u32, height: u32) -> Surface {
        self.surface((0xc0, 4), (width, height), Layout::Linear)
    }

    /// A linear target of floats, into which pixels can put any bits.
    pub fn float_target(&mut self, size: (u32, u32)) -> Surface {
        let format = surface_format::R32G32B32A32_FLOAT;
        self.surface((format, 16), size, Layout::Linear)
    }

    /// Gives a draw eight floats a vertex (position, colour) as its buffer 0.
    pub fn vertices(&mut self, draw: &mut Draw, vertices: &[[f32; 8]]) {
        let address = self.floats(vertices.as_flattened());
        draw.vertex_buffers = vec![vertex_buffer(0, address, 32)];
        draw.primitive
            .set_vertex_count_per_instance(vertices.len() as u32);
    }

    /// Appends all state of a draw and its 3DPRIMITIVE.
    pub fn draw(&mut self, draw: &Draw) {
        let pointers = self.units(draw);
        let mut base = StateBaseAddress::new();
        base.set_general_state_base_address_modify_enable(true)
            .set_surface_state_base_address_modify_enable(true)
            .set_indirect_object_base_address_modify_enable(true);
        // PIPELINE_SELECT 3D.
        self.commands.push(0x6104_0000);
        self.commands.extend(base.dwords());
        let mut fence = UrbFence::new();
        let f = draw.fences;
        fence
            .set_vs_unit_urb_reallocation_request(true)
            .set_gs_unit_urb_reallocation_request(true)
            .set_clip_unit_urb_reallocation_request(true)
            .set_sf_unit_urb_reallocation_request(true)
            .set_cs_unit_urb_reallocation_request(true)
            .set_vs_fence(f[0])
            .set_gs_fence(f[1])
            .set_clip_fence(f[2])
            .set_sf_fence(f[3])
            .set_cs_fence(f[4]);
        self.commands.extend(fence.dwords());
        let mut curbe = ConstantBuffer::new();
        let mut entries = CsUrbState::new();
        if !draw.constants.is_empty() {
            let mut padded = draw.constants.clone();
            padded.resize(padded.len().next_multiple_of(16), 0.0);
            let units = padded.len() as u32 / 16;
            entries
                .set_number_of_urb_entries(1)
                .set_urb_entry_allocation_size(units - 1);
            let at = self.floats(&padded);
            curbe
                .set_valid(true)
                .set_buffer_length(units - 1)
                .set_buffer_starting_address(at);
        }
        self.commands.extend(entries.dwords());
        self.commands.extend(curbe.dwords());
        // 3DSTATE_PIPELINED_POINTERS.
        self.commands.push(0x7800_0005);
        self.commands.extend(pointers);
        let surfaces: Vec<u32> = draw
            .surfaces
            .iter()
            .map(|s| self.state(32, s.dwords()))
            .collect();
        let table = self.state(32, &surfaces);
        // 3DSTATE_BINDING_TABLE_POINTERS.
        self.commands.extend([0x7801_0004, 0, 0, 0, 0, table]);
        self.vertex_state(draw);
        self.commands.extend(draw.rectangle.dwords());
        self.commands.extend(draw.depth.dwords());
        self.commands.extend(draw.primitive.dwords());
    }

    fn vertex_state(&mut self, draw: &Draw) {
        if !draw.vertex_buffers.is_empty() {
            let count = draw.vertex_buffers.len() as u32;
            self.commands.push(0x7808_0000 | (count * 4 - 1));
            for buffer in &draw.vertex_buffers {
                self.commands.extend(buffer.dwords());
            }
        }
        let count = draw.elements.len() as u32;
        self.commands.push(0x7809_0000 | (count * 2 - 1));
        for element in &draw.elements {
            self.commands.extend(element.dwords());
        }
        if let Some(indices) = &draw.index_buffer {
            self.commands.extend(indices.dwords());
        }
    }

    /// Unit states in the heap: the six pipelined pointers.
    fn units(&mut self, draw: &Draw) -> [u32; 6] {
        let mut vs = draw.vs;
        if let Some(kernel) = &draw.vs_kernel {
            let at = self.state(64, kernel);
            vs.set_kernel_start_pointer(at).set_enable(true);
        }
        let vs = self.state(32, vs.dwords());
        let gs = draw.gs_kernel.as_ref().map_or(0, |kernel| {
            let mut gs = draw.gs;
            gs.set_kernel_start_pointer(self.state(64, kernel));
            self.state(32, gs.dwords()) | 1
        });
        let clip = if draw.clip_enable {
            let mut clip = draw.clip;
            clip.set_kernel_start_pointer(self.state(64, &draw.clip_kernel))
                .set_clipper_viewport_state_pointer(self.state(32, draw.clip_viewport.dwords()));
            self.state(32, clip.dwords()) | 1
        } else {
            0
        };
        let mut sf = draw.sf;
        sf.set_kernel_start_pointer(self.state(64, &draw.sf_kernel))
            .set_setup_viewport_state_offset(self.state(32, draw.sf_viewport.dwords()));
        let sf = self.state(32, sf.dwords());
        let mut wm = draw.wm;
        wm.set_kernel_start_pointer_0(self.state(64, &draw.wm_kernel));
        if let Some((sampler, border)) = &draw.sampler {
            let mut colour = border.map(f32::to_bits).to_vec();
            colour.resize(12, 0);
            let mut sampler = *sampler;
            sampler.set_border_color_pointer(self.state(32, &colour));
            wm.set_sampler_state_pointer(self.state(32, sampler.dwords()));
        }
        let wm = self.state(32, wm.dwords());
        let mut cc = draw.cc;
        cc.set_cc_viewport_state_pointer(self.state(32, draw.cc_viewport.dwords()));
        let cc = self.state(64, cc.dwords());
        [vs, gs, clip, sf, wm, cc]
    }

    /// Appends a PIPE_CONTROL that writes after the pipeline: operation 1 immediate, 2 depth count,
    /// 3 timestamp.
    pub fn post_sync(&mut self, operation: u32, address: u32, immediate: u64) {
        let mut control = PipeControl::new();
        control
            .set_write_cache_flush(true)
            .set_post_sync_operation(operation)
            .set_destination_address_type(1)
            .set_address(address)
            .set_immediate_data(immediate);
        self.commands.extend(control.dwords());
    }

    /// Submits the frame; heap and commands begin anew.
    pub fn submit(&mut self) -> Frame {
        let mut commands = std::mem::take(&mut self.commands);
        commands.extend([0x0500_0000, 0]);
        let heap = std::mem::take(&mut self.heap);
        let batch = self.rig.object(BATCH, commands.len() * 4, &commands);
        let heap = self.rig.object(HEAP, (heap.len() * 4).max(4), &heap);
        let desc = BatchDesc {
            object: &batch,
            start: 0,
            len: batch.size() as u32,
        };
        let request = if self.trusted {
            self.rig.device.submit_trusted(&desc)
        } else {
            self.rig.device.submit(&desc)
        };
        let request = request.expect("submission");
        Frame {
            request,
            buffers: [batch, heap],
        }
    }

    /// Submits the frame and waits for its end.
    pub fn run(&mut self) {
        let frame = self.submit();
        let result = frame.request.wait(FRAME);
        if let Err(error) = result {
            let device = self.rig.platform.device();
            panic!(
                "{error:?}: faults {:?}, hung {:?}, {:?}",
                device.status().faults(),
                device.hung_threads(),
                device.status().activity
            );
        }
        frame.release();
    }

    /// Draws a topology with white vertices at places in pixels, and waits.
    pub fn paint(&mut self, draw: &mut Draw, topology: u32, points: &[[f32; 2]]) {
        self.vertices(draw, &places(points));
        draw.topology(topology, points.len() as u32);
        self.draw(draw);
        self.run();
    }

    /// Ends the test: idle, no fault, nothing leaks.
    pub fn finish(self) {
        drop(self.objects);
        self.rig.finish();
    }

    /// Ends a test that provoked faults and has reset the device since.
    pub fn finish_after_fault(self) {
        drop(self.objects);
        self.rig.finish_after_fault();
    }

    /// Waits for a frame that must hang, checks error state, resets.
    pub fn hang(&mut self, timeout: Delta) -> String {
        let frame = self.submit();
        let result = frame.request.wait(timeout);
        assert!(result.is_err(), "the frame ended");
        let state = self.rig.device.capture("hang").to_string();
        let hung = self.rig.platform.device().hung_threads().join("; ");
        self.rig.device.reset().expect("reset");
        frame.release();
        format!("{result:?}\n{hung}\n{state}")
    }
}

/// A submitted frame and what it runs from.
pub struct Frame {
    /// The request.
    pub request: Request,
    buffers: [Object; 2],
}

impl Frame {
    /// Unbinds batch and heap.
    pub fn release(self) {
        drop(self.request);
        for buffer in &self.buffers {
            buffer.unbind();
        }
    }

    /// Whether the fence has signalled without error.
    pub fn wait(&self, timeout: Delta) -> Result {
        self.request.wait(timeout)
    }
}
