//! Whom the node serves: processes of its own user, and only while they are that.
//!
//! unix(7), credentials(7), capabilities(7), ptrace(2). Needs root, which alone can be two users; says so and passes
//! otherwise.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use driver::uapi::{drm, syncobj};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::libc;
use nix::sys::socket::{MsgFlags, recv};
use rustix::thread::{CapabilitySet, CapabilitySets};
use wire::{Head, Op};
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::support::page::Page;
use crate::support::{Connection, start};

/// Users that own nothing here.
const NOBODY: u32 = 65534;
const OTHER: u32 = 65533;
/// In another process: what it is to do, and with what.
const ROLE: &str = "CRESTLINE_TEST_USER_ROLE";
const DETAIL: &str = "CRESTLINE_TEST_USER_DETAIL";

/// This program again in another role, as another user; `None`, and a line, where that cannot be.
fn spawn(role: &str, user: u32, node: &str, detail: &str) -> Option<Child> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: not root");
        return None;
    }
    let spawned = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "users::in_another_process", "--nocapture"])
        .env(ROLE, role)
        .env(DETAIL, detail)
        .env(wire::env::NODE, node)
        .env_remove("TMPDIR")
        .uid(user)
        .gid(user)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    match spawned {
        Ok(child) => Some(child),
        Err(error) => {
            println!("skipped: user {user} cannot run this program: {error}");
            None
        }
    }
}

/// What a child says behind a word; the test harness writes before it on the same line.
fn hear(child: &mut Child, word: &str) -> String {
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let found = lines
        .map(Result::unwrap)
        .find_map(|line| Some(line.split_once(word)?.1.to_owned()));
    found.unwrap_or_else(|| panic!("the child ends before it says {word}"))
}

fn say(text: &str) {
    println!("\n{text}");
    std::io::stdout().flush().unwrap();
}

/// The answer to a first message, or how connecting failed: errno, descriptors.
fn knock(path: &str, op: Op) -> (i32, usize) {
    match Connection::try_silent(path) {
        Err(error) => (error as i32, 0),
        Ok(connection) => {
            let head = Head::new(op, wire::NO_FILE, [u64::from(wire::VERSION), 0, 0]);
            let _ = connection.try_send(&head);
            let answer = connection.receive();
            (-answer.reply.result, answer.fds.len())
        }
    }
}

/// Asks for the name of the driver, which is written to an address; result and errno.
fn version(client: &Connection, file: u64, name: u64) -> i32 {
    let mut block = drm::Version::new_zeroed();
    block.name_len = 4;
    block.name = name;
    client.ioctl(file, drm::VERSION.0, block.as_mut_bytes())
}

/// The other side of the tests below; nothing where no role is given.
#[test]
fn in_another_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let detail = std::env::var(DETAIL).unwrap();
    let path = std::env::var(wire::env::NODE).unwrap();
    match role.as_str() {
        "knocks" => {
            let (life, thread) = (knock(&path, Op::Life), knock(&path, Op::Thread));
            say(&format!("answers {life:?} {thread:?}"));
        }
        "serves" => {
            let (_node, name) = start();
            say(&format!("path {name}"));
            std::io::stdin().read_line(&mut String::new()).unwrap();
        }
        "changes" => {
            let (client, _) = Connection::new(&path, Op::Thread);
            let (fd, file) = client.open(false);
            let name = [0_u8; 4];
            let at = name.as_ptr().addr() as u64;
            let before = version(&client, file, at);
            // SAFETY: numbers alone.
            assert_eq!(unsafe { libc::setresuid(NOBODY, NOBODY, NOBODY) }, 0);
            let asked = client.try_send(&Head::new(Op::Ioctl, file, [0; 3]));
            let mut answer = [0; 8];
            let flags = MsgFlags::empty();
            let after = asked.and_then(|_| recv(client.raw(), &mut answer, flags));
            say(&format!("results {before} {after:?}"));
            drop(fd);
        }
        "changes by the page" => change_by_the_page(&path),
        "begins" => {
            let (_first, _) = Connection::new(&path, Op::Thread);
            let (_life, _) = Connection::new(&path, Op::Life);
            let (client, _) = Connection::new(&path, Op::Thread);
            let (_fd, file) = client.open(false);
            let name = [0_u8; 4];
            let result = version(&client, file, name.as_ptr().addr() as u64);
            say(&format!(
                "results {result} {:?}",
                std::hint::black_box(name)
            ));
        }
        "becomes" => become_another(&path, &detail),
        "asks" => ask_for_another(&detail),
        other => panic!("{other}"),
    }
}

