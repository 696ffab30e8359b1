//! Descriptors that a client sends and whose close lasts hold no others up.
//!
//! socket(7), SO_LINGER: the last close of a TCP socket whose peer does not read takes as long as its owner says. unix(7): what
//! lies unread in a Unix socket is closed with it. Each test runs with the system's own refusal (SO_PASSRIGHTS, since Linux
//! 6.16) and without.

use std::io::{BufRead as _, BufReader, IoSlice, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd as _, RawFd};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use driver::uapi::gem;
use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg, setsockopt, sockopt};
use nix::sys::time::TimeVal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use node::{Connections, Node, Options};
use wire::{Head, Op};
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::support::Connection;

/// TIMEOUT: much longer than what is waited for here.
const LINGER: Duration = Duration::from_secs(120);
const PATIENCE: Duration = Duration::from_secs(20);
/// In another process: the node.
const ROLE: &str = "CRESTLINE_TEST_CLOSING";

fn start(refuse_rights: bool, of_process: usize) -> (Node, String) {
    let device = mmio_mock::intel::r#gen::find("gm965").unwrap();
    let node = Node::start(&Options {
        memory: 64 << 20,
        refuse_rights,
        connections: Connections {
            of_process,
            ..Connections::default()
        },
        ..Options::new(device)
    });
    let node = node.unwrap();
    let path = node.environment()[0].1.to_str().unwrap().to_owned();
    (node, path)
}

/// A socket whose last close lasts as long as its peer is there.
struct Lingering {
    socket: Option<TcpStream>,
    _peer: TcpStream,
}

impl Lingering {
    fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let mut socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (peer, _) = listener.accept().unwrap();
        socket.set_nonblocking(true).unwrap();
        while socket.write(&[0; 8192]).is_ok() {}
        let linger = libc::linger {
            l_onoff: 1,
            l_linger: LINGER.as_secs() as i32,
        };
        setsockopt(&socket, sockopt::Linger, &linger).unwrap();
        Lingering {
            socket: Some(socket),
            _peer: peer,
        }
    }

    fn raw(&self) -> RawFd {
        self.socket.as_ref().unwrap().as_raw_fd()
    }

    /// What has been sent is the last of it. Where that is gone already, a thread of this process is stuck.
    fn leave(&mut self) {
        let socket = self.socket.take();
        std::thread::spawn(move || drop(socket));
    }
}

/// Sends a message with a descriptor.
fn send(to: RawFd, message: &[u8], rights: RawFd) -> nix::Result<usize> {
    let rights = [rights];
    let control = [ControlMessage::ScmRights(&rights)];
    let flags = MsgFlags::MSG_NOSIGNAL;
    sendmsg::<()>(to, &[IoSlice::new(message)], &control, flags, None)
}

fn first(op: Op) -> Head {
    let pid = u64::from(std::process::id());
    Head::new(op, wire::NO_FILE, [u64::from(wire::VERSION), pid, 0])
}

fn patience() -> TimeVal {
    TimeVal::new(PATIENCE.as_secs() as i64, 0)
}

/// Asks for a connection, which must be answered in time; the answer.
fn ask(path: &str) -> i32 {
    let client = Connection::silent(path);
    setsockopt(&client.borrow(), sockopt::ReceiveTimeout, &patience()).unwrap();
    let _ = client.try_send(&first(Op::Thread));
    client.receive().reply.result
}

/// A connection of another client, which must be served in time.
fn served(path: &str) -> Connection {
    let client = Connection::silent(path);
    setsockopt(&client.borrow(), sockopt::ReceiveTimeout, &patience()).unwrap();
    client.try_send(&first(Op::Thread)).unwrap();
    assert_eq!(client.receive().reply.result, 0);
    client
}

/// Whether the system is one that cannot refuse descriptors.
fn older() -> bool {
    let pair = std::os::unix::net::UnixDatagram::pair().unwrap();
    let mut value = 0_i32;
    let mut len = size_of_val(&value) as libc::socklen_t;
    let (raw, at) = (pair.0.as_raw_fd(), (&raw mut value).cast());
    // SAFETY: the kernel writes one integer and its length. 83 is SO_PASSRIGHTS (asm-generic/socket.h).
    let result = unsafe { libc::getsockopt(raw, libc::SOL_SOCKET, 83, at, &raw mut len) };
    result != 0
}

