//! One draw: kernels and state of every unit; defaults draw flat triangles.
//!
//! PRM: volume 2 (unit states). Defaults: no VS thread, screen coordinates, SIMD16, no depth buffer.

use regs::gen40::values::surface_format;
use regs::gen40::{
    CcViewport, ClipState, ClipViewport, ColorCalcState, GsState, Primitive3d, SfState, SfViewport,
    State3dDepthBuffer, State3dDrawingRectangle, State3dIndexBuffer, SurfaceState,
    VertexBufferState, VertexElementState, VsState, WmState,
};

use super::kernels;

/// Everything a 3DPRIMITIVE needs. Kernel pointers and state pointers are filled in by the scene.
#[derive(Clone, Debug)]
pub struct Draw {
    /// VS kernel; none bypasses.
    pub vs_kernel: Option<Vec<u32>>,
    /// VS_STATE.
    pub vs: VsState,
    /// GS kernel; none leaves GS out.
    pub gs_kernel: Option<Vec<u32>>,
    /// GS_STATE.
    pub gs: GsState,
    /// Whether CLIP is there.
    pub clip_enable: bool,
    /// Clip kernel.
    pub clip_kernel: Vec<u32>,
    /// CLIP_STATE.
    pub clip: ClipState,
    /// CLIP_VIEWPORT.
    pub clip_viewport: ClipViewport,
    /// Setup kernel.
    pub sf_kernel: Vec<u32>,
    /// SF_STATE.
    pub sf: SfState,
    /// SF_VIEWPORT.
    pub sf_viewport: SfViewport,
    /// Pixel kernel.
    pub wm_kernel: Vec<u32>,
    /// WM_STATE.
    pub wm: WmState,
    /// COLOR_CALC_STATE.
    pub cc: ColorCalcState,
    /// CC_VIEWPORT.
    pub cc_viewport: CcViewport,
    /// Surfaces of the PS binding table.
    pub surfaces: Vec<SurfaceState>,
    /// SAMPLER_STATE of sampler 0 and its border colour.
    pub sampler: Option<(regs::gen40::SamplerState, [f32; 4])>,
    /// CURBE contents.
    pub constants: Vec<f32>,
    /// Vertex buffers.
    pub vertex_buffers: Vec<VertexBufferState>,
    /// Vertex elements.
    pub elements: Vec<VertexElementState>,
    /// Index buffer.
    pub index_buffer: Option<State3dIndexBuffer>,
    /// Drawing rectangle.
    pub rectangle: State3dDrawingRectangle,
    /// Depth buffer.
    pub depth: State3dDepthBuffer,
    /// Fences in 512-bit units: VS, GS, CLIP, SF, CS.
    pub fences: [u32; 5],
    /// The primitive.
    pub primitive: Primitive3d,
}

/// Component controls of a vertex element.
pub mod component {
    /// Leave as it is.
    pub const NOSTORE: u32 = 0;
    /// From the buffer.
    pub const SRC: u32 = 1;
    /// 0.
    pub const ZERO: u32 = 2;
    /// 1.0.
    pub const ONE: u32 = 3;
    /// Integer 1.
    pub const INT1: u32 = 4;
    /// Vertex id.
    pub const VID: u32 = 5;
    /// Instance id.
    pub const IID: u32 = 6;
}

/// A vertex element.
#[must_use]
pub fn element(buffer: u32, offset: u32, format: u32, to: u32, c: [u32; 4]) -> VertexElementState {
    let mut e = VertexElementState::new();
    e.set_valid(true)
        .set_vertex_buffer_index(buffer)
        .set_source_element_offset(offset)
        .set_source_element_format(format)
        .set_destination_element_offset(to)
        .set_component_0_control(c[0])
        .set_component_1_control(c[1])
        .set_component_2_control(c[2])
        .set_component_3_control(c[3]);
    e
}

/// A vertex buffer.
#[must_use]
pub fn vertex_buffer(index: u32, address: u32, pitch: u32) -> VertexBufferState {
    let mut b = VertexBufferState::new();
    b.set_vertex_buffer_index(index)
        .set_buffer_starting_address(address)
        .set_buffer_pitch(pitch);
    b
}

/// White vertices at places in pixels, halfway down.
#[must_use]
pub fn places(points: &[[f32; 2]]) -> Vec<[f32; 8]> {
    points
        .iter()
        .map(|p| [p[0], p[1], 0.5, 1.0, 1.0, 1.0, 1.0, 1.0])
        .collect()
}

/// Elements of the VUE that the kernels expect: header, position twice, colour; `pos` and `colour`
/// are four floats each at 0 and 16 of buffer 0.
#[must_use]
pub fn screen_elements() -> Vec<VertexElementState> {
    use component::{SRC, ZERO};
    let f4 = surface_format::R32G32B32A32_FLOAT;
    vec![
        element(0, 0, f4, 0, [ZERO; 4]),
        element(0, 0, f4, 4, [SRC; 4]),
        element(0, 0, f4, 8, [SRC; 4]),
        element(0, 16, f4, 12, [SRC; 4]),
    ]
}

