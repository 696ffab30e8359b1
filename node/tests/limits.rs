//! Nodes under small limits: whoever gets nothing is told so, nobody waits.
//!
//! getrlimit(2). Each node is a process of its own, which sets the limits to itself.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};

use driver::uapi::gem;
use nix::libc;
use node::{Node, Options};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wire::{Head, Op};
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::support::Connection;
use crate::support::frame::Party;

/// In another process: which limit it sets.
const ROLE: &str = "CRESTLINE_TEST_LIMIT";
const NOBODY: u32 = 65534;
/// Bytes of address space that a node may take when it has started.
const HEADROOM: u64 = 34 << 20;

/// Bytes of address space, once they have stood still for a while.
fn settled_address_space() -> u64 {
    let mut last = 0;
    let mut same = 0;
    while same < 20 {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: u64 = text.split(' ').next().unwrap().parse().unwrap();
        same = if pages == last { same + 1 } else { 0 };
        last = pages;
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    last * 4096
}

/// A node in another process, under a limit.
struct Limited {
    process: Child,
    out: BufReader<ChildStdout>,
    /// Where it listens; what it says when it does not start.
    path: Result<String, String>,
}

impl Limited {
    fn start(limit: &str, user: Option<u32>) -> Limited {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "limits::in_another_process", "--nocapture"])
            .env(ROLE, limit)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(user) = user {
            command.env_remove("TMPDIR").uid(user).gid(user);
        }
        let mut process = command.spawn().unwrap();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let path = loop {
            let mut line = String::new();
            assert!(out.read_line(&mut line).unwrap() > 0, "ended by a signal?");
            if let Some((_, path)) = line.trim_end().split_once("path ") {
                break Ok(path.to_owned());
            }
            if let Some((_, error)) = line.trim_end().split_once("error ") {
                break Err(error.to_owned());
            }
        };
        Limited { process, out, path }
    }

    /// Ends it; what it has said on its error stream.
    fn end(mut self) -> String {
        drop(self.process.stdin.take());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("test result: ok"), "{rest}");
        let mut said = String::new();
        let mut errors = self.process.stderr.take().unwrap();
        errors.read_to_string(&mut said).unwrap();
        assert!(self.process.wait().unwrap().success());
        said
    }
}

fn limit(resource: Resource, current: u64, maximum: u64) {
    let limit = Rlimit {
        current: Some(current),
        maximum: Some(maximum),
    };
    setrlimit(resource, limit).unwrap();
}

/// The other side of the tests below; nothing where no role is given.
#[test]
fn in_another_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    match role.as_str() {
        "descriptors" => limit(Resource::Nofile, 64, 64),
        "soft" => limit(Resource::Nofile, 64, 512),
        "file size" => limit(Resource::Fsize, 1 << 20, 1 << 20),
        _ => {}
    }
    let device = mmio_mock::intel::r#gen::find("gm965").unwrap();
    let options = Options {
        memory: 64 << 20,
        ..Options::new(device)
    };
    let node = match Node::start(&options) {
        Ok(node) => node,
        Err(error) => {
            println!("\nerror {error}");
            return;
        }
    };
    assert!(role != "soft" || getrlimit(Resource::Nofile).current == Some(64));
    if role == "threads" {
        // Of all processes of the user: the node has more already.
        limit(Resource::Nproc, 1, 1);
    }
    if role == "address space" {
        // Room for threads and small things, from when all threads of the node have begun.
        let most = settled_address_space() + HEADROOM;
        limit(Resource::As, most, most);
    }
    println!("\npath {}", node.environment()[0].1.to_str().unwrap());
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// Connections for threads: those that are served, and what the others are told.
fn connect(path: &str, count: usize) -> (Vec<Connection>, Vec<i32>) {
    let head = Head::new(Op::Thread, wire::NO_FILE, [u64::from(wire::VERSION), 0, 0]);
    let (mut served, mut refused) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let connection = Connection::silent(path);
        // Whoever waits for ever fails the test.
        let patience = nix::sys::time::TimeVal::new(20, 0);
        let option = nix::sys::socket::sockopt::ReceiveTimeout;
        nix::sys::socket::setsockopt(&connection.borrow(), option, &patience).unwrap();
        let _ = connection.try_send(&head);
        match connection.receive().reply.result {
            0 => served.push(connection),
            error => refused.push(error),
        }
    }
    (served, refused)
}

