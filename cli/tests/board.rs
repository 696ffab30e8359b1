//! Devices of the machine, on a directory that looks like sysfs.
//!
//! Nothing is written to any of them.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{PROGRAM, failed, here, ok, scratch};

const AT: &str = "0000:00:02.0";
const BAR: usize = 1 << 20;

/// A directory with functions in it.
struct Machine(PathBuf);

impl Machine {
    /// A GM965 that i915 holds, its second function, and a display of somebody else.
    fn new(name: &str) -> Self {
        let machine = Machine(scratch(name));
        machine.add(AT, [0x8086, 0x2a02], Some("i915"));
        machine.add("0000:00:02.1", [0x8086, 0x2a03], None);
        machine.add("0000:01:00.0", [0x1002, 0x68f8], Some("radeon"));
        let bridge = machine.add("0000:00:00.0", [0x8086, 0x2a00], None);
        let mut config = fs::read(bridge.join("config")).unwrap();
        config[0x0b] = 6;
        fs::write(bridge.join("config"), config).unwrap();
        machine
    }

    fn directory(&self, at: &str) -> PathBuf {
        self.0.join("sys/bus/pci/devices").join(at)
    }

    fn add(&self, at: &str, [vendor, device]: [u16; 2], driver: Option<&str>) -> PathBuf {
        let directory = self.directory(at);
        fs::create_dir_all(&directory).unwrap();
        let mut config = [0; 256];
        config[0..2].copy_from_slice(&vendor.to_le_bytes());
        config[2..4].copy_from_slice(&device.to_le_bytes());
        (config[4], config[0x0b]) = (6, 3);
        fs::write(directory.join("config"), config).unwrap();
        let resource = format!(
            "0xf8100000 0xf81fffff 0x140204\n{}",
            "0x0 0x0 0x0\n".repeat(12)
        );
        fs::write(directory.join("resource"), resource).unwrap();
        fs::write(directory.join("resource0"), vec![0; BAR]).unwrap();
        if let Some(driver) = driver {
            symlink(
                Path::new("../../drivers").join(driver),
                directory.join("driver"),
            )
            .unwrap();
        }
        directory
    }

    fn set(&self, offset: u64, value: u32) {
        let path = self.directory(AT).join("resource0");
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.write_all_at(&value.to_le_bytes(), offset).unwrap();
    }

    /// All files, to see that none was written.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(self.directory(AT)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                found.insert(path.clone(), fs::read(path).unwrap());
            }
        }
        found
    }

    fn args<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        let root = ["--sys-root", self.0.to_str().unwrap()];
        words.iter().copied().chain(root).collect()
    }

    fn ok(&self, words: &[&str]) -> String {
        ok(&here(&self.args(words)))
    }

    fn failed(&self, words: &[&str]) -> String {
        failed(&here(&self.args(words)))
    }
}

