//! Grids of thread groups: local memory, barriers, grids that find no room.
//!
//! The row is Sandy Bridge's with the commands of genxml gen7 and messages as Mesa 22.3.6 sends them (brw_eu.h
//! `brw_dp_untyped_surface_rw_desc`, brw_fs_visitor.cpp `emit_barrier`); the constant cache takes what the data cache would.

use eu::Grf;
use mem::{Fault, Memory};

use super::rig::*;
use crate::core::Ended;
use crate::core::fault::UnitFault;
use crate::intel::debug::host::{Rule, Subject};
use crate::intel::r#gen::{DeviceInfo, Readers};
use crate::intel::media::reader::{
    Descriptors, GroupHeader, GroupKernel, GroupWalker, Load, MediaKernel, MediaObject,
    MediaReader, RootHeader, Sections, VfeState,
};
use crate::intel::shared::context::{StateBases, sfid};
use crate::intel::shared::dataport::access::{Access, AccessKind, Lanes};
use crate::intel::shared::gateway::{GatewayOp, GatewayRequest};
use crate::intel::shared::message::{Descriptor, MessageSet, Request};
use crate::intel::td::schedule::{Order, Schedule};

fn sandybridge() -> &'static DeviceInfo {
    crate::intel::r#gen::find("sandybridge").unwrap()
}

#[derive(Debug)]
struct Messages;

impl MessageSet for Messages {
    fn request(&self, message: Descriptor) -> Result<Request, &'static str> {
        let access = |kind| Access {
            surface: message.desc as u8,
            header: false,
            kind,
        };
        let lanes = Some(Lanes::Simd8);
        match (message.function, message.desc >> 14 & 0xf) {
            (sfid::CONSTANT_CACHE, 5) => Ok(Request::Access(access(AccessKind::Read {
                lanes,
                parts: 1,
            }))),
            (sfid::CONSTANT_CACHE, 13) => Ok(Request::Access(access(AccessKind::Write {
                lanes,
                parts: 1,
            }))),
            (sfid::GATEWAY, _) if message.desc & 7 == 4 => Ok(Request::Gateway(GatewayRequest {
                op: GatewayOp::Barrier,
                acknowledge: false,
                notify: false,
                tid: 7,
            })),
            _ => sandybridge().readers.messages.request(message),
        }
    }
}

#[derive(Debug)]
struct Media;

fn older() -> &'static dyn MediaReader {
    sandybridge().readers.media
}

impl MediaReader for Media {
    fn sets_front_end(&self) -> &'static str {
        older().sets_front_end()
    }
    fn front_end(
        &self,
        mem: &Memory,
        bases: &StateBases,
        command: &[u32],
    ) -> Result<VfeState, Fault> {
        let state = older().front_end(mem, bases, command)?;
        Ok(VfeState {
            groups: command[2] >> 2 & 1 == 1,
            ..state
        })
    }
    fn sections(&self, command: &[u32]) -> Sections {
        older().sections(command)
    }
    fn constants_load(&self, command: &[u32]) -> Load {
        older().constants_load(command)
    }
    fn descriptors_load(&self, command: &[u32]) -> Load {
        older().descriptors_load(command)
    }
    fn kernel(
        &self,
        mem: &Memory,
        bases: &StateBases,
        loaded: &Descriptors,
        pointer: u32,
    ) -> Result<MediaKernel, UnitFault> {
        older().kernel(mem, bases, loaded, pointer)
    }
    fn object<'a>(&self, command: &'a [u32]) -> MediaObject<'a> {
        older().object(command)
    }
    fn grid(&self, command: &[u32]) -> GroupWalker {
        GroupWalker {
            descriptor: command[1] * 32,
            channels: 8 << (command[2] >> 30),
            threads: [command[2] & 0x3f, command[2] >> 8 & 0x3f, 0].map(|n| n + 1),
            first: [command[3], command[5], command[7]],
            end: [command[4], command[6], command[8]],
            right: command[9],
            bottom: command[10],
            indirect: command[0] >> 10 & 1 == 1,
            predicated: command[0] >> 8 & 1 == 1,
        }
    }
    fn group_kernel(
        &self,
        mem: &Memory,
        bases: &StateBases,
        loaded: &Descriptors,
        pointer: u32,
    ) -> Result<GroupKernel, UnitFault> {
        let kernel = self.kernel(mem, bases, loaded, pointer)?;
        let word = loaded.at(pointer, 8).unwrap()[5];
        Ok(GroupKernel {
            kernel,
            local: (word >> 16 & 0x1f) << 12,
            barrier: (word >> 21 & 1 == 1).then_some(word as u16 & 0xff),
        })
    }
    fn group_root(&self, header: &GroupHeader) -> Grf {
        let [x, y, z] = header.group;
        let barrier = u32::from(header.barrier) << 24;
        let number = header.scratch & !0x3ff | u32::from(header.number);
        [0, x, barrier, 0, 0, number, y, z]
    }
    fn root(&self, header: &RootHeader) -> Grf {
        older().root(header)
    }
    fn flag(&self, r0: &mut Grf) {
        older().flag(r0);
    }
    fn identifier(&self, object: u32, thread: u32) -> u32 {
        older().identifier(object, thread)
    }
}

