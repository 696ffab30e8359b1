//! Architecture registers, exceptions, wait, observers, resuming.
//!
//! PRM: volume 4, 11.3.4, chapter 12, 3.6.

use super::{Outside, TestPort, arf, arf_src, dst, imm, op, run_in, scalar, thread, vec8};
use crate::{KernelCache, Observer, RunStats, Stop, Thread, ThreadId, ThreadInit};
use isa::operand::{Addr, Region, Src, Type};
use isa::{Inst, Opcode};

fn go(t: &mut Thread, code: &[Inst]) -> Stop<Outside> {
    run_in(
        &mut KernelCache::new(isa::Verx10::GEN40).unwrap(),
        t,
        &mut TestPort::new(Vec::new()),
        code,
        1000,
    )
    .0
}

fn nomask(mut i: Inst) -> Inst {
    i.no_mask = true;
    i
}

fn set(nr: u8, subnr: u8, ty: Type, v: u32) -> Inst {
    nomask(op(Opcode::Mov, 1, arf(nr, subnr, ty), &[imm(ty, v)]))
}

fn get(nr: u8, a: u8, subnr: u8, ty: Type) -> Inst {
    nomask(op(Opcode::Mov, 1, dst(nr, ty), &[arf_src(a, subnr, ty)]))
}

/// 11.3.4.4: a0.0 and a0.1 have sixteen bits, the others twelve.
#[test]
fn address_register_widths() {
    let mut t = thread();
    let code: Vec<Inst> = (0..8).map(|i| set(0x10, 2 * i, Type::Uw, 0xffff)).collect();
    go(&mut t, &code);
    let a = t.view().address;
    assert_eq!(
        a,
        [0xffff, 0xffff, 0xfff, 0xfff, 0xfff, 0xfff, 0xfff, 0xfff]
    );
}

/// Mesa's clip kernels branch by predicated additions to the instruction pointer.
#[test]
fn a_masked_write_of_the_instruction_pointer_is_no_jump() {
    let mut t = thread();
    let ip = arf_src(0xa0, 0, Type::Ud);
    let mut skip = op(
        Opcode::Add,
        1,
        arf(0xa0, 0, Type::Ud),
        &[ip, imm(Type::D, 32)],
    );
    skip.pred_ctrl = isa::inst::PredCtrl::Normal;
    let mut taken = skip;
    taken.pred_inv = true;
    go(
        &mut t,
        &[
            set(0x30, 0, Type::Uw, 0),
            skip,
            taken,
            nomask(op(Opcode::Mov, 1, dst(10, Type::Ud), &[imm(Type::Ud, 1)])),
            nomask(op(Opcode::Mov, 1, dst(11, Type::Ud), &[imm(Type::Ud, 1)])),
        ],
    );
    assert_eq!((t.grf()[10][0], t.grf()[11][0]), (0, 1));
}

#[test]
fn flag_and_mask_registers_are_operands() {
    let mut t = thread();
    go(
        &mut t,
        &[
            set(0x30, 2, Type::Uw, 0x1234),
            get(10, 0x30, 0, Type::Ud),
            set(0x40, 0, Type::Uw, 0x00ff),
            get(11, 0x40, 0, Type::Uw),
            get(12, 0x70, 4, Type::Ud),
            // Read-only and reserved registers ignore writes (11.3.4.2).
            set(0x70, 4, Type::Ud, 0),
            set(0xb0, 0, Type::Ud, 9),
            get(13, 0x70, 4, Type::Ud),
            get(14, 0xb0, 0, Type::Ud),
        ],
    );
    assert_eq!(t.view().flag, [0, 0x1234]);
    assert_eq!(t.grf()[10][0], 0x1234_0000);
    assert_eq!(t.exec_mask(), 0x00ff);
    assert_eq!(t.grf()[11][0], 0x00ff);
    assert_eq!(
        [t.grf()[12][0], t.grf()[13][0], t.grf()[14][0]],
        [0xffff, 0xffff, 0]
    );
}

