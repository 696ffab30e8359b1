//! Tests of the depth and stencil block test against OpenGL's rules worked by hand.
//!
//! PRM: volume 2, windower. Not covered: early and late order.
#![allow(clippy::unwrap_used, reason = "tests")]
use super::super::Compare;
use super::super::stencil::Face;
use super::*;
use mem::GpuAddr;

const ORIGINS: Origins = [(0, 0), (2, 0), (4, 0), (6, 0)];

/// An 8x2 buffer of a format (field of 3DSTATE_DEPTH_BUFFER), Y-tiled at 0x1000.
fn setup(format: u32) -> (Memory, DepthBuffer) {
    let mut mem = Memory::new(1 << 20, 16);
    mem.alloc_mapped(GpuAddr(0x1000), 0x1000).unwrap();
    let c = [
        0,
        127 | format << 18 | 1 << 26 | 1 << 27 | 1 << 29,
        0x1000,
        7 << 6 | 1 << 19,
        0,
    ];
    (
        mem,
        crate::intel::r#gen::gen40::surface::resolve_depth(&c).unwrap(),
    )
}

fn block(depth: &[f32; 16]) -> DepthBlock<'_> {
    DepthBlock {
        origins: &ORIGINS,
        mask: 0xffff,
        depth,
        back_facing: false,
        slice: 0,
        sample: 0,
        test_depth: true,
        test_stencil: true,
        write: true,
    }
}

fn less() -> CcState {
    let mut cc = CcState::default();
    cc.depth.test = true;
    cc.depth.write = true;
    cc.depth.function = Compare::Less;
    cc
}

#[test]
fn depth_passes_once_then_fails_for_equal() {
    for format in [0u32, 1, 2, 3, 5] {
        let (mut mem, buffer) = setup(format);
        let far = buffer.format.encode(1.0);
        for y in 0..2 {
            for x in 0..8 {
                let at = buffer.geometry.address(x, y, 0, 0);
                buffer
                    .write(&mut mem, at, buffer.format.join(0, far, 0x77))
                    .unwrap();
            }
        }
        let mut z = [0.5f32; 16];
        z[5] = 1.0;
        let out = test_block(&mut mem, &less(), &buffer, &block(&z)).unwrap();
        assert_eq!(out.passed, !(1 << 5), "format {format}");
        assert_eq!(out.depth_failed, 1 << 5);
        let out = test_block(&mut mem, &less(), &buffer, &block(&z)).unwrap();
        assert_eq!(out.passed, 0);
        // Pixel 6 is subspan 1, lower left: (2, 1).
        let raw = buffer
            .read(&mem, buffer.geometry.address(2, 1, 0, 0))
            .unwrap();
        let (d, s) = buffer.format.split(raw);
        assert_eq!(d, buffer.format.encode(0.5));
        assert_eq!(s, if buffer.format.has_stencil() { 0x77 } else { 0 });
    }
}

#[test]
fn depth_is_clamped_to_the_viewport_and_quantised() {
    let (mut mem, buffer) = setup(1);
    let mut cc = less();
    cc.depth.function = Compare::Always;
    cc.depth_range = Some((0.25, 0.75));
    let mut z = [2.0f32; 16];
    z[1] = -1.0;
    test_block(&mut mem, &cc, &buffer, &block(&z)).unwrap();
    assert_eq!(
        mem.read_u32(buffer.geometry.address(0, 0, 0, 0)).unwrap(),
        0.75f32.to_bits()
    );
    assert_eq!(
        mem.read_u32(buffer.geometry.address(1, 0, 0, 0)).unwrap(),
        0.25f32.to_bits()
    );
    // 0.4 and the float below are the same in 16 bits: LESS fails.
    let (mut mem, buffer) = setup(5);
    let mut cc = less();
    let near = 0.4f32;
    mem.write_u16(
        buffer.geometry.address(0, 0, 0, 0),
        buffer.format.encode(near) as u16,
    )
    .unwrap();
    let below = f32::from_bits(near.to_bits() - 1);
    let mut b = [below; 16];
    b[1] = 0.0;
    cc.depth.write = false;
    let mut blk = block(&b);
    blk.mask = 1;
    assert_eq!(test_block(&mut mem, &cc, &buffer, &blk).unwrap().passed, 0);
}