fn info() -> &'static DeviceInfo {
    let base = sandybridge();
    Box::leak(Box::new(DeviceInfo {
        tables: &regs::platform::GEN70,
        readers: Readers {
            messages: &Messages,
            media: &Media,
            ..base.readers
        },
        ..*base
    }))
}

/// Threads of a group.
const THREADS: u32 = 8;

/// A barrier, as compute kernels have it.
const BARRIER: &str = "mov(8) m1<1>UD 0UD { align1 };\n\
    and(1) m1.2<1>UD g0.2<0,1,0>UD 0x0f000000UD { align1 };\n\
    send(8) null<1>UD m1<8,8,1>UD 0x02000004 gateway MsgDesc: barrier { align1 };\n\
    wait(1) n0<1>UD { align1 };\n";

const STOP: &str = "mov(8) m1<1>UD g0<8,8,1>UD { align1 };\n\
    send(8) null<1>UD m1<8,8,1>UD thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };\n";

/// Each thread puts its number, which it has in r1.0, into local memory; behind a barrier it writes all eight to the output.
fn kernel(between: &str) -> String {
    let share = "shl(8) m1<1>UD g1<0,1,0>UD 2UD { align1 };\n\
        add(8) m2<1>UD g1<0,1,0>UD 10UD { align1 };\n\
        send(8) null<1>UD m1<8,8,1>UD 0x04036efe const MsgDesc: write { align1 };\n";
    let look = "mov(8) g3<1>UW 0x76543210V { align1 };\n\
        shl(8) m1<1>UD g3<8,8,1>UW 2UD { align1 };\n\
        send(8) g20<1>UD m1<8,8,1>UD 0x02116efe const MsgDesc: read { align1 };\n";
    let place = format!(
        "mul(1) g10<1>UD g0.1<0,1,0>UD {THREADS}UD {{ align1 }};\n\
         add(1) g10<1>UD g10<0,1,0>UD g1<0,1,0>UD {{ align1 }};\n\
         shl(1) g10<1>UD g10<0,1,0>UD 1UD {{ align1 }};\n\
         add(1) g10<1>UD g10<0,1,0>UD {:#x}UD {{ align1 }};\n\
         mov(8) m1<1>UD 0UD {{ align1 }};\n\
         mov(1) m1.2<1>UD g10<0,1,0>UD {{ align1 }};\n\
         mov(8) m2<1>UD g20<8,8,1>UD {{ align1 }};\n\
         send(8) null<1>UD m1<8,8,1>UD render MsgDesc: OWORD block write MsgCtrl = 0x2 Surface = 255 mlen 2 rlen 0 header {{ align1 }};\n",
        OUT / 16
    );
    format!("{share}{between}{look}{place}{STOP}")
}

