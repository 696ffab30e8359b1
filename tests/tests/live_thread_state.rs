//! What threads find: headers, constants and float modes with telling values.
//!
//! PRM: volume 2 (unit states, CONSTANT_BUFFER), volume 4, 8.4.3.1 and 10.3.2. Expectations by hand.

use crestline_tests::scene::draw::{Draw, places};
use crestline_tests::scene::grid::{header_points, with_vs};
use crestline_tests::scene::{Scene, kernels};
use regs::gen40::{ConstantBuffer, SamplerState};

/// r0 of a vertex shader thread: handles, sampler table with scratch size, binding table, scratch base (PRM volume 2,
/// VS thread payload; volume 4, 8.4.3.1 for the low byte of DW5).
#[test]
fn vertex_shader_header() {
    let mut scene = Scene::new();
    let target = scene.float_target((64, 8));
    let mut draw = header_points(&mut scene, &target, 2);
    draw.vs
        .set_sampler_state_pointer(0x0012_3440)
        .set_per_thread_scratch_space(3)
        .set_scratch_space_base_pointer(0x0056_7800);
    draw.topology(1, 2);
    scene.draw(&draw);
    scene.run();
    let [first, second, _, samplers] = target.bits(0, 0);
    assert_ne!(first & 0xffff, second & 0xffff, "two entries");
    assert_eq!(samplers, 0x0012_3443);
    let [_, scratch, ..] = target.bits(1, 0);
    assert_eq!(scratch & !0x3ff, 0x0056_7800);
    drop(target);
    scene.finish();
}

/// r0 of a pixel shader thread: masks, colour calculator state, sampler table with scratch size, scratch base.
#[test]
fn pixel_shader_header() {
    let mut scene = Scene::new();
    let target = scene.float_target((64, 8));
    let mut draw = Draw::flat(target.state());
    draw.wm_kernel = kernels::wm_header16();
    draw.wm
        .set_per_thread_scratch_space(5)
        .set_scratch_space_base_pointer(0x0034_5400);
    draw.sampler = Some((SamplerState::new(), [0.0; 4]));
    // Three pixels of a block of four by four: columns 0 and 1 of row 0, column 2 of row 0.
    scene.vertices(
        &mut draw,
        &places(&[
            [0.0, 0.0],
            [3.0, 0.0],
            [3.0, 1.0],
            [0.0, 0.0],
            [3.0, 1.0],
            [0.0, 1.0],
        ]),
    );
    // A rectangle: upper left, upper right and lower left in any order.
    scene.vertices(&mut draw, &places(&[[3.0, 1.0], [0.0, 1.0], [0.0, 0.0]]));
    draw.topology(15, 3);
    scene.draw(&draw);
    let pointers = scene.commands.iter().position(|&c| c == 0x7800_0005);
    let cc = scene.commands[pointers.unwrap() + 6];
    scene.run();
    let [masks, state, _, samplers] = target.bits(0, 0);
    // Pixels 0 and 1 of subspan 0, pixel 0 of subspan 1; twice.
    assert_eq!(masks, 0x0013_0013);
    assert_eq!(state, cc);
    assert_eq!(samplers & 0x1f, 5);
    assert_ne!(samplers & !0x1f, 0);
    assert_eq!(target.bits(0, 1), [0; 4]);
    drop(target);
    scene.finish();
}

