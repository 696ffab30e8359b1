//! Measures the interpreter: SIMD8-equivalent instructions per second on one core.
//!
//! PRM: volume 4, 2.3. Plain loops over ALU instructions; messages are not measured.
#![allow(clippy::expect_used, reason = "a measuring program")]

use eu::{
    Delivery, Grf, KernelCache, Message, NoObserver, Port, RunStats, Stop, Thread, ThreadInit,
};
use isa::inst::{AccessMode, Branch, Compression, CondMod, PredCtrl, SendDesc};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode, Verx10};
use std::sync::OnceLock;
use std::time::Instant;

struct Kernel(Vec<[u32; 4]>);

impl Port for Kernel {
    type Fault = u32;
    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], u32> {
        self.0.get(ip as usize / 16).copied().ok_or(ip)
    }
    fn send(&mut self, _: &Message<'_>, _: &mut [Grf]) -> Result<Delivery, u32> {
        Ok(Delivery::Done)
    }
}

fn reg(nr: u8, ty: Type) -> Src {
    Src {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct { nr, subnr: 0 },
        region: Region::VEC8,
        ..Src::NULL
    }
}

fn scalar(nr: u8, ty: Type) -> Src {
    Src {
        region: Region::SCALAR,
        ..reg(nr, ty)
    }
}

fn imm(ty: Type, imm: u32) -> Src {
    Src {
        file: RegFile::Imm,
        ty,
        imm: u64::from(imm),
        ..Src::NULL
    }
}

fn dst(nr: u8, ty: Type) -> Dst {
    Dst {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct { nr, subnr: 0 },
        ..Dst::NULL
    }
}

fn op(opcode: Opcode, exec: u8, d: Dst, srcs: &[Src]) -> Inst {
    let mut i = Inst::blank(opcode);
    i.exec_size = exec;
    if exec == 16 {
        i.compression = Compression::Compressed;
    }
    i.dst = d;
    i.num_src = srcs.len() as u8;
    i.src[..srcs.len()].copy_from_slice(srcs);
    i
}

fn branch(opcode: Opcode, exec: u8, jump: i32) -> Inst {
    let mut i = Inst::blank(opcode);
    i.exec_size = exec;
    i.branch = Some(Branch {
        jump,
        pop_or_uip: 0,
    });
    i
}

/// A counted loop around `body`, then a message that ends the thread.
fn looped(exec: u8, body: &[Inst], times: u32) -> Vec<Inst> {
    let mut k = vec![op(
        Opcode::Mov,
        1,
        dst(100, Type::D),
        &[imm(Type::D, times)],
    )];
    let mut head = branch(Opcode::Do, exec, 0);
    head.branch = None;
    k.push(head);
    k.extend_from_slice(body);
    k.push(op(
        Opcode::Add,
        1,
        dst(100, Type::D),
        &[scalar(100, Type::D), imm(Type::D, u32::MAX)],
    ));
    let mut cmp = op(
        Opcode::Cmp,
        exec.min(8),
        Dst {
            ty: Type::D,
            ..Dst::NULL
        },
        &[scalar(100, Type::D), imm(Type::D, 0)],
    );
    cmp.cond_mod = CondMod::G;
    k.push(cmp);
    let mut w = branch(Opcode::While, 8, -(body.len() as i32 + 2));
    w.pred_ctrl = PredCtrl::Normal;
    k.push(w);
    let mut send = op(Opcode::Send, 8, Dst::NULL, &[Src::NULL]);
    send.send = Some(SendDesc {
        imm: Some(0x8010_0000),
        mrf: 1,
        ..SendDesc::default()
    });
    k.push(send);
    k
}

/// Time on a core where the system tells it (other programs do not count), else elapsed time.
fn cpu_seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let elapsed = START.get_or_init(Instant::now).elapsed().as_secs_f64();
    std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|s| s.split_whitespace().next()?.parse::<f64>().ok())
        .map_or(elapsed, |ns| ns * 1e-9)
}