/// A device with that kernel, and local memory and threads of a group as the descriptor says.
fn ready(text: &str, local: u32, threads: u32) -> Rig {
    let mut rig = Rig::of(info());
    rig.code(KERNELS, text);
    let group = 1 << 21 | local << 16 | threads;
    rig.poke(DESCRIPTORS, &[KERNELS, 0, 0, 0, 1 << 16, group, 0, 0]);
    // A row for each thread, which begins with its number.
    for thread in 0..THREADS {
        rig.poke(CONSTANTS + thread * 32, &[thread]);
    }
    rig.emit(&[FLUSH, 0x6904_0001]);
    rig.emit(&[0x6101_0008, 1, 1, 1, INDIRECT | 1, 1, 1, 1, 1, 1]);
    rig.emit(&[0x7000_0006, 0, 39 << 16 | 1 << 2, 0, THREADS, 0, 0, 0]);
    rig.emit(&[0x7001_0002, 0, THREADS * 32, CONSTANTS]);
    rig.emit(&[0x7002_0002, 0, 32, DESCRIPTORS]);
    rig
}

/// GPGPU_WALKER of so many groups in X, of eight channels.
fn walk(rig: &mut Rig, threads: u32, groups: u32) {
    rig.emit(&[0x7105_0009, 0, threads - 1, 0, groups, 0, 1, 0, 1, 0xff, !0]);
}

#[test]
fn every_thread_of_a_group_sees_what_all_have_written_before_the_barrier() {
    let orders = [
        Schedule::default(),
        Schedule::new(Order::Descending),
        Schedule::new(Order::Random(7)),
        Schedule::new(Order::Ascending).with_turn(1),
    ];
    for schedule in orders {
        let mut rig = ready(&kernel(BARRIER), 1, THREADS);
        rig.schedule(schedule);
        walk(&mut rig, THREADS, 20);
        // A second grid behind the first.
        walk(&mut rig, THREADS, 3);
        rig.complete();
        for n in 0..20 * THREADS {
            assert_eq!(
                rig.out(n),
                [10, 11, 12, 13, 14, 15, 16, 17],
                "{schedule} {n}"
            );
        }
        assert_eq!(rig.out(20 * THREADS), [0; 8]);
        let invocations = rig.device.status().statistics.cs_invocations;
        assert_eq!(invocations, u64::from(23 * THREADS * 8));
    }
}

#[test]
fn groups_that_find_no_room_are_refused() {
    for (threads, local, what) in [
        (41, 1, "thread groups of 41 threads; there is room for 40"),
        (
            8,
            17,
            "thread groups with 69632 bytes of shared local memory",
        ),
    ] {
        let mut rig = ready(&kernel(BARRIER), local, threads);
        walk(&mut rig, threads, 1);
        assert_ne!(rig.run(), Ended::Busy);
        let faults = rig.faults();
        assert!(faults.iter().any(|f| f.contains(what)), "{faults:?}");
    }
}

#[test]
fn a_barrier_that_a_thread_does_not_come_to_is_told() {
    // Thread 3 ends before.
    let between = format!(
        "cmp.e.f0(1) null<1>UD g1<0,1,0>UD 3UD {{ align1 }};\n(-f0) jmpi(1) 4D {{ align1 }};\n{STOP}{BARRIER}"
    );
    let mut rig = ready(&kernel(&between), 1, THREADS);
    walk(&mut rig, THREADS, 1);
    let why = rig.hang();
    let at = why
        .iter()
        .filter(|line| line.contains("waits at barrier 0, to which 7 of 8 threads have come"));
    assert_eq!(at.count(), 7, "{why:#?}");
}

#[test]
fn a_debugger_stops_a_thread_by_its_group() {
    let mut rig = ready(&kernel(BARRIER), 1, THREADS);
    rig.device.set_debugger(true);
    rig.device.debugger().unwrap().add(Rule::Group {
        group: [2, 0, 0],
        thread: Some(5),
    });
    walk(&mut rig, THREADS, 4);
    rig.run();
    let stopped = rig.device.debugger().unwrap().stopped().unwrap();
    let (key, ..) = stopped.thread.unwrap();
    let info = rig
        .device
        .threads()
        .into_iter()
        .find(|info| info.key == key)
        .unwrap();
    let subject = Subject::Group {
        group: [2, 0, 0],
        thread: 5,
        channels: 8,
    };
    assert_eq!((info.subject, info.instructions), (subject, 0));
}