/// Constants of the vertex shader from their read offset on, and of the pixel shader from its own.
#[test]
fn constants_from_an_offset() {
    let mut scene = Scene::new();
    let target = scene.float_target((64, 8));
    // Rows of eight; the vertex shader multiplies by the first vec4 of a row and adds the second.
    let row = |scale: f32, add: f32| [scale, scale, scale, scale, add, add, add, add];
    let constants = [row(1.0, 0.0), row(2.0, 3.0), row(5.0, 7.0), row(11.0, 13.0)];
    for offset in 0..4u32 {
        target.fill(&[0; 16]);
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::sf_point();
        scene.vertices(&mut draw, &[[0.5, 0.5, 0.0, 1.0, 1.0, 10.0, 100.0, 1000.0]]);
        with_vs(&mut draw);
        draw.constants = constants.concat();
        draw.vs.set_constant_urb_entry_read_offset(offset);
        draw.topology(1, 1);
        scene.draw(&draw);
        scene.run();
        let [scale, .., add] = constants[offset as usize];
        let expected = [1.0f32, 10.0, 100.0, 1000.0].map(|v| (v * scale + add).to_bits());
        assert_eq!(target.bits(0, 0), expected, "VS offset {offset}");

        let mut draw = Draw::flat(target.state());
        draw.wm_kernel = kernels::wm_const16();
        draw.constants = constants.concat();
        draw.wm
            .set_constant_urb_entry_read_offset(offset)
            .set_constant_urb_entry_read_length(2);
        scene.paint(&mut draw, 4, &[[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]]);
        let expected = [constants[offset as usize][0].to_bits(); 4];
        assert_eq!(target.bits(1, 1), expected, "WM offset {offset}");
    }
    drop(target);
    scene.finish();
}

/// INSTPM bit 6: CONSTANT_BUFFER's address is a graphics address, else an offset from General State Base Address.
#[test]
fn constant_buffer_addresses() {
    let mut scene = Scene::new();
    scene.trusted = true;
    let target = scene.float_target((64, 8));
    for absolute in [false, true] {
        let low = scene.floats(&[0.25; 16]);
        let high = scene.floats(&[0.75; 16]);
        let mut draw = Draw::flat(target.state());
        draw.wm_kernel = kernels::wm_const16();
        draw.constants = vec![0.5; 16];
        draw.wm.set_constant_urb_entry_read_length(2);
        scene.vertices(&mut draw, &places(&[[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]]));
        draw.topology(4, 3);
        scene.draw(&draw);
        let primitive = scene.commands.split_off(scene.commands.len() - 6);
        // MI_LOAD_REGISTER_IMM of INSTPM, then the base moved by the distance of the two buffers for one command.
        let bit = 1 << 22 | u32::from(absolute) << 6;
        scene.commands.extend([0x1100_0001, 0x20c0, bit]);
        let base = |scene: &mut Scene, address: u32| {
            scene
                .commands
                .extend([0x6101_0004, address | 1, 0, 0, 0, 0]);
        };
        assert_eq!((high - low) % 64, 0);
        // State Base Address has pages: the command's address makes up for the rest.
        let page = 0x1000;
        base(&mut scene, page);
        let mut buffer = ConstantBuffer::new();
        let address = if absolute {
            high
        } else {
            low.wrapping_sub(page)
        };
        buffer
            .set_valid(true)
            .set_buffer_length(0)
            .set_buffer_starting_address(address);
        scene.commands.extend(buffer.dwords());
        base(&mut scene, 0);
        scene.commands.extend(primitive);
        scene.commands.extend([0x1100_0001, 0x20c0, 1 << 22]);
        scene.run();
        let expected: f32 = if absolute { 0.75 } else { 0.25 };
        assert_eq!(target.bits(1, 1), [expected.to_bits(); 4], "{absolute}");
    }
    drop(target);
    scene.finish();
}

/// ALT mode of the vertex shader's state makes no infinity (PRM volume 4, 10.3.2).
#[test]
fn vertex_shader_float_modes() {
    let mut scene = Scene::new();
    let target = scene.float_target((64, 8));
    for (mode, expected) in [(0, f32::INFINITY), (1, f32::MAX)] {
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::sf_point();
        scene.vertices(&mut draw, &[[0.5, 0.5, 0.0, 1.0, 1e30, 1e30, 1e30, 1e30]]);
        with_vs(&mut draw);
        draw.constants = vec![1e30; 16];
        draw.vs.set_floating_point_mode(mode);
        draw.topology(1, 1);
        scene.draw(&draw);
        scene.run();
        assert_eq!(target.bits(0, 0), [expected.to_bits(); 4], "mode {mode}");
    }
    drop(target);
    scene.finish();
}
