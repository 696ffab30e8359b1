//! One draw of Sandy Bridge: state in commands, kernels as text.
//!
//! genxml gen6; the order of the commands and what they leave zero are those of Mesa 22.3.6's frames (crocus). All bases of
//! state are 0, so that pointers are graphics addresses. Defaults: triangles in clip space on one target, eight pixels a
//! thread, no GS, no depth buffer.

use isa::Verx10;
use regs::gen60::{
    Primitive3d, SfViewport, State3dClip, State3dDrawingRectangle, State3dGs, State3dSf,
    State3dUrb, State3dVs, State3dWm, SurfaceState, VertexBufferState, VertexElementState,
};

use super::Scene;

/// A vertex: position and one attribute (genxml gen6: R32G32B32A32_FLOAT is format 0).
const VERTEX_BYTES: u32 = 32;

/// The vertex shader that stores positions and an attribute as they are, with a header of zeros (Mesa's kernel of a plain
/// interpolated colour).
pub const VS_PASS: &str = "\
mov(8) m2<1>D 0D { align16 1Q };
mov(8) m3<1>F g1<4>F { align16 1Q };
mov(8) m4<1>F g2<4>F { align16 1Q };
mov(8) m1<1>UD g0<4>UD { align16 WE_all 1Q };
send(8) null<1>F m1<4>F urb MsgDesc: offset 0 urb_write interleave used complete mlen 5 rlen 0 header { align16 1Q EOT };
";

/// Pixels of the first attribute, eight a thread: weights are in r2 and r3, planes from r4 on.
pub const PS_COLOUR: &str = "\
pln(8) m1<1>F g4<0,1,0>F g2<8,8,1>F { align1 1Q };
pln(8) m2<1>F g4.4<0,1,0>F g2<8,8,1>F { align1 1Q };
pln(8) m3<1>F g5<0,1,0>F g2<8,8,1>F { align1 1Q };
pln(8) m4<1>F g5.4<0,1,0>F g2<8,8,1>F { align1 1Q };
sendc(8) null<1>UW m1<8,8,1>F render MsgDesc: RT write SIMD8 LastRT Surface = 0 mlen 4 rlen 0 { align1 1Q EOT };
";

/// Everything that a 3DPRIMITIVE needs. Pointers to kernels, constants and viewports are the scene's to fill in.
#[derive(Clone, Debug)]
pub struct Draw {
    /// VS kernel; none: vertices pass.
    pub vs_kernel: Option<String>,
    /// 3DSTATE_VS.
    pub vs: State3dVs,
    /// GS kernel; none: no GS.
    pub gs_kernel: Option<String>,
    /// 3DSTATE_GS.
    pub gs: State3dGs,
    /// 3DSTATE_CLIP.
    pub clip: State3dClip,
    /// 3DSTATE_SF.
    pub sf: State3dSf,
    /// SF_VIEWPORT of each viewport.
    pub viewports: Vec<SfViewport>,
    /// 3DSTATE_WM.
    pub wm: State3dWm,
    /// PS kernel.
    pub wm_kernel: String,
    /// Constants of VS, GS and PS: buffer 0, rows of eight floats.
    pub constants: [Vec<f32>; 3],
    /// 3DSTATE_URB.
    pub urb: State3dUrb,
    /// Vertex buffers.
    pub vertex_buffers: Vec<VertexBufferState>,
    /// Vertex elements.
    pub elements: Vec<VertexElementState>,
    /// Surfaces of the PS binding table.
    pub surfaces: Vec<SurfaceState>,
    /// 3DPRIMITIVE.
    pub primitive: Primitive3d,
    /// Drawing rectangle.
    pub rectangle: State3dDrawingRectangle,
    /// Other state, in front of the primitive.
    pub more: Vec<u32>,
}

/// A vertex element of four floats of buffer 0.
#[must_use]
pub fn element(offset: u32) -> VertexElementState {
    VertexElementState::new()
        .with_valid(true)
        .with_source_element_offset(offset)
        .with_component_0_control(1)
        .with_component_1_control(1)
        .with_component_2_control(1)
        .with_component_3_control(1)
}

/// A viewport of a target; y goes down, as rows do.
#[must_use]
pub fn viewport([width, height]: [f32; 2], [x, y]: [f32; 2]) -> SfViewport {
    SfViewport::new()
        .with_viewport_matrix_element_m00(width / 2.0)
        .with_viewport_matrix_element_m11(height / 2.0)
        .with_viewport_matrix_element_m22(0.5)
        .with_viewport_matrix_element_m30(x + width / 2.0)
        .with_viewport_matrix_element_m31(y + height / 2.0)
        .with_viewport_matrix_element_m32(0.5)
}