fn measure(name: &str, insts: &[Inst]) {
    let words = insts
        .iter()
        .map(|i| isa::encode(Verx10::GEN40, i).expect("encodes"))
        .collect();
    let mut port = Kernel(words);
    let mut cache = KernelCache::of(eu::r#gen::GEN40);
    let mut best = 0.0f64;
    for _ in 0..5 {
        let mut t = Thread::new();
        t.dispatch(&ThreadInit {
            dispatch_mask: 0xffff,
            grf_count: 128,
            ..ThreadInit::default()
        });
        for (i, r) in t.grf_mut().iter_mut().enumerate() {
            *r = [(1.0 + i as f32 / 128.0).to_bits(); 8];
        }
        let mut stats = RunStats::default();
        let mut budget = u64::MAX;
        let start = cpu_seconds();
        let stop = t.run(
            &mut cache,
            &mut port,
            &mut NoObserver,
            &mut budget,
            &mut stats,
        );
        let seconds = cpu_seconds() - start;
        assert_eq!(stop, Stop::EndOfThread);
        best = best.max(stats.simd8 as f64 / seconds / 1e6);
    }
    println!("{name:<28} {best:8.1} M SIMD8/s");
}

fn align16(mut i: Inst, swizzles: [[u8; 4]; 2]) -> Inst {
    i.access = AccessMode::Align16;
    i.dst.writemask = 0b0111;
    for (s, swizzle) in i.src.iter_mut().zip(swizzles) {
        s.region = Region {
            vstride: 4,
            width: 4,
            hstride: 1,
        };
        s.swizzle = swizzle;
    }
    i
}

fn main() {
    let f = Type::F;
    let d = Type::D;
    let n = 400_000;
    let mul = op(Opcode::Mul, 8, dst(14, f), &[reg(20, f), reg(28, f)]);
    let scale = align16(mul, [[0, 1, 2, 2], [3; 4]]);
    measure("align16 mul .xyzz .wwww loop", &looped(8, &[scale; 8], n));
    let cross = align16(mul, [[1, 2, 0, 0], [2, 0, 1, 0]]);
    measure("align16 mul .yzxx .zxyx loop", &looped(8, &[cross; 8], n));
    let dp4 = op(Opcode::Dp4, 8, dst(14, f), &[reg(20, f), reg(28, f)]);
    let plain = align16(dp4, [[0, 1, 2, 3]; 2]);
    measure("align16 dp4 loop", &looped(8, &[plain; 8], n));
    let one = op(Opcode::Mul, 1, dst(14, f), &[scalar(20, f), scalar(28, f)]);
    measure("scalar mul loop", &looped(8, &[one; 8], n));
    for exec in [8, 16] {
        let alu = [
            op(Opcode::Mul, exec, dst(10, f), &[reg(20, f), reg(22, f)]),
            op(Opcode::Add, exec, dst(12, f), &[reg(10, f), reg(24, f)]),
            op(
                Opcode::Line,
                exec,
                Dst { ty: f, ..Dst::NULL },
                &[scalar(4, f), reg(26, f)],
            ),
            op(Opcode::Mac, exec, dst(14, f), &[scalar(5, f), reg(28, f)]),
            op(
                Opcode::Mul,
                exec,
                dst(16, f),
                &[reg(14, f), imm(f, 0x3f00_0000)],
            ),
            op(Opcode::Mov, exec, dst(18, f), &[reg(16, f)]),
            op(Opcode::Add, exec, dst(30, d), &[reg(30, d), imm(d, 3)]),
            op(Opcode::And, exec, dst(32, d), &[reg(30, d), reg(32, d)]),
        ];
        measure(
            &format!("mixed alu loop, simd{exec}"),
            &looped(exec, &alu, n),
        );
        let mac = [op(Opcode::Mac, exec, dst(14, f), &[reg(20, f), reg(28, f)]); 8];
        measure(&format!("mac loop, simd{exec}"), &looped(exec, &mac, n));
        let add = [op(Opcode::Add, exec, dst(14, f), &[reg(20, f), reg(28, f)]); 8];
        measure(&format!("add loop, simd{exec}"), &looped(exec, &add, n));
        let mul = [op(Opcode::Mul, exec, dst(14, f), &[reg(20, f), reg(28, f)]); 8];
        measure(&format!("mul loop, simd{exec}"), &looped(exec, &mul, n));
        let int = [op(Opcode::Add, exec, dst(14, d), &[reg(20, d), reg(28, d)]); 8];
        measure(
            &format!("integer add loop, simd{exec}"),
            &looped(exec, &int, n),
        );
        let mov = [op(Opcode::Mov, exec, dst(14, f), &[reg(20, f)]); 8];
        measure(&format!("mov loop, simd{exec}"), &looped(exec, &mov, n));
        let word = [op(
            Opcode::Add,
            exec,
            dst(14, f),
            &[reg(20, Type::Uw), reg(28, f)],
        ); 8];
        measure(
            &format!("word source loop, simd{exec}"),
            &looped(exec, &word, n),
        );
        measure(
            &format!("empty while loop, simd{exec}"),
            &looped(exec, &[], n),
        );
    }
}
