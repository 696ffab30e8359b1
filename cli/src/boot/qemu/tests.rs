//! QEMU's command line.
//!
//! Options as in docs/bring-up.md, which QEMU 11.1 takes.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn line(shell: bool) -> Line<'static> {
    Line {
        kernel: Path::new("/usr/vmlinuz"),
        initrd: Path::new("/i"),
        append: "quiet",
        memory: 768,
        socket: Path::new("/var/a \"b\"/device"),
        ports: Path::new("/var/a,b"),
        console: Path::new("/var/console.log"),
        kvm: false,
        shell,
    }
}

fn texts(words: &[OsString]) -> Vec<String> {
    words
        .iter()
        .map(|word| word.to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_command_line() {
    let words = texts(&line(false).words());
    let has = |pair: [&str; 2]| {
        assert!(words.windows(2).any(|w| w == pair), "{pair:?} {words:?}");
    };
    has(["-m", "768"]);
    has(["-object", "memory-backend-memfd,id=ram,size=768M,share=on"]);
    has(["-M", "q35,memory-backend=ram"]);
    has(["-kernel", "/usr/vmlinuz"]);
    has(["-append", "console=ttyS0 panic=-1 quiet"]);
    has(["-chardev", "file,id=out,path=/var/a,,b/out"]);
    has([
        "-device",
        "virtserialport,bus=ports.0,nr=1,chardev=state,name=crestline.state",
    ]);
    has(["-serial", "chardev:console"]);
    has(["-accel", "tcg"]);
    let device: serde_json::Value = serde_json::from_str(words.last().unwrap()).unwrap();
    assert_eq!(device["driver"], "vfio-user-pci");
    assert_eq!(device["addr"], "02.0");
    assert_eq!(device["socket"]["path"], "/var/a \"b\"/device");
    assert!(
        !words
            .iter()
            .any(|word| word.contains("stdio") || word.is_empty())
    );
    let words = texts(&line(true).words());
    assert!(
        words
            .iter()
            .any(|w| w == "virtconsole,bus=ports.0,chardev=shell")
    );
}

#[test]
fn an_unpacked_qemu_is_run_by_its_own_loader() {
    let qemu = Qemu::of_piece(Path::new("/var/c/qemu"));
    let started = qemu.line(&line(false));
    let words = texts(&started.words);
    let program = "/var/c/qemu/usr/bin/qemu-system-x86_64".to_owned();
    assert!(words[0].ends_with("ld-linux-x86-64.so.2"), "{words:?}");
    assert_eq!(words[1], "--library-path");
    assert_eq!(words[3], program);
    assert_eq!(words[4..6], ["-L", "/var/c/qemu/usr/share/qemu"]);
    assert_eq!(started.variables.len(), 1);
}

#[test]
fn versions() {
    let text = "QEMU emulator version 11.1.3 (Debian 1:11.1.3+ds-1~bpo13+1)\nCopyright\n";
    assert_eq!(version(text), Some((11, 1)));
    assert_eq!(version("QEMU emulator version 7.2.22\n"), Some((7, 2)));
    assert_eq!(version("GNU bash, version 5.2.15"), None);
}

#[test]
fn old_ones_and_others_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let with = |text: &str| {
        let path = dir.path().join("qemu");
        fs::write(&path, format!("#!/bin/sh\necho '{text}'\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Qemu::at(&path)
    };
    let old = with("QEMU emulator version 7.2.22").unwrap_err();
    assert!(old.to_string().contains("10.1 or later"), "{old}");
    assert!(
        with("something")
            .unwrap_err()
            .to_string()
            .contains("is no QEMU")
    );
    with("QEMU emulator version 10.1.0").unwrap();
    assert!(Qemu::at(&dir.path().join("none")).is_err());
}
