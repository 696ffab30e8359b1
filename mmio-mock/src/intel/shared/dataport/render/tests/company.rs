//! Targets of one draw and the depth buffer beside them (PRM 4.7.2).

use super::*;

impl Bench {
    /// Binds entry `n` to a target of R32_FLOAT with a level that is rendered to.
    fn company(&mut self, n: u32, lod: u32) {
        let state = SurfaceState::new()
            .with_surface_type(values::surftype::SURFTYPE_2D)
            .with_surface_format(values::surface_format::R32_FLOAT)
            .with_surface_base_address(TARGET + n * 0x1_0000)
            .with_width(39)
            .with_height(19)
            .with_surface_pitch(1023)
            .with_mip_count_lod(lod);
        let (entry, at) = (STATE + 0x40 + n * 4, 0x200 + n * 0x20);
        self.mem.write_u32(GpuAddr::from(entry), at).unwrap();
        self.mem
            .write_dwords(GpuAddr::from(STATE + at), state.dwords())
            .unwrap();
        self.port.invalidate();
    }
}

/// What the manual wants to be equal is told when it is not; each goes by its own state then.
// covers: 4.7.2-49
#[test]
fn levels_that_differ_are_told() {
    let mut bench = Bench::new();
    bench.company(0, 0);
    bench.company(1, 0);
    bench.depth();
    bench.send(0, &payload(0xffff, 0, simd16())).unwrap();
    bench.send(1, &payload(0xffff, 0, simd16())).unwrap();
    assert_eq!(bench.port.disagreements, 0, "all of level 0");
    bench.company(1, 1);
    bench.send(1, &payload(0xffff, 0, simd16())).unwrap();
    assert_eq!(bench.port.disagreements, 1, "the depth buffer has level 0");
    let told = bench.port.disagreement.take().map(|what| what.to_string());
    assert_eq!(told.as_deref(), Some("levels"));
    bench.send(1, &payload(0xffff, 0, simd16())).unwrap();
    assert_eq!(bench.port.disagreements, 1, "once a target and draw");
    bench.pixel.depth_buffer = None;
    bench.company(1, 1);
    bench.send(1, &payload(0xffff, 0, simd16())).unwrap();
    assert_eq!(bench.port.disagreements, 1, "alone it is right");
    bench.send(0, &payload(0xffff, 0, simd16())).unwrap();
    assert_eq!(bench.port.disagreements, 2, "the other target has level 0");
    // Pixel (5, 2), slot 1, of level 0 and of level 1, which begins twenty rows down.
    for (n, top) in [(0, 0), (1, 20)] {
        let at = TARGET + n * 0x1_0000 + (top + 2) * 1024 + 5 * 4;
        let red = bench.mem.read_u32(GpuAddr::from(at)).unwrap();
        assert_eq!(red, value(0, 1).to_bits(), "target {n}");
    }
}
