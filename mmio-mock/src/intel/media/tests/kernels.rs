//! Pieces of kernels that spawn, forward, wait and end.
//!
//! PRM: volume 4, 7.1 (gateway), 8.4 (URB writes). Spawning as in intel-vaapi-driver shaders/h264/ildb:
//! r0 of the child and its data go to the URB, then the same r0 with the URB rows goes to the spawner.

use super::rig::{OUT, end, store};

/// Key of all gateways here.
pub const KEY: u32 = 0x1212;

/// Sends `payload` registers from m1 on.
fn send(descriptor: u32) -> String {
    format!("send(8) 1 null<1>UD null<8,8,1>UD {descriptor:#x} {{ align1 }};\n")
}

/// Opens the thread's gateway on 2^`power` registers from `register` on.
pub fn open(register: u32, power: u32) -> String {
    format!(
        "mov(8) m1<1>UD 0UD {{ align1 }};\n\
         mov(1) m1.4<1>UD {KEY:#x}UD {{ align1 }};\n\
         mov(1) m1.5<1>UD {:#x}UD {{ align1 }};\n{}",
        register << 21 | power << 8,
        send(0x0310_0000)
    )
}

/// Closes it.
pub fn close() -> String {
    format!("mov(8) m1<1>UD 0UD {{ align1 }};\n{}", send(0x0310_0001))
}

/// Waits for a notification.
pub fn wait() -> String {
    "wait(1) n0<1>UD { align1 };\n".to_owned()
}

/// Makes `g{register}.0` this thread's EUID and TID as M0.4 of a message to it has them, with the key.
pub fn address(register: u32) -> String {
    format!(
        "mov(1) g{register}<1>UD {KEY:#x}UD {{ align1 }};\n\
         mov(1) g{register}.1<1>UW sr0<0,1,0>UW {{ align1 }};\n"
    )
}

/// Forwards a dword to the thread at `to`, at a byte offset, with a notification.
pub fn forward(to: &str, offset: &str, value: &str) -> String {
    format!(
        "mov(8) m1<1>UD 0UD {{ align1 }};\n\
         mov(1) g120<1>UD {offset} {{ align1 }};\n\
         shl(1) g120<1>UD g120<0,1,0>UD 16UD {{ align1 }};\n\
         or(1) m1.5<1>UD g120<0,1,0>UD 0x200UD {{ align1 }};\n\
         mov(1) m1.4<1>UD {to} {{ align1 }};\n\
         mov(1) m1.0<1>UD {value} {{ align1 }};\n{}",
        send(0x0310_8002)
    )
}

/// Makes g31 the data of a child: its number, five dwords of something, and in the last dword the parent's address,
/// which is in g30.
pub fn data(number: u32, fill: u32) -> String {
    format!(
        "mov(8) g31<1>UD {fill}UD {{ align1 }};\n\
         mov(1) g31<1>UD {number}UD {{ align1 }};\n\
         mov(1) g31.7<1>UD g30<0,1,0>UD {{ align1 }};\n"
    )
}

/// Writes the child's r0, `g{header}`, and `g{data}` to two rows of the URB, `place` units of 512 bits behind the
/// start of the root's entry, and asks for a child with them. The child's descriptor is `descriptor` behind the own.
pub fn spawn(header: u32, data: u32, place: u32, descriptor: u32, number: u32) -> String {
    format!(
        "mov(8) g{header}<1>UD g0<8,8,1>UD {{ align1 }};\n\
         mov(1) g{header}.3<1>UD g{data}.7<0,1,0>UD {{ align1 }};\n\
         mov(1) g{header}.7<1>UD {number}UD {{ align1 }};\n\
         add(1) g{header}.2<1>UD g0.2<0,1,0>UD {}UD {{ align1 }};\n\
         and(1) g121<1>UD g0<0,1,0>UD 0xffffUD {{ align1 }};\n\
         add(1) g121<1>UD g121<0,1,0>UD {place}UD {{ align1 }};\n\
         mov(8) m1<1>UD 0UD {{ align1 }};\n\
         mov(1) m1<1>UD g121<0,1,0>UD {{ align1 }};\n\
         mov(8) m2<1>UD g{header}<8,8,1>UD {{ align1 }};\n\
         mov(8) m3<1>UD g{data}<8,8,1>UD {{ align1 }};\n{}\
         mov(8) m4<1>UD g{header}<8,8,1>UD {{ align1 }};\n\
         shl(1) g121<1>UD g121<0,1,0>UD 1UD {{ align1 }};\n\
         or(1) m4.4<1>UD g121<0,1,0>UD 0x400UD {{ align1 }};\n\
         send(8) 4 null<1>UD null<8,8,1>UD 0x07100001 {{ align1 }};\n",
        descriptor * 16,
        send(0x0630_0000),
    )
}

/// Stores `g{register}` to the row of the output that a register names.
pub fn store_row(row: &str, register: u32) -> String {
    format!(
        "mov(1) g119<1>UD {row} {{ align1 }};\n\
         shl(1) g119<1>UD g119<0,1,0>UD 5UD {{ align1 }};\n\
         add(1) g119<1>UD g119<0,1,0>UD {OUT:#x}UD {{ align1 }};\n{}",
        store("g119<0,1,0>UD", &format!("g{register}"))
    )
}

/// A child that stores its r0 and r1 to the rows 2n and 2n + 1, n being r1.0, and tells its parent, whose address is
/// in r0.3, by a dword of n + 100 at dword n.
pub fn reporting_child(ending: u32) -> String {
    format!(
        "shl(1) g20<1>UD g1<0,1,0>UD 1UD {{ align1 }};\n{}\
         add(1) g20<1>UD g20<0,1,0>UD 1UD {{ align1 }};\n{}\
         shl(1) g20<1>UD g1<0,1,0>UD 2UD {{ align1 }};\n\
         add(1) g21<1>UD g1<0,1,0>UD 100UD {{ align1 }};\n{}{}",
        store_row("g20<0,1,0>UD", 0),
        store_row("g20<0,1,0>UD", 1),
        forward("g0.3<0,1,0>UD", "g20<0,1,0>UD", "g21<0,1,0>UD"),
        end(ending)
    )
}

/// A root that starts `children` children, waits for all of them, and stores the registers g40 to g43, which they write,
/// to rows 100 to 103.
pub fn gathering_root(children: u32, ending: u32) -> String {
    let mut text = open(40, 2) + &address(30);
    for n in 0..children {
        text += &data(n, n + 1000);
        text += &spawn(32, 31, n + 1, 1, n + 1);
    }
    for _ in 0..children {
        text += &wait();
    }
    text += &close();
    for n in 0..4 {
        text += &store_row(&format!("{}UD", 100 + n), 40 + n);
    }
    text + &end(ending)
}
