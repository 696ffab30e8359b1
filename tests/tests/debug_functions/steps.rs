//! Breakpoints, single steps, changed instructions.
//!
//! PRM: volume 4, 3.4.4, 3.6. Where a step leads follows from the instructions, laid out by hand.

use crestline_tests::scene::kernels;
use regs::gen40::RegId;

use crestline_tests::stops::{
    BARE, BREAKPOINT, Bench, GO, NOTHING, STEP, SUPPRESS, assemble, corner, marked, tiny,
};

/// `if` and `else` of eight channels that jump so far, and `endif` (laid out after Mesa brw_eu_emit.c).
const fn branch(opcode: u32, predicate: u32, jump: u32, pop: u32) -> [u32; 4] {
    let word = 0x0060_0000 | predicate << 16 | opcode;
    [word, 0x3400_1c00, 0x0000_1400, pop << 16 | jump]
}
const IF: [u32; 4] = branch(0x22, 1, 2, 0);
const ELSE: [u32; 4] = branch(0x24, 0, 3, 1);
const ENDIF: [u32; 4] = branch(0x25, 0, 0, 1);

/// One of everything that changes the instruction pointer, then the colour of `wm_flat16`.
fn kernel() -> Vec<u32> {
    let side = |value: u32| assemble(&format!("mov(8) g120<1>UD {value}UD {{ align1 }};"));
    let test = |condition: &str| {
        let compare = format!("cmp.{condition}.f0(8) null<1>UW g121<8,8,1>UW");
        compare
    };
    let mut out = assemble(
        "mov(8) g120<1>UD 1UD { align1 };
         add(8) g120<1>UD g120<8,8,1>UD 1UD { align1 };
         jmpi(1) 1D { align1 nomask };
         mov(8) g120<1>UD 100UD { align1 };
         mov(8) m2<1>F 4.0F { align1 };
         send(8) 2 g120<1>F null<8,8,1>F 0x1110001 { align1 };
         mov(8) g121<1>UW 0x76543210V { align1 };",
    );
    for (i, condition) in ["l", "g", "ge"].into_iter().enumerate() {
        // Four of eight channels; none; all.
        let limit = ["4UW", "100UW", "0UW"][i];
        out.extend(assemble(&format!(
            "{} {limit} {{ align1 }};",
            test(condition)
        )));
        let first = 5 + 2 * i as u32;
        out.extend(IF);
        out.extend(side(first));
        out.extend(ELSE);
        out.extend(side(first + 1));
        out.extend(ENDIF);
    }
    out.extend(kernels::wm_flat16());
    out
}

/// Instructions in the order of their execution, and r120 before each.
fn walk() -> Vec<(u32, u32)> {
    let quarter = 0.25f32.to_bits();
    let mut out = vec![(0, 0), (1, 1), (2, 2), (4, 2), (5, 2), (6, quarter)];
    // Both sides; the first channel takes the first.
    out.extend([(7, quarter), (8, quarter), (9, quarter)]);
    out.extend([(10, 5), (11, 5), (12, 5)]);
    // The second side alone: from `if` to `else`.
    out.extend([(13, 5), (14, 5), (16, 5), (17, 5), (18, 8)]);
    // The first side alone: from `else` behind `endif`.
    out.extend([(19, 8), (20, 8), (21, 8), (22, 9)]);
    out.extend((25..35).map(|n| (n, 9)));
    out
}

/// Every instruction of a pixel shader one by one: Suppress set, the status left as it is (3.6.1). Across a jump, a
/// message, all ways through a branch, and past the end of the thread.
// covers: 3.6.1-01, 3.6-01, 12.4-05, 3.6-02
#[test]
fn every_instruction_traps_again() {
    let mut bench = Bench::new(8, 8);
    let draw = tiny(&mut bench, kernel());
    bench.draw(&draw);
    let picture = bench.undisturbed();
    assert_eq!(picture.iter().filter(|&&w| w != 0).count(), 4);
    // On the way there are no breakpoints; all moves have one; all messages have one.
    for opcode in [0, 0x01 << 16 | 1, 0x31 << 16 | 1] {
        bench.write(RegId::IscL1caBpOpc2, opcode);
        step_through(&mut bench);
        assert_eq!(bench.take(), picture);
    }
    bench.write(RegId::IscL1caBpOpc2, 0);
    bench.finish();
}

