//! Messages that shared functions refuse, and what registers say of them.
//!
//! PRM: volume 4, 3.4.2, 3.4.6, 3.4.7, 3.4.9, 3.4.10, 3.7.1. Descriptors and error words are laid out by hand.

use std::fmt::Write as _;

use crestline_tests::scene::kernels;
use crestline_tests::scene::surface::Surface;
use regs::gen40::values::{surface_format, surftype};
use regs::gen40::{RegId, SurfaceState};

use crestline_tests::stops::{Bench, assemble, tiny};

/// Control and data register of a function.
type Window = (RegId, RegId);
const MATH: Window = (RegId::MathCtl, RegId::MathRdata);
const SAMPLER: Window = (RegId::SamplerCtl, RegId::SamplerRdata);
const PORT: Window = (RegId::DpCtl, RegId::DpRdata);
const URB: Window = (RegId::UrbCtl, RegId::UrbRdata);
const SPAWNER: Window = (RegId::TsCtl, RegId::TsRdata);

/// FFID of pixel shader threads.
const WM: u32 = 6;
/// The EU that they run on here, in the second row.
const EU: u32 = 5;
/// FFID, TID 0 and EUID as sampler, data port and URB show them.
const SENDER: u32 = WM << 24 | EU << 16;
/// Dwords 6 and 7 of the messages' first register.
const DWORDS: [u32; 2] = [0x1122_3344, 0x5566_7788];
/// Bit 31 of a descriptor.
const EOT: u32 = 1 << 31;

/// A descriptor: function, message length, response length, function control.
const fn desc(function: u32, message: u32, response: u32, control: u32) -> u32 {
    function << 24 | message << 20 | response << 16 | control
}

/// A stateless message of the data port.
const STATELESS: u32 = 255;
/// Buffer at an address that is no multiple of sixteen; image in a format that is no render target.
const CROOKED: u32 = 1;
const STRANGE: u32 = 2;

