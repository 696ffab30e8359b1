//! Attention: threads that wait for the host, and how they are let go.
//!
//! PRM: volume 4, 3.5. Media threads are alive at the same time: thread `n` here is thread `n % 4` of EU `n / 4`.

use crestline_tests::media::{self, OUT};
use crestline_tests::rig::{Rig, SHORT};
use driver::{Object, Request};
use regs::gen40::RegId;

/// OWords of the output: one for each thread of the device.
const OWORDS: u32 = 32;

/// Raises its data when its number is odd, waits, and writes its number and CR0 where the number says.
const WAITS: &str = "
    and(1)          g10<1>UD        g1<0,1,0>UD     1UD             { align1 };
    shl(1)          g10<1>UD        g10<0,1,0>UD    2UD             { align1 };
    or(1)           cr0<1>UD        cr0<0,1,0>UD    g10<0,1,0>UD    { align1 };
    wait(1)         n1<1>UD                                         { align1 };
    mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
    shl(1)          m1.2<1>UD       g1<0,1,0>UD     4UD             { align1 };
    mov(8)          m2<1>UD         g1<0,1,0>UD                     { align1 };
    mov(1)          m2.1<1>UD       cr0<0,1,0>UD                    { align1 };
    send(8) 1       null<1>UW       null<8,8,1>UW   write MsgDesc: OWord block write MsgCtrl = 0x0 Surface = 0 mlen 2 rlen 0 { align1 };
    send(8) 0       null<1>UW       g0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };
";

/// Threads that wait.
struct Waiting {
    rig: Rig,
    out: Object,
    batch: Object,
    request: Request,
}

impl Waiting {
    /// So many threads, under registers that are written first.
    fn new(threads: u32, registers: &[(RegId, u32)]) -> Self {
        let rig = Rig::new();
        let out = rig.object(OUT, 4096, &[]);
        for (id, value) in registers {
            rig.platform.device().write_register(*id, 0, *value);
        }
        let (batch, request) = media::submit(&rig, WAITS, OWORDS, threads);
        let waiting = Waiting {
            rig,
            out,
            batch,
            request,
        };
        waiting.run();
        waiting
    }

    fn run(&self) {
        for _ in 0..20 {
            self.rig.platform.run(2000);
        }
    }

    fn read(&self, id: RegId, dword: u32) -> u32 {
        let mut device = self.rig.platform.device();
        device.read_register(id, dword)
    }

    fn write(&self, id: RegId, dword: u32, value: u32) {
        let mut device = self.rig.platform.device();
        device.write_register(id, dword, value);
    }

    /// Attn and AData, thread 0 of EU 0 in the least significant bit.
    fn signals(&self) -> (u32, u32) {
        let read = |id| self.read(id, 0).reverse_bits();
        (read(RegId::EuAtt), read(RegId::EuAttData))
    }

    /// What thread `n` has written: its number and CR0, or nothing yet.
    fn result(&self, n: u32) -> [u32; 2] {
        [0, 4].map(|at| self.out.read32(n as usize * 16 + at).unwrap())
    }

    /// Sets bits of EU_ATT_CLR and sets them back.
    fn release(&self, threads: u32) {
        self.write(RegId::EuAttClr, 0, threads);
        self.write(RegId::EuAttClr, 0, 0);
        self.run();
    }

    fn finish(self) {
        self.request.wait(SHORT).expect("the threads end");
        drop(self.request);
        self.batch.unbind();
        drop((self.batch, self.out));
        drop(self.rig.device.take_error_state());
        self.rig.finish();
    }
}