/// Steps through the one thread of a frame.
fn step_through(bench: &mut Bench) {
    let mut marked_kernel = kernel();
    marked(&mut marked_kernel, 0);
    let draw = tiny(bench, marked_kernel);
    bench.draw(&draw);
    // Breakpoints for pixel shader threads alone.
    bench.write(RegId::TdCtl, 1 << 2);
    bench.write(RegId::WizCtl, 0b111);
    let frame = bench.submit();
    let mut stop = bench.stopped();
    let first = stop.ip;
    for (n, (instruction, value)) in walk().into_iter().enumerate() {
        assert_eq!(stop.ip - first, instruction * 16, "step {n}");
        if n > 0 {
            assert_eq!(stop.value, value, "before instruction {instruction}");
        }
        // Master state and control; status and enable.
        assert_eq!(stop.control, [1 << 31, BREAKPOINT | 1 << 15], "step {n}");
        assert!(bench.target.words().iter().all(|&w| w == 0));
        let Some(next) = bench.next(&stop, STEP) else {
            assert_eq!(instruction, 34, "the last one");
            break;
        };
        stop = next;
    }
    bench.end(frame);
}

/// Steps end with the status cleared while Suppress is set; the next breakpoint in the code traps again, and not
/// the one that Suppress was set for.
// covers: 3.6.1-02, 3.6-06, 3.6-01
#[test]
fn a_debugger_steps_and_goes_on() {
    let mut kernel = kernel();
    marked(&mut kernel, 0);
    marked(&mut kernel, 4);
    let mut bench = Bench::new(8, 8);
    let draw = tiny(&mut bench, kernel);
    bench.draw(&draw);
    bench.write(RegId::TdCtl, 1 << 4);
    let frame = bench.submit();
    let stop = bench.stopped();
    let first = stop.ip;
    let at = |instruction: u32| first + 16 * instruction;
    // Neither Suppress nor a cleared status; a cleared status alone: the breakpoint is there still.
    let stop = bench.next(&stop, NOTHING).unwrap();
    assert_eq!((stop.ip, stop.control[1]), (first, BREAKPOINT | 1 << 15));
    let stop = bench.next(&stop, BARE).unwrap();
    assert_eq!((stop.ip, stop.control[1]), (first, BREAKPOINT | 1 << 15));
    let stop = bench.next(&stop, STEP).unwrap();
    assert_eq!((stop.ip, stop.value), (at(1), 1));
    // A status that is left set traps without any breakpoint, and without Suppress before the instruction.
    let stop = bench.next(&stop, NOTHING).unwrap();
    assert_eq!((stop.ip, stop.value), (at(1), 1));
    let stop = bench.next(&stop, STEP).unwrap();
    assert_eq!((stop.ip, stop.value), (at(2), 2));
    // The last one is reset after one instruction, so that the next breakpoint is met.
    let stop = bench.next(&stop, GO).unwrap();
    assert_eq!((stop.ip, stop.value), (at(4), 2));
    assert_eq!(stop.control, [1 << 31, BREAKPOINT | 1 << 15]);
    assert!(bench.next(&stop, GO).is_none());
    bench.end(frame);
    assert!(bench.take().iter().any(|&w| w != 0));
    bench.finish();
}