#[test]
fn connections_for_which_there_is_no_descriptor_are_refused() {
    let node = Limited::start("descriptors", None);
    let path = node.path.clone().unwrap();
    for _ in 0..2 {
        let (served, refused) = connect(&path, 100);
        assert!(served.len() > 10 && refused.len() > 40, "{}", served.len());
        assert!(refused.iter().all(|error| *error == -libc::ENFILE));
        // Those that are served work on, with files of their own as long as there are any.
        let open = Head::new(Op::Open, wire::NO_FILE, [0, 1, 0]);
        let opened = served.iter().map(|client| client.call(&open, &[]));
        let refused: Vec<i32> = opened.map(|answer| answer.reply.result).collect();
        assert!(refused.iter().all(|error| *error == -libc::EMFILE));
        drop(served);
        // What is closed is noticed soon.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while connect(&path, 20).0.len() < 20 {
            assert!(std::time::Instant::now() < until, "descriptors stay");
        }
    }
    let said = node.end();
    let lines = |text: &str| said.lines().filter(|line| line.contains(text)).count();
    assert_eq!(
        lines("no descriptors are left for connections"),
        1,
        "{said}"
    );
    assert_eq!(lines("no descriptor for a client"), 1, "{said}");
}

#[test]
fn files_leave_descriptors_for_connections() {
    let node = Limited::start("descriptors", None);
    let path = node.path.clone().unwrap();
    let (client, _) = Connection::new(&path, Op::Thread);
    let open = Head::new(Op::Open, wire::NO_FILE, [0, 1, 0]);
    let mut files = Vec::new();
    let refused = loop {
        let answer = client.call(&open, &[]);
        if answer.reply.result < 0 {
            break answer.reply.result;
        }
        files.extend(answer.fds);
        assert!(files.len() < 64);
    };
    assert_eq!(refused, -libc::EMFILE);
    assert_eq!(connect(&path, 1).0.len(), 1);
    drop((files, client));
    node.end();
}

#[test]
fn the_soft_limit_of_descriptors_is_raised_for_clients() {
    let node = Limited::start("soft", None);
    let (served, refused) = connect(node.path.as_ref().unwrap(), 200);
    assert_eq!((served.len(), refused.len()), (200, 0));
    drop(served);
    assert_eq!(node.end(), "");
}

#[test]
fn connections_for_which_there_is_no_thread_are_refused() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: not root");
        return;
    }
    // The limit is not root's, and a node serves its own user alone.
    let node = Limited::start("threads", Some(NOBODY));
    let path = node.path.clone().unwrap();
    let client = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "limits::as_another_user", "--nocapture"])
        .env("CRESTLINE_TEST_LIMITED", path)
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&client.stdout);
    assert!(client.status.success(), "{out}");
    let said = node.end();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.contains("no threads are left for connections (ulimit -u)"),
        "{said}"
    );
}

/// The client of the test above; nothing where no node is given.
#[test]
fn as_another_user() {
    let Ok(path) = std::env::var("CRESTLINE_TEST_LIMITED") else {
        return;
    };
    let (served, refused) = connect(&path, 5);
    assert_eq!((served.len(), refused), (0, vec![-libc::ENOMEM; 5]));
}

#[test]
fn memory_that_is_larger_than_files_may_be_is_an_error() {
    let node = Limited::start("file size", None);
    let error = node.path.clone().unwrap_err();
    let expected = "graphics memory: 64 MiB are more than the limit of file sizes (ulimit -f) allows, 1024 KiB";
    assert_eq!(error, expected);
    assert_eq!(node.end(), "");
}

/// By SIGIO the system asks for a lease back (fcntl(2), F_SETLEASE), which a node has for a moment when a dma-buf is
/// closed; a client can open the file just then. The signal's default action ends a process.
#[test]
fn a_lease_that_is_asked_back_does_not_end_a_node() {
    use nix::sys::signal::{Signal, kill};
    let node = Limited::start("none", None);
    let path = node.path.clone().unwrap();
    let number = nix::unistd::Pid::from_raw(node.process.id() as i32);
    for _ in 0..10 {
        kill(number, Signal::SIGIO).unwrap();
        assert_eq!(connect(&path, 1).0.len(), 1);
    }
    node.end();
}

