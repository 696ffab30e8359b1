//! A client that makes a look at its memory last for ever stops itself alone.
//!
//! Passes, and says so, where the system allows no userfaultfd.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::libc;
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::TimeVal;
use wire::{Head, Op};

use crate::support::held::Unanswered;
use crate::support::{Connection, start};

const PATIENCE: Duration = Duration::from_secs(20);
/// In another process: the node.
const NODE: &str = "CRESTLINE_TEST_STUCK";

/// A process that ends with the test, however that ends.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn first(op: Op) -> Head {
    let pid = u64::from(std::process::id());
    Head::new(op, wire::NO_FILE, [u64::from(wire::VERSION), pid, 0])
}

/// The other side of the test below; nothing where no node is given.
#[test]
fn in_another_process() {
    let Ok(path) = std::env::var(NODE) else {
        return;
    };
    // SAFETY: the page holds what the system gave the program to begin with; from here on no code of this process reads its
    // environment.
    let page = unsafe { Unanswered::over(libc::getauxval(libc::AT_RANDOM) as usize & !4095) };
    let Some(mut page) = page else {
        println!("\nskipped");
        return;
    };
    let client = Connection::silent(&path);
    client.try_send(&first(Op::Life)).unwrap();
    // The node's read of the page.
    page.await_call();
    println!("\nstuck");
    loop {
        std::thread::park();
    }
}

#[test]
fn a_client_whose_memory_does_not_answer_stops_itself_alone() {
    let (node, path) = start();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stuck::in_another_process", "--nocapture"])
        .env(NODE, &path)
        .stdout(Stdio::piped())
        .spawn();
    let mut child = Ended(child.unwrap());
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let said = lines.map_while(Result::ok).find_map(|line| {
        let words = ["stuck", "skipped"];
        words.into_iter().find(|word| line.ends_with(word))
    });
    if said.unwrap() == "skipped" {
        println!("skipped: no userfaultfd");
        return;
    }
    for op in [Op::Life, Op::Thread] {
        let client = Connection::silent(&path);
        let patience = TimeVal::new(20, 0);
        setsockopt(&client.borrow(), sockopt::ReceiveTimeout, &patience).unwrap();
        client.try_send(&first(op)).unwrap();
        assert_eq!(client.receive().reply.result, 0);
    }
    drop(child);
    assert!(node.quiesce(PATIENCE));
}
