//! `crestline boot` as a user runs it, with a script in QEMU's place.
//!
//! The script finds the FIFOs and the socket in its command line and writes what a guest would. Booting Linux is for
//! tests/conformance/boot.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{PROGRAM, crestline, scratch, send};

/// TIMEOUT: the end of processes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// An archive with the file `a.txt`, made by GNU cpio 2.13 (`cpio -o -H newc`).
const ARCHIVE: &str = "\
07070100000000000081A40000000000000000000000010000000000000003000000000000000000000000000000000000000600000000a.txt\\000hi\\n\\000\
07070100000000000000000000000000000000000000010000000000000000000000000000000000000000000000000000000B00000000TRAILER!!!\\000\\000\\000\\000";

/// A QEMU whose guest does `does`; `$p` is the directory of the FIFOs. The words that it was started with are in the file `words`.
fn qemu(dir: &Path, does: &str) -> PathBuf {
    let path = dir.join("qemu");
    let script = format!(
        "#!/bin/sh
if [ \"$1\" = --version ]; then echo 'QEMU emulator version 10.1.0'; exit; fi
for word; do
    echo \"$word\" >> '{0}/words'
    case $word in
    file,id=state,path=*) p=${{word#file,id=state,path=}}; p=${{p%/state}} ;;
    file,id=console,path=*) console=${{word#file,id=console,path=}} ;;
    esac
done
# As QEMU does, until the end.
exec 3> $p/state
{does}
",
        dir.to_str().unwrap()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A kernel with its modules, as far as the command looks at it, and guest files.
fn parts(dir: &Path) {
    let modules = dir.join("lib/modules/6.6.6");
    fs::create_dir_all(&modules).unwrap();
    fs::write(dir.join("vmlinuz-6.6.6"), "kernel").unwrap();
    fs::write(dir.join("initrd"), "files").unwrap();
    let builtin = "k/i915.ko\nk/virtio_pci.ko\nk/virtio_console.ko\n";
    fs::write(modules.join("modules.builtin"), builtin).unwrap();
    fs::write(modules.join("modules.dep"), "").unwrap();
}

/// The command line for a directory.
fn words(more: &[&str]) -> Vec<String> {
    let words =
        "boot --qemu ./qemu --kernel ./vmlinuz-6.6.6 --modules lib/modules/6.6.6 --initrd initrd";
    let words = words.split(' ').chain(more.iter().copied());
    words.map(str::to_owned).collect()
}

fn command(dir: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .args(words(more))
        .current_dir(dir)
        .env("TMPDIR", dir)
        .env("XDG_CACHE_HOME", dir.join("cache"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn boot(dir: &Path, more: &[&str]) -> Output {
    command(dir, more).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The command has left nothing where temporary files go.
fn is_swept(dir: &Path) -> bool {
    let names = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name());
    !names
        .map(|n| text(n.as_encoded_bytes()))
        .any(|n| n.starts_with("crestline-boot-") || n.starts_with(".tmp"))
}

#[test]
fn output_files_and_exit_code_of_a_guest_come_back() {
    let dir = scratch("boot_all");
    parts(&dir);
    let does = format!(
        "echo 'up 1.0' >&3
test -S $p/device && test \"$(stat -c %a $p)\" = 700 && echo 'private'  > $p/out
echo 'message' > $p/err
echo 'kernel' > $console
printf '{ARCHIVE}' > $p/files
cp $p/initrd '{}/booted'
echo 'exit 7' >&3",
        dir.to_str().unwrap()
    );
    qemu(&dir, &does);
    let output = boot(
        &dir,
        &[
            "--memory",
            "800",
            "--out",
            "o",
            "--env",
            "A=b c",
            "--",
            "/bin/true",
            "it's",
        ],
    );
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{errors}");
    assert_eq!(text(&output.stdout), "private\n");
    assert!(errors.contains("message\n"), "{errors}");
    assert!(errors.contains("1 file in o/files"), "{errors}");
    let read = |name: &str| text(&fs::read(dir.join(name)).unwrap());
    assert_eq!(read("o/files/a.txt"), "hi\n");
    assert_eq!(read("o/console.log"), "kernel\n");
    assert!(dir.join("o/registers.txt").exists());
    let words = read("words");
    assert!(
        words.contains("\n800\n") && words.contains("vfio-user-pci"),
        "{words}"
    );
    // The user's files come first, what this run adds comes last.
    let booted = read("booted");
    assert!(booted.starts_with("files\0\0\0"));
    assert!(
        booted.contains("export 'A=b c'\nexec /bin/true \"it's\"\n"),
        "{booted}"
    );
    assert!(is_swept(&dir));
    assert!(!dir.join("cache").exists(), "all was given");
}

#[test]
fn a_guest_that_hangs_is_ended() {
    let dir = scratch("boot_hangs");
    parts(&dir);
    qemu(&dir, "echo 'up 1.0' >&3; exec sleep 1000");
    let begun = Instant::now();
    let output = boot(&dir, &["--timeout", "3", "--", "/bin/true"]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(124), "{errors}");
    assert!(
        errors.contains("ended after 3 s (--timeout): the guest loads i915"),
        "{errors}"
    );
    assert!(begun.elapsed() < PATIENCE);
    assert!(is_swept(&dir));
}

#[test]
fn a_device_that_is_not_bound_and_a_guest_that_dies_are_told() {
    let dir = scratch("boot_fails");
    parts(&dir);
    qemu(
        &dir,
        "echo 'i915: GPU hung badly' > $console; echo none >&3",
    );
    let output = boot(&dir, &["--", "/bin/true"]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("i915 has not bound the device"), "{errors}");
    assert!(errors.contains("GPU hung badly"), "{errors}");
    qemu(&dir, "echo 'cannot set up guest memory' >&2; exit 1");
    let output = boot(&dir, &["--", "/bin/true"]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("cannot set up guest memory"), "{errors}");
    assert!(errors.contains("the guest's kernel boots"), "{errors}");
    qemu(&dir, "echo 'rubbish' > $p/files; echo 'exit 0' >&3");
    let output = boot(&dir, &["--", "/bin/true"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
}

/// The number that a script has written into a file.
fn number(path: &Path) -> Pid {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        if let Ok(number) = text.trim().parse() {
            return Pid::from_raw(number);
        }
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn wait_for_end(pid: Pid) {
    let begun = Instant::now();
    let stat = format!("/proc/{pid}/stat");
    // One that nobody waits for stays as a zombie.
    let is_alive = || fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z "));
    while is_alive() {
        assert!(begun.elapsed() < PATIENCE, "QEMU goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn qemu_ends_with_the_command() {
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let dir = scratch(&format!("boot_ends_{signal}"));
        parts(&dir);
        qemu(
            &dir,
            &format!("echo $$ > '{}/pid'; exec sleep 1000", dir.to_str().unwrap()),
        );
        let child = command(&dir, &["--", "/bin/true"]).spawn().unwrap();
        let pid = number(&dir.join("pid"));
        kill(pid, None).unwrap();
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        let is_told = signal == Signal::SIGTERM;
        assert_eq!(output.status.code(), is_told.then_some(143));
        wait_for_end(pid);
    }
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let dir = scratch("boot_wrong");
    parts(&dir);
    qemu(&dir, "exit 1");
    let refused = |more: &[&str], code: i32, part: &str| {
        let output = boot(&dir, more);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{more:?} {errors}");
        assert!(errors.contains(part), "{more:?} {errors}");
        assert!(!dir.join("boot").exists(), "nothing was started");
    };
    refused(&["--", "./no-such-program"], 127, "there is no such file");
    refused(&["--env", "1=2", "--", "/bin/true"], 1, "NAME=VALUE");
    refused(
        &["--add", "/dev/no-such", "--", "/bin/true"],
        1,
        "/dev/no-such",
    );
    refused(
        &["--memory", "100", "--", "/bin/true"],
        2,
        "from 768 to 3072",
    );
    refused(&[], 2, "PROGRAM");
    refused(
        &["--device", "voodoo", "--", "/bin/true"],
        1,
        "unknown device",
    );
    let plain = |args: &[&str]| {
        let output = Command::new(PROGRAM)
            .args(args)
            .current_dir(&dir)
            .env("XDG_CACHE_HOME", dir.join("cache"))
            .env("CRESTLINE_QEMU", "./qemu")
            .env("PATH", "/dev/no-such")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        text(&output.stderr)
    };
    let errors = plain(&[
        "boot",
        "--mirror",
        "http://mirror.example/debian",
        "--",
        "true",
    ]);
    assert!(
        errors.contains("apt-get is not on this machine"),
        "{errors}"
    );
    assert!(errors.contains("--initrd"), "{errors}");
    let errors = plain(&["boot", "--kernel", "no-such-file", "--", "true"]);
    assert!(errors.contains("no-such-file: No such file"), "{errors}");
    fs::write(
        dir.join("old"),
        "#!/bin/sh\necho QEMU emulator version 7.2.0\n",
    )
    .unwrap();
    fs::set_permissions(dir.join("old"), fs::Permissions::from_mode(0o755)).unwrap();
    let errors = plain(&["boot", "--qemu", "./old", "--", "true"]);
    assert!(errors.contains("10.1 or later is needed"), "{errors}");
}

#[test]
fn the_starter_ends_when_its_parent_is_another_one() {
    let dir = scratch("boot_starter");
    let output = crestline(&dir, &["until-parent-ends", "1", "--", "touch", "made"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(!dir.join("made").exists());
    let own = std::process::id().to_string();
    crestline(&dir, &["until-parent-ends", &own, "--", "touch", "made"]);
    assert!(dir.join("made").exists());
}