/// All thirty-two threads of the part: Attn by `wait n1`, AData by CR0 bit 2; bit orders; who goes on and when.
// covers: 3.5-01, 3.5-02, 3.5-03, 3.5-06, 3.5-07, 3.5.2-R, 3.5.3-R, 3.5.4-R
#[test]
fn thirty_two_threads_wait() {
    let waiting = Waiting::new(32, &[]);
    // The most significant bit is EU 0 thread 0, so that the odd threads have the even bits.
    assert_eq!(waiting.read(RegId::EuAtt, 0), u32::MAX);
    assert_eq!(waiting.read(RegId::EuAttData, 0), 0x5555_5555);
    for dword in 1..4 {
        assert_eq!(waiting.read(RegId::EuAtt, dword), 0, "127:32 are reserved");
        assert_eq!(waiting.read(RegId::EuAttData, dword), 0);
    }
    // EU 1 thread 3, set: its signals go, N1 and CR0 bit 2 are reset, and it waits on.
    waiting.write(RegId::EuAttClr, 0, 1 << 7);
    waiting.run();
    let threads = !(1 << 7);
    assert_eq!(waiting.signals(), (threads, 0xaaaa_aaaa & threads));
    assert_eq!(waiting.read(RegId::EuAtt, 0), !(1 << 24));
    assert_eq!(waiting.result(7), [0, 0]);
    // Set once more: nothing new. Set back: it goes on.
    waiting.write(RegId::EuAttClr, 0, 1 << 7);
    waiting.run();
    assert_eq!(waiting.result(7), [0, 0]);
    waiting.write(RegId::EuAttClr, 0, 0);
    waiting.run();
    assert_eq!(waiting.result(7), [7, 0]);
    for n in (0..32).filter(|&n| n != 7) {
        assert_eq!(waiting.result(n), [0, 0], "{n}");
    }
    // Several at once, then the rest; writes to the upper dwords let nobody go.
    waiting.release(1 << 31 | 1 << 16 | 1);
    let threads = threads & !(1 << 31 | 1 << 16 | 1);
    assert_eq!(waiting.signals(), (threads, 0xaaaa_aaaa & threads));
    assert_eq!((waiting.result(31), waiting.result(16)), ([31, 0], [16, 0]));
    for dword in 1..4 {
        waiting.write(RegId::EuAttClr, dword, u32::MAX);
        waiting.write(RegId::EuAttClr, dword, 0);
    }
    waiting.run();
    assert_eq!(waiting.signals().0, threads);
    waiting.release(u32::MAX);
    assert_eq!(waiting.signals(), (0, 0));
    for n in 0..32 {
        assert_eq!(waiting.result(n), [n, 0]);
    }
    waiting.finish();
}

/// Two registers that nobody writes, and one that nobody reads.
// covers: 3.5-04, 3.5.2-R, 3.5.3-R, 3.5.4-R
#[test]
fn attention_registers_go_one_way() {
    let waiting = Waiting::new(3, &[]);
    assert_eq!(waiting.signals(), (0b111, 0b010));
    for value in [u32::MAX, 0] {
        waiting.write(RegId::EuAtt, 0, value);
        waiting.write(RegId::EuAttData, 0, value);
        waiting.run();
        assert_eq!(waiting.signals(), (0b111, 0b010));
    }
    waiting.write(RegId::EuAttClr, 0, 0b010);
    assert_eq!(waiting.read(RegId::EuAttClr, 0), 0);
    assert_eq!(waiting.signals(), (0b101, 0));
    waiting.release(0b111);
    waiting.finish();
}

/// One interrupt for all: it stays until the last Attn signal is down.
// covers: 3.5-05
#[test]
fn any_attention_interrupts() {
    const DEBUG: u32 = 1 << 2;
    let waiting = Waiting::new(2, &[]);
    assert_ne!(waiting.read(RegId::Isr, 0) & DEBUG, 0);
    // The driver has its interrupts on; with this one unmasked it is latched.
    let mask = waiting.read(RegId::Imr, 0);
    waiting.write(RegId::Imr, 0, mask & !DEBUG);
    waiting.run();
    assert_ne!(waiting.read(RegId::Iir, 0) & DEBUG, 0);
    waiting.release(0b01);
    assert_ne!(waiting.read(RegId::Isr, 0) & DEBUG, 0, "one still waits");
    waiting.release(0b10);
    assert_eq!(waiting.read(RegId::Isr, 0) & DEBUG, 0);
    waiting.write(RegId::Iir, 0, DEBUG);
    waiting.run();
    assert_eq!(waiting.read(RegId::Iir, 0) & DEBUG, 0);
    waiting.write(RegId::Imr, 0, mask);
    waiting.finish();
}