impl Draw {
    /// Triangles with a colour at each corner, on a target of a size.
    #[must_use]
    pub fn new(target: &SurfaceState, size: [u32; 2]) -> Self {
        let [width, height] = size.map(|n| n as f32);
        Draw {
            vs_kernel: Some(VS_PASS.to_owned()),
            vs: State3dVs::new()
                .with_dispatch_grf_start_register_for_urb_data(1)
                .with_vertex_urb_entry_read_length(1)
                .with_statistics_enable(true)
                .with_maximum_number_of_threads(59),
            gs_kernel: None,
            gs: State3dGs::new()
                .with_dispatch_grf_start_register_for_urb_data(2)
                .with_vertex_urb_entry_read_length(2)
                .with_rendering_enabled(true)
                .with_svbi_payload_enable(true)
                .with_statistics_enable(true)
                .with_maximum_number_of_threads(27),
            clip: State3dClip::new()
                .with_clip_enable(true)
                .with_viewport_xy_clip_test_enable(true)
                .with_viewport_z_clip_test_enable(true)
                .with_statistics_enable(true)
                .with_minimum_point_width(0.125)
                .with_maximum_point_width(255.875),
            sf: State3dSf::new()
                .with_vertex_urb_entry_read_offset(1)
                .with_vertex_urb_entry_read_length(1)
                .with_number_of_sf_output_attributes(1)
                .with_viewport_transform_enable(true)
                .with_line_width(1.0)
                .with_cull_mode(1)
                .with_point_width(1.0)
                .with_point_width_source(1)
                .with_triangle_fan_provoking_vertex_select(2)
                .with_line_strip_list_provoking_vertex_select(1)
                .with_triangle_strip_list_provoking_vertex_select(2),
            viewports: vec![viewport([width, height], [0.0; 2])],
            wm: State3dWm::new()
                .with_dispatch_grf_start_register_for_constant_setup_data_0(4)
                .with_n8_pixel_dispatch_enable(true)
                .with_thread_dispatch_enable(true)
                .with_statistics_enable(true)
                .with_maximum_number_of_threads(79)
                .with_point_rasterization_rule(1)
                .with_barycentric_interpolation_mode(1)
                .with_number_of_sf_output_attributes(1),
            wm_kernel: PS_COLOUR.to_owned(),
            constants: [const { Vec::new() }; 3],
            urb: State3dUrb::new()
                .with_vs_number_of_urb_entries(64)
                .with_gs_number_of_urb_entries(64),
            vertex_buffers: Vec::new(),
            elements: vec![element(0), element(16)],
            surfaces: vec![*target],
            primitive: Primitive3d::new()
                .with_primitive_topology_type(4)
                .with_instance_count(1),
            rectangle: State3dDrawingRectangle::new()
                .with_clipped_drawing_rectangle_x_max(size[0] - 1)
                .with_clipped_drawing_rectangle_y_max(size[1] - 1),
            more: Vec::new(),
        }
    }

    /// Sets topology and number of vertices.
    pub fn topology(&mut self, code: u32, vertices: u32) -> &mut Self {
        self.primitive
            .set_primitive_topology_type(code)
            .set_vertex_count_per_instance(vertices);
        self
    }
}

/// The words of a kernel.
///
/// # Panics
/// When the text has a mistake.
#[must_use]
pub fn kernel(text: &str) -> Vec<u32> {
    let assembled = isa::parse::assemble(Verx10::from_times_ten(60), "kernel", text);
    let assembled = assembled.unwrap_or_else(|errors| panic!("{errors:?}"));
    assembled.dwords().collect()
}

impl Scene {
    /// Gives a draw vertices of position and colour as its buffer 0.
    pub fn vertices_of(&mut self, draw: &mut Draw, vertices: &[[f32; 8]]) {
        let start = self.floats(vertices.as_flattened());
        let bytes = VERTEX_BYTES * vertices.len() as u32;
        draw.vertex_buffers = vec![
            VertexBufferState::new()
                .with_buffer_pitch(VERTEX_BYTES)
                .with_buffer_starting_address(start)
                .with_end_address(start + bytes - 1),
        ];
        draw.primitive
            .set_vertex_count_per_instance(vertices.len() as u32);
    }

