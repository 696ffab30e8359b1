//! What a process has in common with others of other families.
//!
//! proc_pid_exe(5), getauxval(3). A process that is forked has the file and the layout of addresses that its parent began with, also
//! when it leaves the family (`CLONE_PARENT`, clone(2)). A program that is executed anew has a layout of its own, drawn at random, and
//! the same file unless somebody has copied that. Where the user wants no random layouts, equal runs of one file look like forks.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::os::unix::fs::MetadataExt as _;

use driver::Group;

/// The group of the process that has a number now: by its executable file, and in it by its layout. What cannot be seen is the same
/// for all.
pub fn of(number: i32) -> Group {
    let file = std::fs::metadata(format!("/proc/{number}/exe"));
    let layout = std::fs::read(format!("/proc/{number}/auxv"));
    Group {
        wide: digest(&file.map_or((0, 0), |meta| (meta.dev(), meta.ino()))),
        narrow: digest(&layout.unwrap_or_default()),
    }
}

/// A number that is equal for what is equal, and as good as never otherwise.
fn digest(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::process::Child;

    use super::*;
    use crate::ancestry::tests::{end, shell};

    /// Programs, each of which says its number and those of its children when they have begun.
    fn begin(script: &str) -> (Child, Vec<Group>) {
        let (child, numbers) = shell(script);
        (child, numbers.into_iter().map(of).collect())
    }

    #[test]
    fn forks_are_alike_and_other_runs_share_their_file_alone() {
        // The shell in parentheses is a fork, which waits for the end of the input as the first one does.
        let script = "exec 3<&0; (read line <&3) & echo $$ $!; read line";
        let (first, one) = begin(script);
        let (second, other) = begin(script);
        let random = std::fs::read_to_string("/proc/sys/kernel/randomize_va_space").unwrap();
        assert_eq!(one[0], one[1]);
        assert_eq!(one[0].wide, other[0].wide);
        if random.trim() == "0" {
            println!("skipped: no random layouts");
        } else {
            assert_ne!(one[0].narrow, other[0].narrow);
        }
        // This program is another file.
        let own = of(std::process::id() as i32);
        assert_ne!(own.wide, one[0].wide);
        end(first);
        end(second);
    }
}