/// Suppress set by the kernel itself, outside the routine, blocks the next breakpoint, and that alone.
// covers: 3.6-06
#[test]
fn suppress_blocks_one_breakpoint() {
    let mut kernel = assemble(&format!(
        "mov(1) cr0<1>UD {SUPPRESS:#x}UD {{ align1 nomask }};
         mov(8) g120<1>UD 1UD {{ align1 }};
         mov(8) g120<1>UD 2UD {{ align1 }};
         mov(8) g120<1>UD 3UD {{ align1 }};"
    ));
    marked(&mut kernel, 2);
    marked(&mut kernel, 3);
    kernel.extend(kernels::wm_flat16());
    let mut bench = Bench::new(8, 8);
    let draw = tiny(&mut bench, kernel);
    bench.draw(&draw);
    bench.write(RegId::TdCtl, 1 << 4);
    let frame = bench.submit();
    let stop = bench.stopped();
    assert_eq!(stop.value, 2, "before the second of the two");
    // It was reset on the first.
    assert_eq!(stop.control[0], 1 << 31);
    assert!(bench.next(&stop, GO).is_none());
    bench.end(frame);
    bench.finish();
}

/// Addresses and opcodes, set anew at each stop; each acts with its own enable.
// covers: 3.4.4-01, 3.4.4-02, 3.4.4-03, 3.6-02, 3.4.4.3-R, 3.4.4.4-R, 3.4.4.5-R, 3.4.4.6-R
// covers: 3.4.3.1-R, 3.4.4.1-R, 3.4.4.2-R
#[test]
fn breakpoint_registers_change_at_any_time() {
    let (address1, address2) = (RegId::IscL1caBpAdr1, RegId::IscL1caBpAdr2);
    let (opcode1, opcode2) = (RegId::IscL1caBpOpc1, RegId::IscL1caBpOpc2);
    let mut bench = Bench::new(8, 8);
    // Without Breakpoint Enable in CR1 nothing stops, whatever is set.
    let draw = tiny(&mut bench, kernel());
    bench.draw(&draw);
    bench.write(opcode1, 0x40 << 16 | 3);
    bench.write(opcode2, 0x31 << 16 | 1);
    let picture = bench.undisturbed();
    bench.write(opcode1, 0);
    bench.write(opcode2, 0);
    // Bits that are reserved stay zero.
    for (id, defined) in [
        (address1, 0xffff_fff1),
        (address2, 0xffff_fff1),
        (opcode1, 0x00ff_0003),
        (opcode2, 0x00ff_0001),
    ] {
        bench.write(id, u32::MAX);
        assert_eq!(bench.read(id), defined);
        bench.write(id, 0);
    }
    let mut code = kernel();
    marked(&mut code, 0);
    let draw = tiny(&mut bench, code);
    bench.draw(&draw);
    bench.write(RegId::TdCtl, 1 << 4);
    let frame = bench.submit();
    let stop = bench.stopped();
    let at = |instruction: u32| stop.ip + 16 * instruction;
    let whereto = |stop: &crestline_tests::stops::Stop| (stop.ip - at(0)) / 16;
    // Not enabled; enabled.
    bench.write(address1, at(2));
    bench.write(address2, at(4) | 1);
    let stop = bench.next(&stop, GO).unwrap();
    assert_eq!(whereto(&stop), 4);
    // The one behind the thread, and the one before it.
    bench.write(address1, at(6) | 1);
    bench.write(address2, at(2) | 1);
    let stop = bench.next(&stop, GO).unwrap();
    assert_eq!(whereto(&stop), 6);
    bench.write(address1, 0);
    bench.write(address2, 0);
    // Opcode 24h, `else`, not enabled, and 25h, `endif`.
    bench.write(opcode1, 0x24 << 16);
    bench.write(opcode2, 0x25 << 16 | 1);
    let stop = bench.next(&stop, GO).unwrap();
    assert_eq!(whereto(&stop), 12);
    bench.write(opcode1, 0x24 << 16 | 1);
    let stop = bench.next(&stop, GO).unwrap();
    assert_eq!(whereto(&stop), 16);
    let stop = bench.next(&stop, GO).unwrap();
    assert_eq!(whereto(&stop), 18);
    // The end of the thread, which is no opcode of its own.
    bench.write(opcode1, 1 << 1);
    bench.write(opcode2, 0);
    let stop = bench.next(&stop, GO).unwrap();
    assert_eq!(whereto(&stop), 34);
    assert!(bench.next(&stop, GO).is_none());
    bench.end(frame);
    assert_eq!(bench.take(), picture);
    // Muxes and fields without a published meaning: ISC_CTL has no field, and the data read as zero.
    bench.write(RegId::IscCtl, u32::MAX);
    bench.write(RegId::IscL1caCtr, u32::MAX);
    assert_eq!(bench.read(RegId::IscCtl), 0);
    assert_eq!(bench.read(RegId::IscL1caCtr), 0xff00);
    for mux in 0..256 {
        assert_eq!(bench.show(RegId::IscL1caCtr, mux, RegId::IscL1caRdata), 0);
    }
    bench.finish();
}