#[test]
fn displays_are_listed_with_their_drivers() {
    let machine = Machine::new("board-list");
    let broken = machine.add("0000:02:00.0", [0x8086, 0x29a2], None);
    fs::write(broken.join("config"), [0; 3]).unwrap();
    let bare = machine.add("0000:03:00.0", [0x8086, 0x0f31], None);
    fs::remove_file(bare.join("resource0")).unwrap();
    let text = machine.ok(&["pci", "list"]);
    let line = |at: &str| -> Vec<&str> {
        let line = text.lines().find(|line| line.starts_with(at)).unwrap();
        line.splitn(5, "  ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .collect()
    };
    let words = |at: &str| line(at).join(" ");
    assert!(
        words(AT).starts_with("0000:00:02.0 8086:2a02 GM965"),
        "{text}"
    );
    assert!(
        words(AT).ends_with("registers can be read; belongs to its kernel driver"),
        "{text}"
    );
    assert!(words(AT).contains("i915"), "{text}");
    assert!(
        words("0000:00:02.1").contains("does not know this display"),
        "{text}"
    );
    assert!(words("0000:01:00.0").contains("radeon"), "{text}");
    assert!(words("0000:02:00.0").contains("config: 3 bytes"), "{text}");
    assert!(
        words("0000:03:00.0").contains("registers cannot be read"),
        "{text}"
    );
    // A bridge is no display.
    assert!(!text.contains("0000:00:00.0"), "{text}");
    let empty = Machine(scratch("board-empty"));
    fs::create_dir_all(empty.0.join("sys/bus/pci/devices")).unwrap();
    assert_eq!(
        empty.ok(&["pci", "list"]),
        "no display among 0 PCI functions\n"
    );
}

#[test]
fn registers_are_read_by_name_while_a_driver_holds_the_device() {
    let machine = Machine::new("board-read");
    // i915 i915_reg.h: INSTPM is 20c0, FENCE_965_START_NR 3000 with 8 bytes each, RING_HEAD of the render ring 2034.
    machine.set(0x20c0, 0x40);
    machine.set(0x3018, 0x1000_0041);
    machine.set(0x301c, 0x1234_0000);
    let before = machine.files();
    let text = machine.ok(&["regs", "read", "INSTPM", "fence[3]", "0x2034", "--pci", AT]);
    assert!(text.contains("INSTPM at 0x20c0"), "{text}");
    assert!(
        text.contains("CONSTANT_BUFFER Address Offset Disable = 0x1"),
        "{text}"
    );
    assert!(text.contains("Global Debug Enable = 0x0"), "{text}");
    assert!(
        text.contains("FENCE[3] at 0x3018") && text.contains("0x1234000010000041"),
        "{text}"
    );
    assert!(text.contains("PRB0_HEAD"), "{text}");
    assert_eq!(machine.files(), before);
    let array = machine.ok(&["regs", "read", "FENCE", "--pci", AT]);
    assert_eq!(array.matches("FENCE[").count(), 16, "{array}");
}

#[test]
fn what_cannot_be_read_is_refused() {
    let machine = Machine::new("board-refused");
    for (words, word) in [
        (
            &["regs", "read", "EU_ATT_CLR", "--pci", AT][..],
            "write-only",
        ),
        (&["regs", "read", "GTT_PTE", "--pci", AT], "GTT_PTE has"),
        (&["regs", "read", "INSTPN", "--pci", AT], "did you mean"),
        (
            &["regs", "read", "INSTPM", "--pci", "0000:00:03.0"],
            "no PCI function 0000:00:03.0",
        ),
        (
            &["regs", "read", "INSTPM", "--pci", "02"],
            "no address of a PCI function",
        ),
        (
            &["regs", "read", "INSTPM", "--pci", "01:00.0"],
            "1002:68f8, which the driver does not know",
        ),
        (
            &["regs", "dump", "--unit", "XX", "--pci", AT],
            "the units are",
        ),
    ] {
        let error = machine.failed(words);
        assert!(error.contains(word), "{error}");
    }
    machine.ok(&["regs", "read", "GTT_PTE[5]", "--pci", AT]);
    // An entry behind the BAR of this device: half of it holds 131072 entries of 4 bytes.
    let error = machine.failed(&["regs", "read", "GTT_PTE[131072]", "--pci", AT]);
    assert!(error.contains("GTT_PTE"), "{error}");
}

#[test]
fn a_dump_has_what_can_be_read_and_changes_nothing() {
    let machine = Machine::new("board-dump");
    machine.set(0x20c0, 0x40);
    let before = machine.files();
    let text = machine.ok(&["regs", "dump", "--pci", AT]);
    let line = |name: &str| {
        text.lines()
            .find(|line| line.split_whitespace().nth(1) == Some(name))
    };
    assert!(line("INSTPM").unwrap().ends_with("0x00000040"), "{text}");
    assert!(
        line("FENCE[15]").unwrap().ends_with("0x0000000000000000"),
        "{text}"
    );
    assert!(
        line("EU_ATT_CLR").is_none() && !text.contains("GTT_PTE"),
        "{text}"
    );
    let text = machine.ok(&[
        "regs",
        "dump",
        "--nonzero",
        "--fields",
        "--unit",
        "cs",
        "--pci",
        AT,
    ]);
    assert!(text.starts_with("INSTPM at 0x20c0"), "{text}");
    assert!(
        text.lines().skip(1).all(|line| line.starts_with(' ')),
        "{text}"
    );
    assert_eq!(machine.files(), before);
}

#[test]
fn a_device_that_does_not_answer_is_no_dump_of_ones() {
    let machine = Machine::new("board-gone");
    let directory = machine.directory(AT);
    fs::write(directory.join("resource0"), vec![0xff; BAR]).unwrap();
    let error = machine.failed(&["regs", "dump", "--pci", AT]);
    assert!(error.contains("all ones"), "{error}");
    let mut config = fs::read(directory.join("config")).unwrap();
    config[4] = 0;
    fs::write(directory.join("config"), &config).unwrap();
    let error = machine.failed(&["regs", "dump", "--pci", AT]);
    assert!(
        error.contains("echo 1 > /sys/bus/pci/devices/0000:00:02.0/enable"),
        "{error}"
    );
    fs::write(directory.join("config"), [0xff; 256]).unwrap();
    let error = machine.failed(&["regs", "dump", "--pci", AT]);
    assert!(error.contains("does not answer"), "{error}");
}

#[test]
fn changes_are_printed_with_their_fields() {
    let machine = Machine::new("board-watch");
    let args = [
        "regs",
        "watch",
        "INSTPM",
        "PRB0_HEAD",
        "--interval-ms",
        "1",
        "--pci",
        AT,
    ];
    let mut child = Command::new(PROGRAM)
        .args(machine.args(&args))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut notes = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    // The first values have been read when this is said.
    let note = notes.next().unwrap().unwrap();
    assert!(note.contains("2 registers watched"), "{note}");
    machine.set(0x20c0, 0x10);
    let text = lines.next().unwrap().unwrap();
    assert!(text.ends_with("INSTPM: 0x00000000 -> 0x00000010"), "{text}");
    let field = lines.next().unwrap().unwrap();
    assert_eq!(field.trim(), "Global Debug Enable = 0x0 -> 0x1");
    // The device goes away.
    fs::write(machine.directory(AT).join("config"), [0xff; 256]).unwrap();
    for at in [0x20c0, 0x2034] {
        machine.set(at, u32::MAX);
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let note = notes.next().unwrap().unwrap();
    assert!(note.contains("does not answer"), "{note}");
}

#[test]
fn a_device_of_a_kernel_driver_is_not_driven() {
    let machine = Machine::new("board-held");
    let before = machine.files();
    for words in [&["replay", "gears", "--pci", AT][..]] {
        let error = machine.failed(words);
        assert!(
            error.contains("belongs to the kernel driver i915"),
            "{error}"
        );
        for command in [
            "echo 0000:00:02.0 > /sys/bus/pci/devices/0000:00:02.0/driver/unbind",
            "modprobe uio_pci_generic",
            "echo uio_pci_generic > /sys/bus/pci/devices/0000:00:02.0/driver_override",
        ] {
            assert!(error.contains(command), "{error}");
        }
    }
    let vlv = machine.add("0000:03:00.0", [0x8086, 0x0f31], None);
    let error = machine.failed(&["replay", "gears", "--pci", "0000:03:00.0"]);
    assert!(error.contains("mean other things"), "{error}");
    assert!(vlv.exists());
    assert_eq!(machine.files(), before);
}

#[test]
fn a_dry_run_names_every_write_and_makes_none() {
    let machine = Machine::new("board-dry");
    let before = machine.files();
    let text = machine.ok(&["replay", "gears", "--dry-run", "--pci", AT]);
    assert_eq!(machine.files(), before);
    // Linux 6.1 i915: bus mastering first, then translation; `xcs_resume` writes the ring's start, then its control register, and only
    // then submissions move the tail.
    let mut rest = text.lines();
    for what in [
        "pci 0x04  COMMAND = 0x0006",
        "GTT_PTE[0..131071] = 0x00000000, 131072 times",
        "PRB0_START = ",
        "PRB0_CTL = ",
        "PRB0_TAIL = ",
    ] {
        assert!(rest.any(|line| line.contains(what)), "{what}: {text}");
    }
    // The device leaves the bus again: bus mastering is bit 2 (PCI Local Bus Specification 3.0, 6.2.2).
    let last = text
        .lines()
        .rfind(|line| line.contains("COMMAND = "))
        .unwrap();
    let (_, value) = last.split_once("= 0x").unwrap();
    assert_eq!(u16::from_str_radix(value, 16).unwrap() & 4, 0, "{last}");
    assert!(
        text.lines().last().unwrap().contains(" writes to "),
        "{text}"
    );
    assert!(!text.contains("not in the tables"), "{text}");
    // Without a device it is the same.
    let alone = machine.ok(&["replay", "gears", "--dry-run"]);
    let behind = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(behind(&alone), behind(&text));
}