#[test]
fn accumulator_disable_stops_implicit_updates() {
    let f = Type::F;
    let mut t = thread();
    t.grf_mut()[2] = [2f32.to_bits(); 8];
    let mul = op(Opcode::Mul, 8, dst(3, f), &[vec8(2, f), vec8(2, f)]);
    let add = op(Opcode::Add, 8, dst(3, f), &[vec8(2, f), vec8(2, f)]);
    let mac = op(Opcode::Mac, 8, dst(4, f), &[vec8(2, f), vec8(2, f)]);
    let add7 = op(
        Opcode::Add,
        8,
        dst(5, f),
        &[vec8(2, f), imm(f, 7f32.to_bits())],
    );
    go(
        &mut t,
        &[
            mul,
            set(0x80, 0, Type::Ud, 2),
            add7,
            set(0x80, 0, Type::Ud, 0),
            mac,
            add,
        ],
    );
    assert_eq!(t.grf()[4].map(f32::from_bits), [8.0; 8]);
}

fn indirect(subreg: u8, imm: i16, ty: Type, region: Region) -> Src {
    Src {
        addr: Addr::Indirect { subreg, imm },
        region,
        ..vec8(0, ty)
    }
}

/// 11.3.7: one address for the region, one a row (Vx1), one an element (VxH).
#[test]
fn register_indirect_sources() {
    let mut t = thread();
    for r in 0..64 {
        for c in 0..8 {
            t.grf_mut()[r][c] = (r * 8 + c) as u32;
        }
    }
    let addresses: Vec<Inst> = [
        3 * 32 + 4,
        9 * 32,
        2 * 32 + 28,
        40,
        5 * 32,
        6 * 32,
        7 * 32,
        8 * 32,
    ]
    .iter()
    .enumerate()
    .map(|(i, &a)| set(0x10, 2 * i as u8, Type::Uw, a))
    .collect();
    go(&mut t, &addresses);
    let d = |nr| dst(nr, Type::Ud);
    let vxh = Region {
        vstride: Region::VXH,
        width: 1,
        hstride: 0,
    };
    let vx1 = Region {
        vstride: Region::VXH,
        width: 4,
        hstride: 1,
    };
    t.set_ip(0);
    go(
        &mut t,
        &[
            op(
                Opcode::Mov,
                8,
                d(100),
                &[indirect(0, 32, Type::Ud, Region::VEC8)],
            ),
            op(Opcode::Mov, 8, d(101), &[indirect(0, 0, Type::Ud, vxh)]),
            op(Opcode::Mov, 8, d(102), &[indirect(1, -32, Type::Ud, vx1)]),
        ],
    );
    let first = 4 * 8 + 1;
    assert_eq!(t.grf()[100], std::array::from_fn(|i| (first + i) as u32));
    assert_eq!(t.grf()[101], [25, 72, 23, 10, 40, 48, 56, 64]);
    assert_eq!(t.grf()[102], [64, 65, 66, 67, 15, 16, 17, 18]);
}

#[test]
fn register_indirect_destination_and_range() {
    let mut t = thread();
    let mut d = dst(0, Type::Ud);
    d.addr = Addr::Indirect { subreg: 0, imm: 0 };
    let mov = op(Opcode::Mov, 8, d, &[imm(Type::Ud, 5)]);
    go(&mut t, &[set(0x10, 0, Type::Uw, 127 * 32 + 16), mov]);
    assert_eq!(t.grf()[127], [0, 0, 0, 0, 5, 5, 5, 5]);
    // Twelve bits count, so this is r127 again; past it reads zero and writes nothing.
    t.set_ip(0);
    let load = op(
        Opcode::Mov,
        8,
        dst(9, Type::Ud),
        &[indirect(0, 0, Type::Ud, Region::VEC8)],
    );
    go(&mut t, &[set(0x10, 0, Type::Uw, 0xfff0), mov, load]);
    assert_eq!(t.grf()[9], [5, 5, 5, 5, 0, 0, 0, 0]);
    assert!(t.mrf().iter().all(|m| *m == [0; 8]));
}

/// AClear takes back the host's notification and the data bit, nothing else of them.
// covers: 11.3.4.12-02, 11.3.4.11-03
#[test]
fn attention_clear_clears_one_bit_of_n1_and_the_data() {
    let mut t = thread();
    go(
        &mut t,
        &[
            set(0x91, 0, Type::Ud, 3),
            set(0x90, 0, Type::Ud, 1),
            set(0x80, 0, Type::Ud, 5),
        ],
    );
    assert!(t.attention_data());
    t.attention_clear();
    assert!(!t.attention_data());
    assert_eq!(t.view().notification, [1, 2]);
    assert_eq!(t.view().control[0], 1);
}