/// What a child says that has not seen the node look at the page, and how many children may say so: a busy machine lets some sleep.
const MISSED: &str = "missed";
const TRIES: usize = 10;

/// Asks by the page before and after another user has become its own.
fn change_by_the_page(path: &str) {
    let (client, first) = Connection::new(path, Op::Thread);
    let page = Page::of(&first);
    let (_fd, file) = client.open(false);
    let head = Head::new(Op::Ioctl, file, [u64::from(drm::GET_MAGIC.0), 16, 0]);
    page.ask(&client, &head, &[]);
    let before = page.answer().map(|(reply, _)| reply.kind);
    let mut create = syncobj::Create::new_zeroed();
    client.ioctl(file, syncobj::CREATE.0, create.as_mut_bytes());
    // The node looks at the page when this is over: by a packet it would find out.
    let handles = [create.handle];
    let mut wait = syncobj::Wait::new_zeroed();
    wait.handles = handles.as_ptr().addr() as u64;
    wait.count_handles = 1;
    wait.flags = syncobj::WAIT_FOR_SUBMIT;
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap();
    wait.timeout_nsec = (now.tv_sec() + 1) * 1_000_000_000 + now.tv_nsec();
    let numbers = [u64::from(syncobj::WAIT.0), 16, 0];
    let asked = Head {
        len: size_of_val(&wait) as u32,
        ..Head::new(Op::Ioctl, file, numbers)
    };
    client.send(&asked, wait.as_bytes());
    // TIMEOUT: half of what it lasts.
    std::thread::sleep(std::time::Duration::from_millis(500));
    // SAFETY: numbers alone.
    assert_eq!(unsafe { libc::setresuid(NOBODY, NOBODY, NOBODY) }, 0);
    // TIMEOUT: the other half, and some more. The node looks for microseconds; this process may not run just then.
    if !page.ask_when_it_looks(&head, std::time::Duration::from_secs(2)) {
        say(&format!("results {MISSED}"));
        return;
    }
    let after = page.answer().map(|(reply, _)| reply.kind);
    say(&format!("results {before:?} {after:?}"));
}

/// Connects, leaves the connection to a child, and becomes another program.
fn become_another(path: &str, program: &str) {
    if program.ends_with("capable") {
        let none = CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        };
        rustix::thread::set_capabilities(None, none).unwrap();
    }
    let (client, _) = Connection::new(path, Op::Thread);
    let (fd, file) = client.open(false);
    for fd in [client.raw(), fd.as_raw_fd()] {
        // SAFETY: both are open until the end.
        let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
        fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    }
    let name = [0_u8; 4];
    let before = version(&client, file, name.as_ptr().addr() as u64);
    let own = std::process::id();
    let detail = format!("{} {file} {own} {program} {before}", client.raw());
    let asking = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "users::in_another_process", "--nocapture"])
        .env(ROLE, "asks")
        .env(DETAIL, detail)
        .stdin(Stdio::null())
        .spawn();
    // It is the other program's child from here on, and goes with it.
    std::mem::forget(asking.unwrap());
    // A process that another test has begun meanwhile may still have the copy open for writing, for as long as it takes
    // to become its own program.
    loop {
        let error = Command::new(program).exec();
        assert_eq!(
            error.kind(),
            std::io::ErrorKind::ExecutableFileBusy,
            "{error}"
        );
        std::thread::yield_now();
    }
}

/// Asks on the connection of a process that is another program by now, for the memory of that.
fn ask_for_another(detail: &str) {
    let mut words = detail.split(' ');
    let mut number = || words.next().unwrap().parse::<u64>().unwrap();
    let (socket, file, process) = (number(), number(), number());
    let program = Path::new(words.next().unwrap());
    let before = words.next().unwrap();
    let link = format!("/proc/{process}/exe");
    let begin = std::time::Instant::now();
    // While a thread other than the first becomes the new program, the first has ended and the process has no memory.
    while fs::read_link(&link).ok().as_deref() != Some(program) {
        assert!(
            begin.elapsed().as_secs() < 60,
            "{process} is another program"
        );
        std::thread::yield_now();
    }
    let maps = format!("/proc/{process}/maps");
    let stack = loop {
        let text = fs::read_to_string(&maps).unwrap();
        let found = text.lines().find(|line| line.ends_with("[stack]"));
        if let Some(line) = found {
            let end = line.split(['-', ' ']).nth(1).unwrap();
            break u64::from_str_radix(end, 16).unwrap() - 64;
        }
    };
    let client = Connection::inherited(socket as i32);
    let after = version(&client, file, stack);
    say(&format!("results {before} {after}"));
}