#[test]
fn stencil_takes_the_operation_of_its_outcome() {
    let (mut mem, buffer) = setup(2);
    let mut cc = less();
    cc.stencil.test = true;
    cc.stencil.write = true;
    cc.stencil.front = Face {
        function: Compare::Equal,
        fail: Op::Invert,
        depth_fail: Op::Increment,
        pass: Op::Replace,
        reference: 0x0f,
        test_mask: 0x0f,
        write_mask: 0xff,
    };
    cc.stencil.back = Face {
        pass: Op::Zero,
        test_mask: 0,
        write_mask: 0x0f,
        ..cc.stencil.front
    };
    let put = |mem: &mut Memory, x, stencil: u8, depth: u32| {
        let at = buffer.geometry.address(x, 0, 0, 0);
        mem.write_u32(at, (stencil as u32) << 24 | depth).unwrap();
    };
    let get = |mem: &Memory, x| mem.read_u32(buffer.geometry.address(x, 0, 0, 0)).unwrap();
    put(&mut mem, 0, 0x01, 0xff_ffff); // stencil fails
    put(&mut mem, 1, 0xff, 0x00_0000); // depth fails
    put(&mut mem, 2, 0x3f, 0xff_ffff); // both pass
    let z = [0.5f32; 16];
    let mut b = block(&z);
    b.mask = 0b1_0011; // pixels (0,0) (1,0) (2,0)
    let out = test_block(&mut mem, &cc, &buffer, &b).unwrap();
    assert_eq!(
        (out.stencil_failed, out.depth_failed, out.passed),
        (1, 2, 16)
    );
    assert_eq!(get(&mem, 0), 0xfeff_ffff);
    assert_eq!(get(&mem, 1), 0x0000_0000);
    assert_eq!(get(&mem, 2), 0x0f80_0000);
    // Back-facing only matters with double-sided stencil.
    put(&mut mem, 2, 0x3f, 0xff_ffff);
    b.mask = 16;
    b.back_facing = true;
    cc.stencil.double_sided = true;
    test_block(&mut mem, &cc, &buffer, &b).unwrap();
    assert_eq!(get(&mem, 2), 0x3080_0000);
}

#[test]
fn switches_and_bounds() {
    let (mut mem, buffer) = setup(2);
    let z = [0.5f32; 16];
    // No test, no write: memory is not even touched.
    let out = test_block(&mut mem, &CcState::default(), &buffer, &block(&z)).unwrap();
    assert_eq!(out.passed, 0xffff);
    // Depth 0 in memory: LESS fails everywhere; without the depth test all pass and write.
    let mut b = block(&z);
    b.write = false;
    assert_eq!(
        test_block(&mut mem, &less(), &buffer, &b)
            .unwrap()
            .depth_failed,
        0xffff
    );
    b.test_depth = false;
    b.write = true;
    assert_eq!(
        test_block(&mut mem, &less(), &buffer, &b).unwrap().passed,
        0xffff
    );
    assert_eq!(
        mem.read_u32(buffer.geometry.address(7, 1, 0, 0)).unwrap(),
        0x80_0000
    );
    // Outside the 8x2 buffer: dropped.
    let far: Origins = [(8, 0), (0, 2), (6, 0), (0, 0)];
    b.origins = &far;
    assert_eq!(
        test_block(&mut mem, &less(), &buffer, &b).unwrap().passed,
        0xff00
    );
    // Null buffer: all pass.
    let null = crate::intel::r#gen::gen40::surface::resolve_depth(&[0, 7 << 29, 0, 0, 0]).unwrap();
    assert_eq!(
        test_block(&mut mem, &less(), &null, &b).unwrap().passed,
        0xffff
    );
}