/// Red, green, blue and alpha of all pixels, the first of them in one instruction a half.
fn painter(red: f32) -> Vec<u32> {
    assemble(&format!(
        "nop;
         mov(8) m3<1>F {red:?}F {{ align1 }};
         mov(8) m7<1>F {red:?}F {{ align1 }};
         mov(8) m4<1>F 0.4F {{ align1 }};
         mov(8) m8<1>F 0.4F {{ align1 }};
         mov(8) m5<1>F 0.6F {{ align1 }};
         mov(8) m9<1>F 0.6F {{ align1 }};
         mov(8) m6<1>F 1.0F {{ align1 }};
         mov(8) m10<1>F 1.0F {{ align1 }};
         mov(8) m2<1>UD g1<8,8,1>UD {{ align1 nomask }};
         send(16) 1 null<1>UW g0<8,8,1>UW 0x85a04800 {{ align1 EOT }};"
    ))
}

/// The colour of a thread changes while it stands at a breakpoint: the caches are flushed through MMIO. Changed are
/// the instruction behind the breakpoint, which the EU may have fetched ahead, and the one with the breakpoint.
// covers: 3.6.2-01, 3.6.2-02, 12.3-03
#[test]
fn a_changed_instruction_changes_the_pixel() {
    let mut kernel = painter(0.2);
    marked(&mut kernel, 0);
    let mut bench = Bench::new(8, 8);
    let mut draw = tiny(&mut bench, kernel);
    // Two threads of one kernel: the first fills the caches.
    let vertices = [corner(0.0, 0.0), corner(0.0, 4.0)];
    bench.scene.vertices(&mut draw, vertices.as_flattened());
    bench.draw(&draw);
    bench.write(RegId::TdCtl, 1 << 4);
    let frame = bench.submit();
    let stop = bench.stopped();
    let kernel = stop.ip;
    let stop = bench.next(&stop, GO).unwrap();
    assert_eq!(stop.ip, kernel, "the second thread");
    // 0.8 in place of 0.2 in the low half; alpha of the breakpoint's own place: a move without a breakpoint.
    bench.set_memory(kernel + 16 + 12, 0.8f32.to_bits());
    let other = assemble("mov(8) g119<1>F 0.0F { align1 };");
    for (n, word) in (0..).zip(other) {
        bench.set_memory(kernel + 4 * n, word);
    }
    bench.write(RegId::GfxFlshCntl, 1);
    // No Suppress: nothing is left to be suppressed.
    assert!(bench.next(&stop, BARE).is_none());
    bench.end(frame);
    // 0.2, 0.4, 0.6 and 0.8 of 255 are 51, 102, 153 and 204.
    assert_eq!(bench.target.word(0, 0), 0xff33_6699);
    assert_eq!(bench.target.word(0, 4), 0xffcc_6699);
    bench.finish();
}