impl Draw {
    /// Flat triangles in screen coordinates on a target.
    #[must_use]
    pub fn flat(target: SurfaceState) -> Self {
        let mut vs = VsState::new();
        // One 512-bit unit an entry: header, NDC, position, colour.
        vs.set_number_of_urb_entries(32);
        let mut gs = GsState::new();
        gs.set_number_of_urb_entries(8)
            .set_dispatch_grf_start_register_for_urb_data(1)
            .set_vertex_urb_entry_read_length(2)
            .set_grf_register_count(1);
        let mut clip = ClipState::new();
        clip.set_number_of_urb_entries(10)
            .set_dispatch_grf_start_register_for_urb_data(1)
            .set_vertex_urb_entry_read_length(2)
            .set_grf_register_count(3)
            .set_single_program_flow(true)
            .set_viewport_xy_cliptest_enable(true)
            .set_viewport_z_cliptest_enable(true);
        let mut sf = SfState::new();
        sf.set_number_of_urb_entries(8)
            .set_urb_entry_allocation_size(1)
            .set_dispatch_grf_start_register_for_urb_data(3)
            .set_vertex_urb_entry_read_offset(1)
            .set_vertex_urb_entry_read_length(1)
            .set_grf_register_count(1)
            .set_cull_mode(1)
            .set_destination_origin_horizontal_bias(0.5)
            .set_destination_origin_vertical_bias(0.5)
            .set_line_width(1.0)
            .set_point_width(1.0)
            .set_point_width_source(1)
            .set_triangle_fan_provoking_vertex_select(2)
            .set_line_strip_list_provoking_vertex_select(1)
            .set_triangle_strip_list_provoking_vertex_select(2);
        let mut wm = WmState::new();
        wm.set_grf_register_count_0(7)
            .set_depth_coefficient_urb_read_offset(1)
            .set_dispatch_grf_start_register_for_constant_setup_data_0(2)
            .set_setup_urb_entry_read_length(4)
            .set_n16_pixel_dispatch_enable(true)
            .set_thread_dispatch_enable(true)
            .set_early_depth_test_enable(true)
            .set_maximum_number_of_threads(31);
        let mut cc_viewport = CcViewport::new();
        cc_viewport.set_maximum_depth(1.0);
        let mut rectangle = State3dDrawingRectangle::new();
        rectangle
            .set_clipped_drawing_rectangle_x_max(target.width())
            .set_clipped_drawing_rectangle_y_max(target.height());
        let mut depth = State3dDepthBuffer::new();
        depth.set_surface_type(7).set_surface_format(1);
        let mut primitive = Primitive3d::new();
        primitive
            .set_primitive_topology_type(4)
            .set_instance_count(1);
        Draw {
            vs_kernel: None,
            vs,
            gs_kernel: None,
            gs,
            clip_enable: false,
            clip_kernel: Vec::new(),
            clip,
            clip_viewport: ClipViewport::new(),
            sf_kernel: kernels::sf_flat_tri(),
            sf,
            sf_viewport: SfViewport::new(),
            wm_kernel: kernels::wm_flat16(),
            wm,
            cc: ColorCalcState::new(),
            cc_viewport,
            surfaces: vec![target],
            sampler: None,
            constants: Vec::new(),
            vertex_buffers: Vec::new(),
            elements: screen_elements(),
            index_buffer: None,
            rectangle,
            depth,
            fences: [32, 40, 50, 66, 72],
            primitive,
        }
    }

    /// Sets topology and vertex count.
    pub fn topology(&mut self, code: u32, vertices: u32) -> &mut Self {
        self.primitive
            .set_primitive_topology_type(code)
            .set_vertex_count_per_instance(vertices);
        self
    }

    /// Mesa's captured kernels: vertex shader with the divide, clipper, perspective colours; the
    /// viewport covers `width` by `height` pixels, y upwards in NDC is downwards in rows.
    pub fn perspective(&mut self, width: f32, height: f32) -> &mut Self {
        self.vs_kernel = Some(kernels::captured("vs c_gouraud"));
        self.vs
            .set_dispatch_grf_start_register_for_urb_data(2)
            .set_vertex_urb_entry_read_length(1)
            .set_grf_register_count(1);
        let f4 = surface_format::R32G32B32A32_FLOAT;
        self.elements = vec![
            element(0, 0, f4, 0, [component::SRC; 4]),
            element(0, 16, f4, 4, [component::SRC; 4]),
        ];
        self.clip_enable = true;
        self.clip_kernel = kernels::captured("clip c_gouraud");
        self.clip
            .set_userclipdistance_cliptest_enable_bitmask(1 << 6)
            .set_userclipflags_mustclip_enable(true);
        self.sf_kernel = kernels::captured("sf c_gouraud");
        self.wm_kernel = kernels::captured("wm c_gouraud");
        self.sf.set_viewport_transform_enable(true);
        self.sf_viewport
            .set_viewport_matrix_element_m00(width / 2.0)
            .set_viewport_matrix_element_m30(width / 2.0)
            .set_viewport_matrix_element_m11(height / 2.0)
            .set_viewport_matrix_element_m31(height / 2.0)
            .set_viewport_matrix_element_m22(0.5)
            .set_viewport_matrix_element_m32(0.5);
        self
    }
}