#[test]
fn wait_consumes_notifications() {
    let mut t = thread();
    let n1 = arf_src(0x91, 0, Type::Ud);
    let w = op(Opcode::Wait, 1, arf(0x91, 0, Type::Ud), &[n1]);
    let code = [
        w,
        op(Opcode::Mov, 1, dst(10, Type::Ud), &[imm(Type::Ud, 1)]),
    ];
    assert_eq!(go(&mut t, &code), Stop::Wait(1));
    assert_eq!(t.ip(), 0);
    t.notify(1);
    assert_eq!(go(&mut t, &code), Stop::Fault(Outside(32)));
    assert_eq!(t.grf()[10][0], 1);
    assert_eq!(t.view().notification, [0, 0]);
}

fn debugged() -> Thread {
    let mut t = Thread::new();
    t.dispatch(&ThreadInit {
        dispatch_mask: 0xffff,
        breakpoint: true,
        illegal_opcode_exception: true,
        software_exception: true,
        sip: 0x100,
        ..ThreadInit::default()
    });
    t
}

#[test]
fn breakpoint_enters_the_system_routine_before_the_instruction() {
    let mut t = debugged();
    let mut b = op(Opcode::Mov, 1, dst(10, Type::Ud), &[imm(Type::Ud, 1)]);
    b.debug_ctrl = true;
    let code = [Inst::blank(Opcode::Nop), b];
    assert_eq!(go(&mut t, &code), Stop::Fault(Outside(0x100)));
    let v = t.view();
    assert_eq!(t.grf()[10][0], 0);
    assert_eq!(v.control[2], 16);
    assert_eq!(v.control[0] >> 31, 1);
    // Not enabled: nothing happens.
    let mut t = thread();
    assert_eq!(go(&mut t, &code), Stop::Fault(Outside(32)));
    assert_eq!(t.grf()[10][0], 1);
}

/// 3.6.1: Suppress set and the status bit left set: one instruction, then the next breakpoint.
#[test]
fn single_step() {
    let mut t = debugged();
    let mut cache = KernelCache::new(isa::Verx10::GEN40).unwrap();
    let mut port = TestPort::new(Vec::new());
    let count = op(
        Opcode::Add,
        1,
        dst(10, Type::D),
        &[scalar(10, Type::D), imm(Type::D, 1)],
    );
    let mut b = count;
    b.debug_ctrl = true;
    let code = [b, count, count, count];
    let routine = [
        nomask(op(
            Opcode::Or,
            1,
            arf(0x80, 0, Type::Ud),
            &[arf_src(0x80, 0, Type::Ud), imm(Type::Ud, 1 << 15)],
        )),
        nomask(op(
            Opcode::And,
            1,
            arf(0x80, 0, Type::Ud),
            &[arf_src(0x80, 0, Type::Ud), imm(Type::Ud, 0x7fff_ffff)],
        )),
    ];
    for (i, inst) in routine.iter().enumerate() {
        cache.place(0x100 + 16 * i as u32, inst);
    }
    // breakpoint + or + and + one instruction, three times; each leaves AIP one further.
    for step in 1..4 {
        run_in(
            &mut cache,
            &mut t,
            &mut port,
            &code,
            if step == 1 { 4 } else { 3 },
        );
        assert_eq!(t.grf()[10][0], step);
        assert_eq!(t.view().control[2], 16 * step);
        assert_eq!(t.ip(), 0x100);
    }
}

#[test]
fn illegal_opcode() {
    let mut t = debugged();
    let mut cache = KernelCache::new(isa::Verx10::GEN40).unwrap();
    let mut port = TestPort::new(vec![[0, 0, 0, 0]]);
    let stop = run_in(&mut cache, &mut t, &mut port, &[], 10).0;
    assert_eq!(stop, Stop::Fault(Outside(0x100)));
    let mut t = thread();
    let stop = run_in(&mut cache, &mut t, &mut port, &[], 10).0;
    assert_eq!(stop, Stop::Illegal([0, 0, 0, 0]));
    port.words[0][0] = 0x7d;
    cache.invalidate();
    let stop = run_in(&mut cache, &mut t, &mut port, &[], 10).0;
    assert_eq!(stop, Stop::Illegal([0x7d, 0, 0, 0]));
}

#[test]
fn software_exception() {
    let mut t = debugged();
    let raise = nomask(op(
        Opcode::Or,
        1,
        arf(0x80, 4, Type::Ud),
        &[arf_src(0x80, 4, Type::Ud), imm(Type::Ud, 1 << 29)],
    ));
    assert_eq!(go(&mut t, &[raise]), Stop::Fault(Outside(0x100)));
    assert_eq!(t.view().control[2], 16);
}