    /// Appends the state of a draw and its 3DPRIMITIVE.
    pub fn draw_of(&mut self, draw: &Draw) {
        // Stalls and flushes of a frame are left out: PIPELINE_SELECT, STATE_SIP, STATE_BASE_ADDRESS with Mesa's bounds.
        self.commands.extend([0x6904_0000, 0x6102_0000, 0]);
        self.commands
            .extend([0x6101_0008, 1, 1, 1, 1, 1, 1, 0xffff_f001, 1, 1]);
        self.commands.extend(draw.urb.dwords());
        self.color_calc();
        self.viewports(draw);
        self.tables(draw);
        // 3DSTATE_MULTISAMPLE of one sample in the centre, 3DSTATE_SAMPLE_MASK.
        self.commands.extend([0x790d_0001, 0, 0, 0x7818_0000, 1]);
        self.stages(draw);
        // 3DSTATE_DEPTH_BUFFER without one: SURFTYPE_NULL, D32_FLOAT.
        self.commands
            .extend([0x7905_0005, 7 << 29 | 1 << 18, 0, 0, 0, 0, 0]);
        self.commands.extend(draw.rectangle.dwords());
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
        self.commands.extend(&draw.more);
        self.commands.extend(draw.primitive.dwords());
    }

    /// BLEND_STATE, DEPTH_STENCIL_STATE and COLOR_CALC_STATE of zeros, but that colours are clamped as Mesa has it.
    fn color_calc(&mut self) {
        let blend = self.state(64, &[0, 0x0000_000b, 0, 0]);
        let depth = self.state(64, &[0; 3]);
        let color_calc = self.state(64, &[0; 6]);
        self.commands
            .extend([0x780e_0002, blend | 1, depth | 1, color_calc | 1]);
    }

    fn viewports(&mut self, draw: &Draw) {
        let number = draw.viewports.len();
        // CLIP_VIEWPORT: guard bands that nothing asks for.
        let clip = self.state(32, &vec![0; 4 * number]);
        let words: Vec<u32> = draw
            .viewports
            .iter()
            .flat_map(|v| {
                let mut words = v.dwords().to_vec();
                words.resize(8, 0);
                words
            })
            .collect();
        let sf = self.state(32, &words);
        let depths: Vec<f32> = std::iter::repeat_n([0.0, 1.0], number).flatten().collect();
        let depths = self.floats(&depths);
        // All three pointers change.
        self.commands.extend([0x780d_1c02, clip, sf, depths]);
    }

    fn tables(&mut self, draw: &Draw) {
        let surfaces = draw.surfaces.iter();
        let surfaces: Vec<u32> = surfaces.map(|s| self.state(32, s.dwords())).collect();
        let table = self.state(32, &surfaces);
        // 3DSTATE_BINDING_TABLE_POINTERS and 3DSTATE_SAMPLER_STATE_POINTERS, all of them.
        self.commands.extend([0x7801_1302, 0, 0, table]);
        self.commands.extend([0x7802_1302, 0, 0, 0]);
    }

    /// 3DSTATE_CONSTANT_VS, GS or PS, by the sub-opcode.
    fn pushed(&mut self, opcode: u32, constants: &[f32]) {
        if constants.is_empty() {
            self.commands
                .extend([0x7800_0003 | opcode << 16, 0, 0, 0, 0]);
            return;
        }
        let mut rows = constants.to_vec();
        rows.resize(rows.len().next_multiple_of(8), 0.0);
        let length = rows.len() as u32 / 8 - 1;
        let at = self.floats(&rows);
        self.commands
            .extend([0x7800_1003 | opcode << 16, at | length, 0, 0, 0]);
    }

    fn stages(&mut self, draw: &Draw) {
        let mut vs = draw.vs;
        if let Some(text) = &draw.vs_kernel {
            let at = self.state(64, &kernel(text));
            vs.set_kernel_start_pointer(at).set_enable(true);
        }
        self.pushed(21, &draw.constants[0]);
        self.commands.extend(vs.dwords());
        let mut gs = draw.gs;
        if let Some(text) = &draw.gs_kernel {
            let at = self.state(64, &kernel(text));
            gs.set_kernel_start_pointer(at).set_enable(true);
        }
        self.pushed(22, &draw.constants[1]);
        self.commands.extend(gs.dwords());
        self.commands.extend(draw.clip.dwords());
        self.commands.extend(draw.sf.dwords());
        let mut wm = draw.wm;
        wm.set_kernel_start_pointer_0(self.state(64, &kernel(&draw.wm_kernel)));
        self.pushed(23, &draw.constants[2]);
        self.commands.extend(wm.dwords());
    }
}
