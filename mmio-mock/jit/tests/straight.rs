//! Kernels without branches send what threads send.

use crate::{forms, integers, kernels};
use eu::straight::{Registers, Runner, Straight};
use eu::{
    Delivery, Grf, KernelCache, Message, NoObserver, Port, RunStats, Stop, Thread, ThreadId,
    ThreadInit,
};
use fastrand::Rng;
use isa::inst::SendDesc;
use isa::operand::{Addr, RegFile, Region, Src, Type};
use isa::{Inst, Opcode, Verx10};

/// Registers that threads begin with.
const FILLED: usize = 24;
const KERNELS: usize = 60;
const THREADS: usize = 12;

/// What a message shows of its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    target: (u8, u32, bool),
    channels: (u16, u8),
    thread: ThreadId,
    ip: u32,
    payload: Vec<Grf>,
    /// What the registers of the response held.
    before: Vec<Grf>,
}

/// Fetches from a list of words, notes messages and answers with what depends on them.
pub struct Noting {
    pub words: Vec<[u32; 4]>,
    pub sent: Vec<Sent>,
}

impl Port for Noting {
    type Fault = u32;

    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], u32> {
        self.words.get(ip as usize / 16).copied().ok_or(ip)
    }

    fn send(&mut self, msg: &Message<'_>, response: &mut [Grf]) -> Result<Delivery, u32> {
        self.sent.push(Sent {
            target: (msg.sfid, msg.desc, msg.eot),
            channels: (msg.exec_mask, msg.exec_size),
            thread: msg.thread,
            ip: msg.ip,
            payload: msg.payload.to_vec(),
            before: response.to_vec(),
        });
        for (n, register) in response.iter_mut().enumerate() {
            for (channel, to) in register.iter_mut().enumerate() {
                if msg.exec_mask >> channel & 1 != 0 {
                    let from = msg.payload.first().map_or(7, |first| first[channel]);
                    *to = from.rotate_left(3 * n as u32) & 0xbfff_ffff;
                }
            }
        }
        Ok(Delivery::Done)
    }
}

/// A message of one or two registers with an answer of as many.
pub fn send(rng: &mut Rng, set: Verx10) -> Inst {
    let (sandy, old) = (kernels::sandy(set), set.times_ten() < 50);
    let (length, answer) = (1 + rng.u32(..2), rng.u32(..3));
    let mut send = Inst::blank(Opcode::Send);
    send.exec_size = if rng.bool() { 8 } else { 16 };
    send.num_src = 1;
    send.no_mask = rng.u32(..4) == 0;
    // Extended math and the sampler, where the descriptor names them; of sixteen channels math is asked for eight at a time.
    let imm = if old {
        (1 + rng.u32(..2)) << 24 | length << 20 | answer << 16
    } else {
        length << 25 | answer << 20
    };
    let mrf = rng.u8(1..5);
    send.send = Some(SendDesc {
        imm: Some(imm),
        mrf: if sandy { 0 } else { mrf },
        ..SendDesc::default()
    });
    send.dst.file = RegFile::Grf;
    send.dst.ty = Type::Ud;
    send.dst.addr = Addr::Direct {
        nr: 2 + 2 * rng.u8(..8),
        subnr: 0,
    };
    send.dst.hstride = 1;
    let (file, nr) = if sandy && !kernels::ivy(set) {
        (RegFile::Mrf, mrf)
    } else {
        (RegFile::Grf, 2 + rng.u8(..14))
    };
    send.src[0] = Src {
        file,
        ty: Type::Ud,
        addr: Addr::Direct { nr, subnr: 0 },
        region: Region::VEC8,
        ..Src::NULL
    };
    send
}

/// A copy of a register to a message register, or to another that messages may begin with.
pub fn to_message(rng: &mut Rng, set: Verx10) -> Inst {
    let mut mov = Inst::blank(Opcode::Mov);
    mov.exec_size = 8;
    mov.num_src = 1;
    mov.dst.file = if kernels::ivy(set) {
        RegFile::Grf
    } else {
        RegFile::Mrf
    };
    mov.dst.ty = Type::Ud;
    mov.dst.addr = Addr::Direct {
        nr: rng.u8(1..7),
        subnr: 0,
    };
    mov.dst.hstride = 1;
    mov.src[0] = Src {
        file: RegFile::Grf,
        ty: Type::Ud,
        addr: Addr::Direct {
            nr: 2 + rng.u8(..14),
            subnr: 0,
        },
        region: Region::VEC8,
        ..Src::NULL
    };
    mov
}

/// A cache that has compiled a kernel.
fn warm(set: Verx10, words: &[[u32; 4]]) -> Option<KernelCache> {
    let mut cache = KernelCache::new(set).unwrap();
    cache.set_compiler(Some(jit::compiler()?), false);
    let mut thread = Thread::of(cache.instructions());
    let mut port = Noting {
        words: words.to_vec(),
        sent: Vec::new(),
    };
    for _ in 0..30 {
        thread.dispatch(&ThreadInit {
            dispatch_mask: 0xffff,
            ..ThreadInit::default()
        });
        let (mut left, mut stats) = (10_000, RunStats::default());
        let _: Stop<u32> = thread.run(
            &mut cache,
            &mut port,
            &mut NoObserver,
            &mut left,
            &mut stats,
        );
    }
    Some(cache)
}

