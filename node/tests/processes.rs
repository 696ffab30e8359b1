//! Files that several processes hold: children, other programs, killed processes.
//!
//! What Linux does with open files across fork, exec and exit (man pages).

use crate::support;

use std::os::fd::AsRawFd as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use wire::Op;

use crate::support::Connection;
use crate::support::child::{self, Child, hear};
use crate::support::frame::{Frame, Party};

const PATIENCE: Duration = Duration::from_secs(20);

/// This program again, in another role.
fn spawn(role: &str, name: &str, file: u64) -> Child {
    child::spawn("processes::in_a_child", role, name, file)
}

/// The other side of the tests below; nothing where no role is given.
#[test]
fn in_a_child() {
    let Some((role, name, file)) = child::role() else {
        return;
    };
    let (_life, _) = Connection::new(&name, Op::Life);
    if role == "shares" {
        let (client, _) = Connection::new(&name, Op::Thread);
        let mut arg = driver::uapi::gem::Create {
            size: 1 << 20,
            ..Default::default()
        };
        let block = zerocopy::IntoBytes::as_mut_bytes(&mut arg);
        assert_eq!(client.ioctl(file, driver::uapi::gem::CREATE.0, block), 0);
        println!("\nhandle {}", arg.handle);
        return;
    }
    // Draws until it is killed; every eighth submission hangs.
    let frame = Frame::read("g_gears");
    let mut hanging = Frame::read("b_flat");
    let endless: [u32; 4] = [0x0000_0020, 0x3400_1c00, 0x0000_1400, 0xffff_ffff];
    for (i, word) in endless.iter().enumerate() {
        hanging.buffers[3].data[0xc0 + i * 4..][..4].copy_from_slice(&word.to_le_bytes());
    }
    println!("\ndraws");
    loop {
        let party = Party::new(&name);
        let (good, bad) = (party.load(&frame), party.load(&hanging));
        for _ in 0..8 {
            party.submit(&frame, &good);
        }
        party.submit(&hanging, &bad);
    }
}

#[test]
fn processes_that_are_killed_at_any_moment_leave_pictures_exact() {
    let (node, name) = support::start();
    let frame = Frame::read("k_stencil_scissor");
    let party = Party::new(&name);
    let expected = party.draw(&frame);
    for round in 0..8_u64 {
        let mut child = spawn("draws", &name, 0);
        hear(&mut child, "draws");
        for _ in 0..3 {
            assert!(party.draw(&frame) == expected);
        }
        std::thread::sleep(Duration::from_micros(700 * round));
        // SIGKILL.
        child.kill().unwrap();
        assert!(party.draw(&frame) == expected);
        child.wait().unwrap();
    }
    assert!(party.draw(&frame) == expected);
    drop(party);
    assert!(node.quiesce(PATIENCE));
    assert_eq!(
        node.first().device().ggtt().bound(),
        4,
        "ring, scratch page and two context images are left"
    );
}

#[test]
fn a_child_shares_the_file_that_it_inherits() {
    let (node, name) = support::start();
    let party = Party::new(&name);
    fcntl(&party.fd, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    let pages = node.first().platform().allocated_pages();
    let mut child = spawn("shares", &name, party.file);
    hear(&mut child, "handle 1");
    assert!(child.wait().unwrap().success());
    // The object lives on with the file.
    assert_eq!(node.first().platform().allocated_pages(), pages + 256);
    assert_eq!(party.bytes(1, 16), [0; 16]);
    drop(party);
    assert!(node.quiesce(PATIENCE));
}

#[test]
fn a_program_without_the_shim_keeps_an_inherited_file_open() {
    let (node, name) = support::start();
    let party = Party::new(&name);
    party.create(1 << 20);
    let held = node.first().platform().allocated_pages();
    fcntl(&party.fd, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    let seen = format!("/proc/self/fd/{}", party.fd.as_raw_fd());
    let mut child = Command::new("sh")
        .args(["-c", &format!("readlink {seen}; read line")])
        .env_remove("LD_PRELOAD")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let file = nix::sys::stat::fstat(&party.fd).unwrap().st_ino;
    drop(party);
    hear(&mut child, &format!("socket:[{file}]"));
    std::thread::sleep(Duration::from_millis(20));
    assert!(!node.quiesce(Duration::ZERO));
    assert_eq!(node.first().platform().allocated_pages(), held);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(node.quiesce(PATIENCE), "the file stays open");
    assert_eq!(node.first().platform().allocated_pages(), held - 256);
}