#[test]
fn another_user_gets_no_connection_and_no_descriptor() {
    let (_node, name) = start();
    let Some(mut child) = spawn("knocks", NOBODY, &name, "") else {
        return;
    };
    // EACCES already by the directory.
    assert_eq!(hear(&mut child, "answers "), "(13, 0) (13, 0)");
    child.wait().unwrap();
    // The same when somebody has opened the directory.
    let tree = Path::new(&name).parent().unwrap();
    fs::set_permissions(tree, Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&name, Permissions::from_mode(0o777)).unwrap();
    let mut child = spawn("knocks", NOBODY, &name, "").unwrap();
    assert_eq!(hear(&mut child, "answers "), "(13, 0) (13, 0)");
    child.wait().unwrap();
    assert_eq!(knock(&name, Op::Life), (0, 2), "its own user is served");
}

#[test]
fn the_node_of_a_user_serves_neither_root_nor_a_third_user() {
    let Some(mut node) = spawn("serves", NOBODY, "", "") else {
        return;
    };
    let path = hear(&mut node, "path ");
    assert_eq!(knock(&path, Op::Life), (libc::EACCES, 0), "root");
    assert_eq!(knock(&path, Op::Thread), (libc::EACCES, 0), "root");
    let mut third = spawn("knocks", OTHER, &path, "").unwrap();
    assert_eq!(hear(&mut third, "answers "), "(13, 0) (13, 0)");
    third.wait().unwrap();
    let mut own = spawn("knocks", NOBODY, &path, "").unwrap();
    // Two memories, and the page of a thread.
    assert_eq!(hear(&mut own, "answers "), "(0, 2) (0, 1)");
    own.wait().unwrap();
    drop(node.stdin.take());
    node.wait().unwrap();
}

/// As root's processes have it whose table was full when they began: a thread of theirs connects first. A thread of the
/// node that serves one cannot open a file of its memory, as it has no CAP_SYS_PTRACE in effect (proc_pid_mem(5)).
#[test]
fn a_process_of_root_that_begins_after_its_first_connection_is_reached() {
    let (_node, name) = start();
    let Some(mut child) = spawn("begins", 0, &name, "") else {
        return;
    };
    let expected = format!("0 {:?}", b"i915");
    assert_eq!(hear(&mut child, "results "), expected);
    child.wait().unwrap();
}

#[test]
fn a_process_that_changes_its_user_is_not_reached_any_more() {
    let (_node, name) = start();
    let Some(mut child) = spawn("changes", 0, &name, "") else {
        return;
    };
    // The connection is at its end: what another user sends on it is not read.
    let ends = ["0 Ok(0)", "0 Err(ECONNRESET)"];
    let said = hear(&mut child, "results ");
    assert!(ends.contains(&said.as_str()), "{said}");
    child.wait().unwrap();
}

#[test]
fn a_process_that_has_changed_its_user_has_to_ask_by_the_socket() {
    let (_node, name) = start();
    for _ in 0..TRIES {
        let Some(mut child) = spawn("changes by the page", 0, &name, "") else {
            return;
        };
        let said = hear(&mut child, "results ");
        child.wait().unwrap();
        if said != MISSED {
            assert_eq!(said, format!("Some(0) Some({})", wire::Reply::AGAIN));
            return;
        }
    }
    panic!("the node was not seen to look in {TRIES} tries");
}

#[test]
fn a_process_that_becomes_a_set_uid_or_more_capable_program_is_not_reached() {
    let (_node, name) = start();
    if !rustix::process::geteuid().is_root() {
        println!("skipped: not root");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    for (kind, owner, mode) in [("set-uid", NOBODY, 0o4755), ("capable", 0, 0o755)] {
        let program = dir.path().join(kind);
        fs::copy("/bin/cat", &program).unwrap();
        chown(&program, Some(owner), Some(owner)).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
        let mut child = spawn("becomes", 0, &name, program.to_str().unwrap()).unwrap();
        assert_eq!(hear(&mut child, "results "), "0 -9", "{kind}");
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