struct StopAt(u32, Vec<u32>);

impl Observer for StopAt {
    const ACTIVE: bool = true;
    fn before_inst(&mut self, _: ThreadId, ip: u32, _: &Inst) -> bool {
        ip == self.0
    }
    fn after_inst(&mut self, _: ThreadId, ip: u32, _: &Inst) {
        self.1.push(ip);
    }
}

#[test]
fn observer_stops_with_nothing_half_done() {
    let mut t = thread();
    let mut cache = KernelCache::new(isa::Verx10::GEN40).unwrap();
    for i in 0..4u8 {
        let inst = op(Opcode::Mov, 1, dst(10 + i, Type::Ud), &[imm(Type::Ud, 1)]);
        cache.place(u32::from(i) * 16, &inst);
    }
    let mut obs = StopAt(32, Vec::new());
    let mut port = TestPort::new(Vec::new());
    let (mut budget, mut stats) = (100, RunStats::default());
    let stop = t.run(&mut cache, &mut port, &mut obs, &mut budget, &mut stats);
    assert_eq!(stop, Stop::Observer);
    assert_eq!((t.ip(), stats.instructions, budget), (32, 2, 98));
    assert_eq!([t.grf()[11][0], t.grf()[12][0]], [1, 0]);
    assert_eq!(obs.1, [0, 16]);
}

#[test]
fn budget_ends_between_instructions() {
    let mut t = thread();
    let code = vec![op(Opcode::Mov, 16, dst(10, Type::Ud), &[imm(Type::Ud, 1)]); 5];
    let mut port = TestPort::new(Vec::new());
    let (stop, stats) = run_in(
        &mut KernelCache::new(isa::Verx10::GEN40).unwrap(),
        &mut t,
        &mut port,
        &code,
        3,
    );
    assert_eq!(stop, Stop::Budget);
    assert_eq!((t.ip(), stats.instructions, stats.simd8), (48, 3, 6));
}

/// Two threads take turns after each instruction: registers, flags and accumulators are their own.
// covers: 11.3.1-02
#[test]
fn threads_do_not_share_registers() {
    let one = vec8(2, Type::F);
    let code = [
        op(Opcode::Mul, 8, dst(10, Type::F), &[one, one]),
        op(Opcode::Mac, 8, dst(11, Type::F), &[one, one]),
        nomask(op(
            Opcode::Mov,
            1,
            arf(0x30, 0, Type::Uw),
            &[scalar(3, Type::Uw)],
        )),
        nomask(op(
            Opcode::Mov,
            1,
            arf(0x10, 0, Type::Uw),
            &[scalar(3, Type::Uw)],
        )),
    ];
    let mut cache = KernelCache::new(isa::Verx10::GEN40).unwrap();
    let mut port = TestPort::new(Vec::new());
    let mut threads = vec![thread(), thread()];
    for (i, t) in threads.iter_mut().enumerate() {
        t.grf_mut()[2] = [(2.0 + i as f32).to_bits(); 8];
        t.grf_mut()[3] = [7 + i as u32; 8];
    }
    for _ in 0..code.len() {
        for t in &mut threads {
            let (stop, _) = run_in(&mut cache, t, &mut port, &code, 1);
            assert_eq!(stop, Stop::Budget);
        }
    }
    for (t, (sum, set)) in threads.iter().zip([(8.0f32, 7), (18.0, 8)]) {
        assert_eq!(t.grf()[11], [sum.to_bits(); 8]);
        assert_eq!((t.view().flag[0], t.view().address[0]), (set, set));
    }
}

/// Stacks and depths are empty in a new slot; a dispatch leaves them as the thread before left them.
// covers: 11.3.4.8-03
#[test]
fn dispatch_leaves_the_mask_stacks() {
    let mut t = thread();
    let masks = t.view().masks;
    assert_eq!((masks.imsd, masks.lmsd), (0, 0));
    go(
        &mut t,
        &[set(0x50, 0, Type::Uw, 0x1234), set(0x60, 0, Type::Uw, 3)],
    );
    t.dispatch(&ThreadInit::default());
    go(
        &mut t,
        &[get(10, 0x50, 0, Type::Uw), get(11, 0x60, 0, Type::Uw)],
    );
    assert_eq!((t.grf()[10][0], t.grf()[11][0]), (0x1234, 3));
}
