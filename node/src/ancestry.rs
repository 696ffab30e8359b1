//! Whose process it is: what tells it from all others, and its family.
//!
//! proc_pid_stat(5). The number of a process is used again, together with the time of its beginning it is not. Parents are
//! what a process cannot choose freely: when one ends, its children become those of init or of a process that has asked
//! for that. CLONE_PARENT (clone(2)) makes a sibling of a child, so that a family can be left; what is a child of this process so
//! belongs to the program that this process has started.

use driver::Origin;

use crate::likeness;

/// Bits of a process's number (PID_MAX_LIMIT).
const NUMBER_BITS: u32 = 22;
/// Most ancestors that are looked at.
const MOST: usize = 256;
/// The family of all processes that do not descend from this one.
const OUTSIDE: u64 = u64::MAX;

/// What the system says of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stat {
    parent: i32,
    /// Clock ticks after the system's own beginning.
    begun: u64,
}

impl Stat {
    fn of(number: i32) -> Option<Stat> {
        let text = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // The name may have parentheses and spaces; state and parent stand behind it.
        let (_, rest) = text.rsplit_once(')')?;
        let mut words = rest.split_ascii_whitespace();
        Some(Stat {
            parent: words.nth(1)?.parse().ok()?,
            // The twenty-second word is the eighteenth after the parent.
            begun: words.nth(17)?.parse().ok()?,
        })
    }
}

/// The number of a process's parent, when it is to be had.
pub fn parent(number: i32) -> Option<i32> {
    Some(Stat::of(number)?.parent)
}

fn identity(number: i32, begun: u64) -> u64 {
    begun << NUMBER_BITS | u64::from(number.unsigned_abs())
}

/// A process that this one has started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Program {
    number: i32,
    identity: u64,
}

impl Program {
    /// The child that has a number now; it has not been waited for.
    pub fn of(number: i32) -> Option<Program> {
        let identity = identity(number, Stat::of(number)?.begun);
        Some(Program { number, identity })
    }
}

/// The process that has a number now, and its family: the child of the program that this process has started which it
/// descends from. `is_client` says whether a process uses the node; when that program does, all belong to it, and so do its
/// siblings in any case. Without a `program` each child of this process is one.
pub fn of(number: i32, program: Option<Program>, is_client: impl Fn(i32) -> bool) -> Origin {
    let own = std::process::id();
    let look = Stat::of(number);
    let process = identity(number, look.map_or(0, |stat| stat.begun));
    let family = match look {
        Some(_) if number.unsigned_abs() == own => process,
        Some(stat) => family((number, stat), own, program, is_client).unwrap_or(OUTSIDE),
        None => OUTSIDE,
    };
    Origin {
        process,
        family,
        group: likeness::of(number),
    }
}

/// The family by the chain of parents, when that leads to this process.
fn family(
    (number, stat): (i32, Stat),
    own: u32,
    program: Option<Program>,
    is_client: impl Fn(i32) -> bool,
) -> Option<u64> {
    // The last two of the chain: the nearest to this process, and its child.
    let (mut top, mut below) = ((number, stat), (number, stat));
    for _ in 0..MOST {
        let (child, seen) = top;
        if seen.parent.unsigned_abs() == own {
            let sibling_of = program.filter(|program| program.number != child);
            if let Some(program) = sibling_of {
                return Some(program.identity);
            }
            let (number, stat) = if is_client(child) { top } else { below };
            return Some(identity(number, stat.begun));
        }
        if seen.parent <= 1 {
            return None;
        }
        let stat = Stat::of(seen.parent)?;
        // A parent that has ended has left its number to others.
        if Stat::of(child)? != seen {
            return None;
        }
        (below, top) = (top, (seen.parent, stat));
    }
    None
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::io::{BufRead as _, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A shell that says numbers of processes, and waits until its input ends.
    pub(crate) fn shell(script: &str) -> (Child, Vec<i32>) {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let numbers = line.split_whitespace().map(|word| word.parse().unwrap());
        let numbers = numbers.collect();
        (child, numbers)
    }

    /// Ends the input of such a shell, and waits for its end.
    pub(crate) fn end(mut child: Child) {
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn a_family_is_what_a_child_of_the_program_has_forked() {
        let (child, numbers) = shell(
            "exec 3<&0; sleep 600 & a=$!; \
             sh -c 'sleep 600 & read line <&3; kill $!' & b=$!; \
             echo $$ $a $b; read line; kill $a",
        );
        let [command, a, b] = numbers[..] else {
            panic!("{numbers:?}")
        };
        let none = |_| false;
        let id = |number| of(number, None, none).process;
        assert_eq!(of(command, None, none).family, id(command));
        assert_eq!(of(a, None, none).family, id(a));
        assert_eq!(of(b, None, none).family, id(b));
        // The child of b.
        let grandchild = loop {
            let path = format!("/proc/{b}/task/{b}/children");
            let text = std::fs::read_to_string(path).unwrap();
            if let Some(word) = text.split_whitespace().next() {
                break word.parse().unwrap();
            }
            std::thread::yield_now();
        };
        assert_eq!(of(grandchild, None, none).family, id(b));
        assert_ne!(of(grandchild, None, none).process, id(b));
        let is_command = |number| number == command;
        for number in [command, a, b, grandchild] {
            assert_eq!(of(number, None, is_command).family, id(command));
        }
        end(child);
    }

    #[test]
    fn siblings_of_the_program_belong_to_its_family() {
        let (first, numbers) = shell("echo $$; read line");
        let (second, others) = shell("exec 3<&0; (read line <&3) & echo $$ $!; read line");
        let program = Program::of(numbers[0]);
        let family = program.unwrap().identity;
        assert_eq!(of(numbers[0], program, |_| false).family, family);
        for number in &others {
            let origin = of(*number, program, |_| false);
            assert_eq!(origin.family, family);
            assert_ne!(origin.process, family);
            assert_ne!(of(*number, None, |_| false).family, family);
        }
        // Children of the program are families as long as it does not use the node itself.
        let child = Program::of(others[0]);
        let of_child = of(others[1], child, |_| false);
        assert_eq!(of_child.family, of_child.process);
        let with_it = of(others[1], child, |number| number == others[0]);
        assert_eq!(with_it.family, child.unwrap().identity);
        end(first);
        end(second);
    }

    #[test]
    fn a_process_that_has_lost_its_parent_belongs_to_those_outside() {
        let (child, numbers) = shell("(sleep 600 >/dev/null & echo $!); read line");
        let orphan = numbers[0];
        // Until the shell in between has ended.
        while of(orphan, None, |_| false).family != OUTSIDE {
            std::thread::yield_now();
        }
        assert_eq!(of(1, None, |_| false).family, OUTSIDE);
        assert_eq!(of(i32::MAX, None, |_| false).family, OUTSIDE);
        nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(orphan),
            nix::sys::signal::Signal::SIGKILL,
        )
        .unwrap();
        end(child);
    }

    #[test]
    fn this_process_is_a_family() {
        let own = std::process::id() as i32;
        let origin = of(own, None, |_| false);
        assert_eq!(origin.family, origin.process);
        assert_eq!(origin.process & 0x3f_ffff, own as u64);
        assert_ne!(origin.process >> NUMBER_BITS, 0);
    }
}