/// Sends messages from m1 on, then paints.
fn kernel(messages: &[u32]) -> Vec<u32> {
    let mut text = String::new();
    for desc in messages {
        let [six, seven] = DWORDS;
        write!(
            text,
            "mov(8) m1<1>UD g0<8,8,1>UD {{ align1 nomask }};
             mov(8) m2<1>UD 0UD {{ align1 nomask }};
             mov(8) m3<1>UD 0UD {{ align1 nomask }};
             mov(8) m4<1>UD 0UD {{ align1 nomask }};
             mov(1) m1.6<1>UD {six:#x}UD {{ align1 nomask }};
             mov(1) m1.7<1>UD {seven:#x}UD {{ align1 nomask }};\n"
        )
        .unwrap();
        let to = match desc >> 16 & 15 {
            0 => "null<1>UD",
            _ => "g100<1>UD",
        };
        let end = if desc & EOT != 0 { " EOT" } else { "" };
        let bits = desc & !EOT;
        writeln!(
            text,
            "send(8) 1 {to} null<8,8,1>UD {bits:#x} {{ align1 nomask{end} }};"
        )
        .unwrap();
    }
    let mut out = assemble(&text);
    out.extend(kernels::wm_flat16());
    out
}

/// A frame of one thread that sends messages; whether it painted.
fn send(bench: &mut Bench, messages: &[u32]) -> bool {
    let mut draw = tiny(bench, kernel(messages));
    let mut crooked = SurfaceState::new();
    crooked
        .set_surface_type(surftype::SURFTYPE_BUFFER)
        .set_surface_format(surface_format::R32G32B32A32_FLOAT)
        .set_surface_base_address(bench.target.address + 8)
        .set_width(3)
        .set_surface_pitch(15);
    let mut strange = Surface::state(&bench.target);
    strange.set_surface_format(surface_format::BC1_UNORM);
    draw.surfaces.extend([crooked, strange]);
    bench.draw(&draw);
    bench.write(RegId::TdWizEmsk, 1 << EU);
    bench.write(RegId::TdCtl2, 1 << 6);
    bench.scene.run();
    bench.take().iter().any(|&w| w != 0)
}

fn show(bench: &Bench, (control, data): Window, mux: u32) -> u32 {
    bench.show(control, mux, data)
}

/// The header of the first bad message by flags: length, opcode, end of thread, error bit. It has FFID, TID, EUID,
/// lengths and function of the sender, in the unit of the sender's row.
// covers: 3.4.2-01, 3.4.2.1-R, 3.4.2.2-R, 3.7.1.1-02, 3.7.1.2-02
#[test]
fn math_errors() {
    // POW wants two registers; function 9 does not exist; INV may not end a thread; three registers fit no function.
    for (message, flags) in [
        (desc(1, 1, 1, 0xa), 1),
        (desc(1, 1, 1, 0x9), 2),
        (desc(1, 1, 0, 0x1) | EOT, 4),
        (desc(1, 3, 1, 0x1), 8),
    ] {
        let mut bench = Bench::new(8, 8);
        assert_eq!(show(&bench, MATH, 0), 0);
        // A later mistake is not kept.
        let painted = send(&mut bench, &[message, desc(1, 1, 1, 0xf)]);
        // The thread goes on, unless that was its end.
        assert_eq!(painted, message & EOT == 0, "{message:#x}");
        assert_eq!(show(&bench, MATH, 0), 0, "the other unit");
        bench.write(RegId::MathCtl, 1 << 16);
        let lengths = (message >> 16 & 15) << 12 | (message >> 20 & 15) << 8;
        let expected = WM << 24 | EU << 16 | lengths | (message & 15) << 4 | flags;
        assert_eq!(show(&bench, MATH, 0), expected, "{message:#x}");
        assert_eq!(show(&bench, MATH, 1), 0, "nothing waits");
        for mux in 2..256 {
            assert_eq!(show(&bench, MATH, mux), 0);
        }
        bench.finish_after_fault();
    }
}

/// Bad length and end of thread by number; the first unit of the sampler has the words.
// covers: 3.4.6-01, 3.4.6.1-R, 3.4.6.2-R
#[test]
fn sampler_errors() {
    for (message, code) in [(desc(2, 1, 8, 0), 1), (desc(2, 3, 0, 0xc000) | EOT, 2)] {
        let mut bench = Bench::new(8, 8);
        send(&mut bench, &[message, desc(2, 1, 7, 0)]);
        assert_eq!(show(&bench, SAMPLER, 0), SENDER | code, "{message:#x}");
        assert_eq!(show(&bench, SAMPLER, 1), DWORDS[0]);
        assert_eq!(show(&bench, SAMPLER, 2), DWORDS[1]);
        assert_eq!(show(&bench, SAMPLER, 3), 0);
        // What the other units show is not published.
        for unit in 1..32 {
            bench.write(RegId::SamplerCtl, unit << 3);
            for mux in 0..256 {
                assert_eq!(show(&bench, SAMPLER, mux), 0, "unit {unit}");
            }
        }
        bench.write(RegId::SamplerCtl, u32::MAX);
        assert_eq!(bench.read(RegId::SamplerCtl), 0xfffc);
        bench.write(RegId::SamplerCtl, 0);
        bench.finish_after_fault();
    }
}

/// Every error bit that a message of a pixel shader can earn, with the first message's header.
// covers: 3.4.7-01, 3.4.7-02, 3.4.7.1-R, 3.4.7.2-R, 3.7.1.1-02
#[test]
fn data_port_errors() {
    for (message, bit) in [
        // No header; reads end no thread; four registers for a port that reads.
        (desc(4, 0, 1, 2 << 8 | STATELESS), 0),
        (desc(4, 1, 0, 2 << 8 | STATELESS) | EOT, 1),
        (desc(4, 4, 1, 2 << 8 | STATELESS), 3),
        // Target cache 11; OWords of an image; seven is no block size.
        (desc(4, 1, 1, 3 << 14 | 2 << 8 | STATELESS), 4),
        (desc(4, 1, 1, 2 << 8), 5),
        (desc(4, 1, 1, 7 << 8 | STATELESS), 6),
        (desc(4, 1, 1, 2 << 8 | CROOKED), 7),
        // Two OWords want a register beside the header; rectangles have a surface.
        (desc(5, 1, 0, 2 << 8 | STATELESS), 8),
        (desc(4, 1, 1, 1 << 14 | 2 << 12 | STATELESS), 9),
        (desc(5, 10, 0, 4 << 12 | STRANGE), 12),
        (desc(4, 1, 2, 2 << 8 | STATELESS), 13),
    ] {
        let mut bench = Bench::new(8, 8);
        assert_eq!(show(&bench, PORT, 0), 0);
        // The second one's bit is 4, or 6.
        let second = if bit == 4 { 7 << 8 } else { 3 << 14 };
        let second = desc(4, 1, 1, second | STATELESS);
        let painted = send(&mut bench, &[message, second]);
        assert_eq!(painted, message & EOT == 0, "{message:#x}");
        assert_eq!(show(&bench, PORT, 0), SENDER | 1 << bit, "{message:#x}");
        let [six, seven] = if bit == 0 { [0; 2] } else { DWORDS };
        assert_eq!(show(&bench, PORT, 1), seven, "{message:#x}");
        assert_eq!(show(&bench, PORT, 2), six);
        bench.write(RegId::DpCtl, u32::MAX);
        assert_eq!(bench.read(RegId::DpCtl), 0xff00);
        bench.finish_after_fault();
    }
}

/// Function IDs that nobody has go through the arbiter like others; the URB finds out.
// covers: 3.7.1.1-01, 3.4.9.1-R, 3.4.9.2-R
#[test]
fn the_urb_decodes_unknown_functions() {
    for function in [8, 9, 15] {
        let mut bench = Bench::new(8, 8);
        assert!(send(&mut bench, &[desc(function, 1, 0, 0x123)]));
        assert_eq!(show(&bench, URB, 0), SENDER | 4);
        assert_eq!(show(&bench, URB, 1), DWORDS[0]);
        assert_eq!(show(&bench, URB, 2), DWORDS[1]);
        for mux in 3..256 {
            assert_eq!(show(&bench, URB, mux), 0);
        }
        bench.write(RegId::UrbCtl, 0x7fff_ffff);
        assert_eq!(bench.read(RegId::UrbCtl), 0x000f_ff01);
        bench.write(RegId::UrbCtl, 0);
        bench.finish_after_fault();
    }
}

/// The thread spawner serves its own threads: a pixel shader's message is unexpected; two registers are too many.
// covers: 3.4.10-01, 3.3.11-04
#[test]
fn the_spawner_refuses_strangers() {
    for (message, code) in [(desc(7, 1, 0, 0), 0), (desc(7, 2, 0, 0), 1)] {
        let mut bench = Bench::new(8, 8);
        assert!(send(&mut bench, &[message, desc(7, 1, 1, 0)]));
        let word = show(&bench, SPAWNER, 0);
        // Valid, FFID, EUID, TID, code.
        let known = 1 << 15 | 0xf << 22 | 0xf << 18 | 3 << 16 | 1;
        let expected = 1 << 15 | WM << 22 | EU << 18 | code;
        assert_eq!(word & known, expected, "{message:#x}");
        bench.finish_after_fault();
    }
}

/// Messages behind a bad one are served in non-pipelined mode too, and the error stays where it is.
// covers: 3.7.1.2-02, 3.7.1.2-01
#[test]
fn a_function_goes_on_behind_an_error() {
    let mut bench = Bench::new(8, 8);
    bench.write(RegId::MaDebug1, 1 << 1);
    assert!(send(&mut bench, &[desc(4, 1, 1, 7 << 8 | STATELESS)]));
    // The pixel's own message is a good one, behind it.
    assert_eq!(show(&bench, PORT, 0), SENDER | 1 << 6);
    assert_eq!(show(&bench, PORT, 1), DWORDS[1]);
    bench.write(RegId::MaDebug1, 0);
    bench.finish_after_fault();
}

/// 3DSTATE_BINDING_TABLE_POINTERS, of VS, GS, CLIP, SF and PS in the order of the command.
// covers: 3.4.7-03, 3.4.7.2-R
#[test]
fn binding_table_pointers_show() {
    let mut bench = Bench::new(8, 8);
    let pointers = [0x1000, 0x2020, 0x0003_0040, 0x0400_0060, 0xffff_ffe0];
    bench.scene.commands.push(0x7801_0004);
    bench.scene.commands.extend(pointers);
    bench.scene.run();
    for (mux, pointer) in (32..).zip(pointers) {
        assert_eq!(show(&bench, PORT, mux), pointer, "{mux}");
    }
    for mux in 37..256 {
        assert_eq!(show(&bench, PORT, mux), 0, "{mux}");
    }
    bench.finish();
}