/// A client that makes things for ever is told that there is no room, and has it again when it gives some back.
#[test]
fn handles_of_a_file_have_a_bound() {
    use driver::uapi::{context, syncobj};
    let (_node, name) = crate::support::start();
    let (client, _) = Connection::new(&name, Op::Thread);
    let (_fd, file) = client.open(false);
    let syncobj = || {
        let mut arg = syncobj::Create::new_zeroed();
        let result = client.ioctl(file, syncobj::CREATE.0, arg.as_mut_bytes());
        (result, arg.handle)
    };
    let context = || {
        let mut arg = context::Create::new_zeroed();
        let result = client.ioctl(file, context::CREATE.0, arg.as_mut_bytes());
        (result, arg.ctx_id)
    };
    for number in 1..=1 << 16 {
        assert_eq!(syncobj(), (0, number));
    }
    assert_eq!(syncobj().0, -libc::ENOSPC);
    for number in 1..=1 << 14 {
        assert_eq!(context(), (0, number));
    }
    assert_eq!(context().0, -libc::ENOSPC);
    let mut arg = syncobj::Destroy::new_zeroed();
    arg.handle = 7;
    let destroy = syncobj::DESTROY.0;
    assert_eq!(client.ioctl(file, destroy, arg.as_mut_bytes()), 0);
    assert_eq!(syncobj(), (0, 7));
    // Other files have their own.
    let (_fd, other) = client.open(false);
    let mut arg = syncobj::Create::new_zeroed();
    let create = syncobj::CREATE.0;
    assert_eq!(client.ioctl(other, create, arg.as_mut_bytes()), 0);
}

#[test]
fn frames_are_drawn_under_a_small_limit() {
    let node = Limited::start("descriptors", None);
    let path = node.path.clone().unwrap();
    let party = Party::new(&path);
    let frame = crate::support::frame::Frame::read("b_flat");
    let expected = party.draw(&frame);
    let (held, _) = connect(&path, 100);
    assert!(party.draw(&frame) == expected);
    let mut busy = gem::Busy::new_zeroed();
    busy.handle = party.create(4096);
    assert_eq!(party.ask(gem::BUSY.0, busy.as_mut_bytes()), 0);
    drop((held, party));
    assert_eq!(node.end().lines().count(), 1);
}

/// The linear view of a tiled object takes memory of the node as large as the object, which is the client's choice.
#[test]
fn a_view_for_which_there_is_no_memory_is_an_error_and_others_go_on() {
    if std::env::var_os("CRESTLINE_SANITIZER").is_some() {
        println!("not checked: a limit of addresses, of which a sanitizer takes terabytes");
        return;
    }
    let node = Limited::start("address space", None);
    let path = node.path.clone().unwrap();
    let (life, hello) = Connection::new(&path, Op::Life);
    let party = Party::new(&path);
    let map = |mib: u64| {
        let handle = party.create(mib << 20);
        let mut tiling = gem::SetTiling::new_zeroed();
        (tiling.handle, tiling.tiling_mode, tiling.stride) = (handle, 1, 4096);
        assert_eq!(party.ask(gem::SET_TILING.0, tiling.as_mut_bytes()), 0);
        let mut arg = gem::MmapGtt::new_zeroed();
        arg.handle = handle;
        assert_eq!(party.ask(gem::MMAP_GTT.0, arg.as_mut_bytes()), 0);
        let head = Head::new(Op::Map, party.file, [3, arg.offset, mib << 20]);
        (handle, party.client.call(&head, &[]).reply)
    };
    assert_eq!(map(40).1.result, -libc::ENOMEM);
    let (handle, place) = map(16);
    assert_eq!((place.result, place.which), (0, 1));
    // SAFETY: the memory is a file that nobody shortens.
    let mut view = unsafe {
        memmap2::MmapOptions::new()
            .offset(place.value)
            .len(16 << 20)
            .map_mut(&hello.fds[1])
            .unwrap()
    };
    // What the program writes there goes to the object before it is written otherwise, again and again.
    for value in 1..=3 {
        view[5] = value;
        party.write(handle, &[9]);
        assert_eq!(party.bytes(handle, 8), [9, 0, 0, 0, 0, value, 0, 0]);
    }
    drop((life, party));
    let said = node.end();
    assert_eq!(said.lines().count(), 1, "{said}");
    let expected = "crestline: no memory for the linear view of a tiled object (ulimit -v): ENOMEM";
    assert_eq!(said.trim_end(), expected);
}