/// The EUs of media threads: a mask, and a limit of threads on each.
// covers: 3.4.1-05, 3.4.1-06, 3.4.1.2-R, 3.4.1.13-R
#[test]
fn media_threads_run_where_they_may() {
    // Three threads an EU at most; EUs 2 and 5 alone; both.
    let (limit, mask) = (3 << 16 | 1 << 8, 1 << 7);
    for (control, eus, expected) in [
        (limit, 0, 0b0111_0111_0111),
        (mask, 0x24, 0x0f0 << 16 | 0xf << 8),
        (mask | limit, 0x24, 0x070 << 16 | 0x7 << 8),
        // Fewer EUs than the threads want: the others come later.
        (limit & !(2 << 16) | mask, 0x24, 1 << 20 | 1 << 8),
    ] {
        let threads = if control & mask != 0 { 8 } else { 9 };
        let registers = [(RegId::TdTsEmsk, eus), (RegId::TdCtl2, control)];
        let waiting = Waiting::new(threads, &registers);
        assert_eq!(waiting.signals().0, expected, "{control:#x}");
        while waiting.signals().0 != 0 {
            let (there, _) = waiting.signals();
            assert_eq!(there & !expected, 0, "{control:#x}");
            waiting.release(there);
        }
        for n in 0..threads {
            assert_eq!(waiting.result(n), [n, 0]);
        }
        waiting.write(RegId::TdTsEmsk, 0, u32::MAX);
        assert_eq!(waiting.read(RegId::TdTsEmsk, 0), 0xffff);
        waiting.write(RegId::TdCtl2, 0, 0);
        waiting.finish();
    }
}

/// Halted row inputs hold answers, not dispatches: all threads start, and as their writes want no answer, they end.
/// A halted message arbiter lets them start as well, and nothing more.
// covers: 3.4.5-01, 3.4.5-03
#[test]
fn halted_arbiters_dispatch_threads() {
    const GLOBAL: u32 = 1 << 20 | 1 << 4;
    for (halt, ends) in [(1 << 3, true), (1 << 4, true), (1 << 2, false)] {
        let registers = [(RegId::Instpm, GLOBAL), (RegId::MaDebug1, halt)];
        let waiting = Waiting::new(8, &registers);
        assert_eq!(waiting.signals().0, 0xff, "{halt:#x}");
        waiting.release(0xff);
        let results: Vec<_> = (0..8).map(|n| waiting.result(n)).collect();
        let expected: Vec<_> = (0..8).map(|n| [if ends { n } else { 0 }, 0]).collect();
        assert_eq!(results, expected, "{halt:#x}");
        waiting.write(RegId::MaDebug1, 0, 0);
        waiting.run();
        assert_eq!(waiting.result(7), [7, 0]);
        waiting.write(RegId::Instpm, 0, 1 << 20);
        waiting.finish();
    }
}

/// EU_CTL names one of eight EUs; what its muxes show is left to a document outside the manual, and reads as zero.
// covers: 3.5-08, 3.5.1-R, 3.5.5-R
#[test]
fn the_eus_show_nothing() {
    let waiting = Waiting::new(8, &[]);
    waiting.write(RegId::EuCtl, 0, u32::MAX);
    assert_eq!(waiting.read(RegId::EuCtl, 0), 0x0007_ff00);
    for eu in 0..8 {
        for mux in 0..256 {
            waiting.write(RegId::EuCtl, 0, eu << 16 | mux << 8);
            assert_eq!(waiting.read(RegId::EuRdata, 0), 0);
        }
    }
    waiting.write(RegId::EuCtl, 0, 0);
    waiting.release(0xff);
    waiting.finish();
}