/// Instructions that are compiled when they stand alone.
pub fn compiled(rng: &mut Rng, set: Verx10, end: [u32; 4]) -> Vec<[u32; 4]> {
    let mut out = Vec::new();
    for _ in 0..150 {
        let made = match rng.u32(..4) {
            0 => integers::form(rng, set),
            1 => forms::form(rng, set),
            _ => kernels::instruction(rng, set),
        };
        let Ok(words) = isa::encode(set, &made) else {
            continue;
        };
        let cache = warm(set, &[words, end]);
        if cache.is_some_and(|cache| cache.straight(0).is_some()) {
            out.push(words);
        }
    }
    out
}

fn compare(
    rng: &mut Rng,
    (set, words): (Verx10, &[[u32; 4]]),
    straight: &Straight,
    registers: &mut Registers,
) {
    let id = ThreadId {
        ffid: 6,
        fftid: rng.u8(..),
        eu: 1,
        slot: 2,
    };
    let dispatch_mask = match rng.u32(..6) {
        0 => 0xff,
        1 => u32::from(rng.u16(..)),
        2 => rng.u32(..),
        3 => u32::MAX,
        _ => 0xffff,
    };
    let filled: Vec<Grf> = (0..FILLED)
        .map(|_| std::array::from_fn(|_| kernels::value(rng)))
        .collect();
    let mut cache = KernelCache::new(set).unwrap();
    let mut thread = Thread::of(cache.instructions());
    thread.dispatch(&ThreadInit {
        id,
        dispatch_mask,
        ..ThreadInit::default()
    });
    thread.load(FILLED).copy_from_slice(&filled);
    let noting = || Noting {
        words: words.to_vec(),
        sent: Vec::new(),
    };
    let (mut one, mut other) = (noting(), noting());
    let (mut left, mut stats) = (10_000, RunStats::default());
    let stop: Stop<u32> = thread.run(&mut cache, &mut one, &mut NoObserver, &mut left, &mut stats);
    assert!(matches!(stop, Stop::EndOfThread), "{stop:?}");
    let loaded = straight.load(registers, FILLED, dispatch_mask);
    loaded.copy_from_slice(&filled);
    let runner = Runner { id, dispatch_mask };
    assert_eq!(straight.run(registers, &runner, &mut other), Ok(()));
    let text = || -> String {
        let line = |words: &[u32; 4]| {
            let inst = isa::decode::decode(set, *words).unwrap();
            isa::print::print(set, &inst) + "\n"
        };
        words.iter().map(line).collect()
    };
    for (a, b) in one.sent.iter().zip(&other.sent) {
        assert_eq!(a, b, "{set:?} mask {dispatch_mask:#x}\n{}", text());
    }
    assert_eq!(one.sent.len(), other.sent.len());
    let counts = |stats: &RunStats| (stats.instructions, stats.simd8, stats.sends);
    assert_eq!(counts(&stats), counts(straight.stats()), "{}", text());
}

#[test]
fn straight_kernels_send_what_threads_send() {
    if jit::compiler().is_none() {
        println!("skipped: this host runs no machine code");
        return;
    }
    let seed = std::env::var("CRESTLINE_SEED").ok();
    let seed = seed.and_then(|s| s.parse().ok()).unwrap_or(0x57a1_6877u64);
    println!("seed {seed}");
    for set in [40, 45, 50, 60, 70].map(Verx10::from_times_ten) {
        let mut rng = Rng::with_seed(seed ^ u64::from(set.times_ten()));
        let end = *kernels::adds(set, 1, 0).last().unwrap();
        let pool = compiled(&mut rng, set, end);
        let mut registers = Registers::default();
        let mut kernels = 0;
        for _ in 0..KERNELS {
            let mut words = Vec::new();
            for _ in 0..=rng.usize(..24) {
                words.push(match rng.u32(..6) {
                    0 => isa::encode(set, &send(&mut rng, set)).unwrap(),
                    1 => isa::encode(set, &to_message(&mut rng, set)).unwrap(),
                    _ => pool[rng.usize(..pool.len())],
                });
            }
            words.push(end);
            let cache = warm(set, &words).unwrap();
            let Some(straight) = cache.straight(0) else {
                continue;
            };
            kernels += 1;
            for _ in 0..THREADS {
                compare(&mut rng, (set, &words), straight, &mut registers);
            }
        }
        println!("{set:?}: {} instructions, {kernels} kernels", pool.len());
        assert!(
            pool.len() > 30 && kernels > KERNELS / 4,
            "{set:?} {kernels}"
        );
    }
}

/// A branch, or a message that depends on a flag, is for the run loop.
#[test]
fn other_kernels_are_not_straight() {
    if jit::compiler().is_none() {
        println!("skipped: this host runs no machine code");
        return;
    }
    let set = Verx10::from_times_ten(60);
    let straight = kernels::adds(set, 3, 4);
    assert!(warm(set, &straight).unwrap().straight(0).is_some());
    let leaves = kernels::adds_and_leaves(3, 2);
    assert!(warm(set, &leaves).unwrap().straight(0).is_none());
    let mut predicated = straight.clone();
    let mut message = send(&mut Rng::with_seed(1), set);
    message.pred_ctrl = isa::inst::PredCtrl::Normal;
    predicated.insert(2, isa::encode(set, &message).unwrap());
    assert!(warm(set, &predicated).unwrap().straight(0).is_none());
    message.pred_ctrl = isa::inst::PredCtrl::None;
    predicated[2] = isa::encode(set, &message).unwrap();
    assert!(warm(set, &predicated).unwrap().straight(0).is_some());
}