#[test]
fn what_is_sent_to_an_open_file_is_refused_and_memory_is_let_go() {
    let (node, path) = start(true, 9);
    let mut socket = Lingering::new();
    let client = served(&path);
    let (file, number) = client.open(false);
    let create = |client: &Connection, number| {
        // More than half of the memory.
        let mut arg = gem::Create::new_zeroed();
        arg.size = 40 << 20;
        client.ioctl(number, gem::CREATE.0, arg.as_mut_bytes())
    };
    assert_eq!(create(&client, number), 0);
    let sent = send(file.as_raw_fd(), b"x", socket.raw());
    socket.leave();
    drop(file);
    let other = served(&path);
    for _ in 0..2 {
        let until = Instant::now() + PATIENCE;
        loop {
            let (_file, number) = other.open(false);
            match create(&other, number) {
                0 => break,
                error => assert!(Instant::now() < until, "{error}"),
            }
        }
    }
    assert_eq!(sent, Err(Errno::EPIPE));
    drop((client, other));
    assert!(node.quiesce(PATIENCE));
}

#[test]
fn a_message_with_a_descriptor_ends_its_connection_and_nothing_else() {
    for refuse_rights in [true, false] {
        let (node, path) = start(refuse_rights, 9);
        for op in [Op::Thread, Op::Life] {
            let mut socket = Lingering::new();
            let (client, hello) = Connection::new(&path, op);
            assert_eq!(hello.reply.result, 0);
            let frames = Head::new(Op::Frames, wire::NO_FILE, [7, 0, 0]);
            let sent = send(client.raw(), frames.as_bytes(), socket.raw());
            let refuses = refuse_rights && !older();
            assert_eq!(sent.err(), refuses.then_some(Errno::EPERM));
            socket.leave();
            if op == Op::Thread && refuses {
                // It goes on.
                let (_file, number) = client.open(false);
                let mut busy = gem::Busy::new_zeroed();
                busy.handle = 1;
                let result = client.ioctl(number, gem::BUSY.0, busy.as_mut_bytes());
                assert_eq!(result, -libc::ENOENT);
            }
            drop(client);
            assert!(node.quiesce(PATIENCE));
        }
        assert_eq!(node.report().frames, 0, "no such message is read");
    }
}

/// The other side of the tests below: a node that serves one connection of a process. Nothing where no role is given.
#[test]
fn in_another_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let (node, path) = start(role == "refuses", 1);
    println!("\npath {path}");
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_line(&mut String::new()).unwrap();
    println!("\nquiet {}", node.quiesce(PATIENCE));
    drop(node);
}

#[test]
fn refused_connections_hold_no_others_up_and_a_node_ends_while_their_closes_are_stuck() {
    for role in ["refuses", "takes"] {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "closing::in_another_process", "--nocapture"])
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut said = |before: &str| {
            let mut lines = lines.by_ref().map_while(Result::ok);
            lines.find_map(|line| line.split_once(before).map(|(_, rest)| rest.to_owned()))
        };
        let path = said("path ").unwrap();
        let only = served(&path);
        let frames = Head::new(Op::Frames, wire::NO_FILE, [7, 0, 0]);
        // All wait when the node goes on.
        let number = Pid::from_raw(process.id() as i32);
        kill(number, Signal::SIGSTOP).unwrap();
        let stopped = waitpid(number, Some(WaitPidFlag::WUNTRACED)).unwrap();
        assert!(matches!(stopped, WaitStatus::Stopped(..)), "{stopped:?}");
        let sent: Vec<_> = (0..40)
            .map(|_| {
                let mut socket = Lingering::new();
                let refused = Connection::silent(&path);
                let sent = send(refused.raw(), frames.as_bytes(), socket.raw());
                socket.leave();
                (sent, refused, socket)
            })
            .collect();
        kill(number, Signal::SIGCONT).unwrap();
        for (sent, refused, _) in &sent {
            let refuses = role == "refuses" && !older();
            let expected = refuses.then_some(Errno::EPERM);
            assert_eq!(sent.err(), expected);
            setsockopt(&refused.borrow(), sockopt::ReceiveTimeout, &patience()).unwrap();
            assert_eq!(refused.receive().reply.result, -libc::EMFILE);
        }
        // Room for another one, once that is noticed.
        drop(only);
        let until = Instant::now() + PATIENCE;
        while ask(&path) != 0 {
            assert!(Instant::now() < until);
        }
        let begun = Instant::now();
        process.stdin.take().unwrap().write_all(b"\n").unwrap();
        assert_eq!(said("quiet ").as_deref(), Some("true"));
        assert!(process.wait().unwrap().success());
        assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    }
}