/// An error state has a copy of the batch, whose size is the client's choice.
#[test]
fn a_batch_for_whose_copy_there_is_no_memory_ends_no_node() {
    if std::env::var_os("CRESTLINE_SANITIZER").is_some() {
        println!("not checked: a limit of addresses, of which a sanitizer takes terabytes");
        return;
    }
    let node = Limited::start("address space", None);
    let party = Party::new(node.path.as_ref().unwrap());
    let batch = party.create(40 << 20);
    party.write(batch, &0x7fff_0000_u32.to_le_bytes());
    party.run(batch);
    assert_eq!(party.wait(batch, -1), 0);
    let small = party.create(4096);
    party.write(small, b"here");
    assert_eq!(party.bytes(small, 4), b"here");
    drop(party);
    let said = node.end();
    assert!(!said.contains("memory allocation"), "{said}");
}

/// A pipe holds 64 KiB (pipe(7)); one client can fill it with notes.
#[test]
fn an_error_stream_that_is_not_read_holds_no_client_up() {
    let node = Limited::start("none", None);
    let path = node.path.clone().unwrap();
    let (talker, _) = Connection::new(&path, Op::Thread);
    let patience = nix::sys::time::TimeVal::new(20, 0);
    let option = nix::sys::socket::sockopt::SendTimeout;
    nix::sys::socket::setsockopt(&talker.borrow(), option, &patience).unwrap();
    let forged = "error: GM965: GPU hang\ncrestline: error";
    for number in 0..100 {
        let text = match number {
            1 => forged.to_owned(),
            _ => format!("note {number} {}", "a".repeat(15000)),
        };
        talker.send(
            &Head::new(Op::Note, wire::NO_FILE, [1, 0, 0]),
            text.as_bytes(),
        );
    }
    let (served, _) = connect(&path, 1);
    let option = nix::sys::socket::sockopt::ReceiveTimeout;
    nix::sys::socket::setsockopt(&served[0].borrow(), option, &patience).unwrap();
    // What the node does not know makes it say so.
    let (_fd, file) = served[0].open(false);
    assert_eq!(served[0].ioctl(file, 0x64ee, &mut []), -libc::EINVAL);
    drop((served, talker));
    let said = node.end();
    let own = std::process::id();
    let (origin, text) = said.split_once("]: ").unwrap();
    assert!(origin.starts_with("crestline: message of "), "{origin}");
    assert!(origin.ends_with(&format!("[{own}")), "{origin}");
    assert!(text.starts_with("note 0 a"), "{text}");
    // The words of a client are those of none but itself, whatever they are.
    assert!(
        said.contains("]: error: GM965: GPU hang\\u000acrestline: "),
        "{said}"
    );
}

#[test]
fn a_request_that_is_not_known_is_said_with_its_program() {
    let node = Limited::start("none", None);
    let (client, _) = Connection::new(node.path.as_ref().unwrap(), Op::Thread);
    let (_fd, file) = client.open(false);
    assert_eq!(client.ioctl(file, 0x64ee, &mut []), -libc::EINVAL);
    drop(client);
    let own = std::process::id();
    let name = std::fs::read_to_string("/proc/self/comm").unwrap();
    let expected = format!(
        "crestline: request of {}[{own}]: ioctl 0x000064ee (type 0x64, number 0xee) is not known: ",
        name.trim_end()
    );
    let said = node.end();
    assert!(said.starts_with(&expected), "{said}");
}

/// Each connection has a thread of the node, and each thread a stack. An allocation that fails ends a process.
#[test]
fn connections_for_which_there_are_no_addresses_are_refused_and_others_go_on() {
    if std::env::var_os("CRESTLINE_SANITIZER").is_some() {
        println!("not checked: a limit of addresses, of which a sanitizer takes terabytes");
        return;
    }
    let node = Limited::start("address space", None);
    let path = node.path.clone().unwrap();
    for round in 0..3 {
        let (served, refused) = connect(&path, 300);
        let most = HEADROOM as usize >> 21;
        let count = served.len();
        assert!((4..most).contains(&count), "round {round}: {count}");
        assert!(refused.iter().all(|error| *error == -libc::ENOMEM));
        // All that are served are at work at the same time.
        let open = Head::new(Op::Open, wire::NO_FILE, [0, 1, 0]);
        for client in &served {
            client.send(&open, &[]);
        }
        for client in &served {
            assert_eq!(client.receive().reply.result, 0);
        }
    }
    // That they have closed theirs is noticed soon.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while connect(&path, 3).0.len() < 3 {
        assert!(std::time::Instant::now() < until, "addresses stay");
    }
    let party = Party::new(&path);
    let frame = crate::support::frame::Frame::read("b_flat");
    party.draw(&frame);
    drop(party);
    let said = node.end();
    let expected = "crestline: no addresses are left for connections (ulimit -v)";
    assert_eq!(said.trim_end(), expected);
}
