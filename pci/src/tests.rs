//! Functions in a directory that looks like sysfs: good ones, and hostile ones.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::num::NonZeroUsize;
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernel::dma::PAGE_SIZE;
use kernel::irq::{Handler, IrqReturn};
use kernel::pci::ConfigSpace as _;
use kernel::platform::Platform as _;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;

use crate::edge::Memory;
use crate::*;

/// A GM965 at 0000:00:02.0 with registers of 64 KiB and an aperture of 8 KiB, without a driver.
struct Machine {
    root: TempDir,
}

const AT: &str = "0000:00:02.0";

impl Machine {
    fn new() -> Self {
        let machine = Machine {
            root: TempDir::new().unwrap(),
        };
        fs::create_dir_all(machine.path("")).unwrap();
        let mut config = [0; 256];
        // Vendor, device, COMMAND with memory decoding and bus mastering, revision, class.
        for (at, byte) in [
            (0, 0x86),
            (1, 0x80),
            (2, 0x02),
            (3, 0x2a),
            (4, 0x06),
            (8, 0x0c),
            (0x0b, 3),
        ] {
            config[at] = byte;
        }
        machine.write("config", &config);
        machine.resource(&[
            "0xf8100000 0xf810ffff 0x140204",
            "0x0 0x0 0x0",
            "0xe0000000 0xe0001fff 0x14220c",
        ]);
        machine.write("resource0", &vec![0; 64 << 10]);
        machine.write("resource2", &[0; 8 << 10]);
        machine
    }

    fn tree(&self) -> Tree {
        Tree::below(self.root.path())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.tree().functions().join(AT).join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn resource(&self, lines: &[&str]) {
        let mut text = lines.join("\n");
        for _ in lines.len()..13 {
            text += "\n0x0 0x0 0x0";
        }
        self.write("resource", text.as_bytes());
    }

    fn driver(&self, name: &str) {
        let _ = fs::remove_file(self.path("driver"));
        symlink(Path::new("../../drivers").join(name), self.path("driver")).unwrap();
    }

    fn open(&self) -> Result<Function, PciError> {
        Function::open(&self.tree(), AT.parse().unwrap())
    }

    fn error(&self) -> String {
        self.open().map(drop).unwrap_err().to_string()
    }

    fn board(&self) -> Result<Arc<Board>, PciError> {
        Board::with_pool(&self.open()?, pool())
    }
}

/// Memory whose bus addresses begin at 2 MiB.
fn pool() -> Pool {
    let len = 16 * PAGE_SIZE;
    let memory = Memory::plain(NonZeroUsize::new(len).unwrap()).unwrap();
    let chunk = Chunk {
        bus: 2 << 20,
        at: 0,
        len,
    };
    Pool::new(memory, vec![chunk], 1 << 32)
}

#[test]
fn a_function_is_what_its_files_say() {
    let machine = Machine::new();
    let function = machine.open().unwrap();
    assert_eq!(
        (function.id().vendor, function.id().device),
        (0x8086, 0x2a02)
    );
    assert_eq!((function.revision(), function.is_display()), (12, true));
    assert_eq!((function.driver(), function.hold()), (None, Hold::Free));
    assert_eq!(function.bar(2).unwrap().range.len, 8 << 10);
    assert_eq!((function.bar(1), function.bar(6)), (None, None));
    function.check_free().unwrap();
    let config = function.config(Using::Reading).unwrap();
    function.check_awake(&config).unwrap();
    assert_eq!(config.read32(0), 0x2a02_8086);
    assert_eq!(config.read8(255), 0);
    assert_eq!(
        (config.read32(254), config.read16(usize::MAX)),
        (u32::MAX, u16::MAX)
    );
    assert_eq!(function.group().unwrap(), None);
}

#[test]
fn functions_are_listed_by_address_and_other_names_are_counted() {
    let machine = Machine::new();
    let functions = machine.tree().functions();
    for name in ["0000:00:00.0", "0000:00:2.0", "lost+found", "..x"] {
        fs::create_dir(functions.join(name)).unwrap();
    }
    symlink("0000:ff:1f.7", functions.join("0000:ff:1f.7")).unwrap();
    let listing = list(&machine.tree()).unwrap();
    let names: Vec<String> = listing
        .entries
        .iter()
        .map(|e| e.address.to_string())
        .collect();
    assert_eq!(names, ["0000:00:00.0", AT, "0000:ff:1f.7"]);
    assert_eq!(listing.strangers, 3);
    let error = |at: usize| match &listing.entries.get(at).unwrap().function {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    assert!(error(0).contains("config"), "{}", error(0));
    assert_eq!(error(1), "");
    assert!(error(2).contains("links go in circles"), "{}", error(2));
    assert!(list(&Tree::below(Path::new("/proc/self/nothing"))).is_err());
}

#[test]
fn hostile_files_are_errors_that_name_them() {
    let machine = Machine::new();
    let config = fs::read(machine.path("config")).unwrap();
    for (short, word) in [(0, "config: 0 bytes"), (63, "config: 63 bytes")] {
        machine.write("config", config.get(..short).unwrap());
        let error = machine.error();
        assert!(error.contains(word), "{error}");
    }
    // 64 bytes are what others than the administrator see.
    machine.write("config", config.get(..64).unwrap());
    machine.open().unwrap();
    machine.write("config", &[0xff; 256]);
    assert!(machine.error().contains("does not answer"));
    fs::remove_file(machine.path("config")).unwrap();
    mkfifo(&machine.path("config"), Mode::S_IRWXU).unwrap();
    assert!(
        machine.error().contains("no plain file"),
        "{}",
        machine.error()
    );
    fs::remove_file(machine.path("config")).unwrap();
    symlink("config", machine.path("config")).unwrap();
    assert!(machine.error().contains("circles"), "{}", machine.error());
    fs::remove_file(machine.path("config")).unwrap();
    machine.write("config", &config);

    machine.write("driver", b"");
    assert!(machine.error().contains("no link"), "{}", machine.error());
    fs::remove_file(machine.path("driver")).unwrap();
    symlink("..", machine.path("driver")).unwrap();
    assert!(machine.error().contains("no name"), "{}", machine.error());
    fs::remove_file(machine.path("driver")).unwrap();
    // A link is not followed, so one in circles is only a name.
    symlink("driver", machine.path("driver")).unwrap();
    assert_eq!(
        machine.open().unwrap().hold(),
        Hold::Other("driver".to_owned())
    );
    fs::remove_file(machine.path("driver")).unwrap();

    machine.write("resource", &vec![b'0'; 1 << 20]);
    assert!(machine.error().contains("more text"), "{}", machine.error());
    machine.write("resource", &[0xff; 100]);
    assert!(
        machine.error().contains("three numbers"),
        "{}",
        machine.error()
    );
    machine.resource(&["0xf8100000 0xf810ffff 0x200", "0xf8108000 0xf810ffff 0x200"]);
    assert!(machine.error().contains("overlap"), "{}", machine.error());
}

#[test]
fn a_missing_function_is_said_to_be_missing() {
    let machine = Machine::new();
    let address = "0000:00:03.0".parse().unwrap();
    let error = Function::open(&machine.tree(), address)
        .map(drop)
        .unwrap_err();
    assert!(
        error.to_string().contains("no PCI function 0000:00:03.0"),
        "{error}"
    );
}

#[test]
fn bars_that_are_not_as_they_should_be_are_not_mapped() {
    let machine = Machine::new();
    let window = |index| {
        let window = machine.open().unwrap().window(index, Using::Driving);
        window.map(drop).map_err(|error| error.to_string())
    };
    window(0).unwrap();
    machine.write("resource0", &vec![0; (64 << 10) - 1]);
    assert!(
        window(0)
            .unwrap_err()
            .contains("65535 bytes, and the BAR has 65536")
    );
    fs::remove_file(machine.path("resource0")).unwrap();
    assert!(window(0).unwrap_err().contains("resource0"));
    fs::create_dir(machine.path("resource0")).unwrap();
    assert!(window(0).unwrap_err().contains("resource0"));
    assert!(window(1).unwrap_err().contains("no such BAR"));
    assert!(window(77).unwrap_err().contains("no such BAR"));
    // Ports are no memory, and a BAR of 2^62 bytes is nothing that a file has.
    machine.resource(&[
        "0x1800 0x1807 0x40101",
        "0x4000000000000000 0x7fffffffffffffff 0x140204",
    ]);
    assert!(window(0).unwrap_err().contains("no such BAR"));
    machine.write("resource1", &[0; 16]);
    assert!(window(1).unwrap_err().contains("16 bytes, and the BAR has"));
}

#[test]
fn a_driver_s_device_is_refused_with_the_commands_that_free_it() {
    let machine = Machine::new();
    machine.driver("i915");
    let consoles = machine.tree().consoles();
    for (name, kind) in [
        ("vtcon0", "(S) dummy device"),
        ("vtcon1", "(M) frame buffer device"),
        ("x", "frame buffer"),
    ] {
        fs::create_dir_all(consoles.join(name)).unwrap();
        fs::write(consoles.join(name).join("name"), kind).unwrap();
    }
    let function = machine.open().unwrap();
    let text = function.check_free().unwrap_err().to_string();
    let commands: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .collect();
    assert_eq!(
        commands,
        [
            "echo 0 > /sys/class/vtconsole/vtcon1/bind",
            "echo 0000:00:02.0 > /sys/bus/pci/devices/0000:00:02.0/driver/unbind",
            "modprobe uio_pci_generic",
            "echo uio_pci_generic > /sys/bus/pci/devices/0000:00:02.0/driver_override",
            "echo 0000:00:02.0 > /sys/bus/pci/drivers_probe",
            "echo 0000:00:02.0 > /sys/bus/pci/devices/0000:00:02.0/driver/unbind",
            "echo > /sys/bus/pci/devices/0000:00:02.0/driver_override",
            "echo 0000:00:02.0 > /sys/bus/pci/drivers_probe",
            "echo 1 > /sys/class/vtconsole/vtcon1/bind",
        ]
    );
    let error = Board::open(&function, Options::default())
        .map(drop)
        .unwrap_err();
    assert_eq!(error.to_string(), text);
    for name in ["pci-stub", "uio_pci_generic"] {
        machine.driver(name);
        machine.open().unwrap().check_free().unwrap();
    }
    machine.driver("vfio-pci");
    let error = Board::open(&machine.open().unwrap(), Options::default())
        .map(drop)
        .unwrap_err();
    assert!(
        error.to_string().contains("no IOMMU stands before it"),
        "{error}"
    );
}

#[test]
fn a_device_behind_an_iommu_is_refused_unless_addresses_stay() {
    let machine = Machine::new();
    let group = machine.root.path().join("sys/kernel/iommu_groups/7");
    fs::create_dir_all(&group).unwrap();
    symlink(&group, machine.path("iommu_group")).unwrap();
    let refused = |kind: &str| {
        fs::write(group.join("type"), kind).unwrap();
        let error = Board::open(&machine.open().unwrap(), Options { pieces: 8 });
        error.map(drop).unwrap_err().to_string()
    };
    for kind in ["DMA\n", "DMA-FQ\n", ""] {
        let error = refused(kind);
        assert!(
            error.contains("IOMMU group 7") && error.contains("iommu=pt"),
            "{error}"
        );
    }
    // The next obstacle is the memory, of which this machine has none.
    let pages = machine
        .root
        .path()
        .join("sys/kernel/mm/hugepages/hugepages-2048kB");
    fs::create_dir_all(&pages).unwrap();
    fs::write(pages.join("free_hugepages"), "7\n").unwrap();
    let error = refused("identity\n");
    assert!(
        error.contains("8 huge pages") && error.contains("7 are free"),
        "{error}"
    );
    assert!(error.contains("sysctl vm.nr_hugepages=8"), "{error}");
}

#[test]
fn a_sleeping_device_is_woken_by_the_command_that_is_told() {
    let machine = Machine::new();
    let error = || {
        let function = machine.open().unwrap();
        let config = function.config(Using::Reading).unwrap();
        function.check_awake(&config).unwrap_err().to_string()
    };
    machine.write("power_state", b"D3hot\n");
    assert!(error().contains("power/control"));
    machine.write("power_state", b"D0\n");
    let mut config = fs::read(machine.path("config")).unwrap();
    config[4] = 4;
    machine.write("config", &config);
    assert!(error().contains("0000:00:02.0/enable"));
}

#[test]
fn a_board_is_the_files_of_its_function() {
    let machine = Machine::new();
    let board = machine.board().unwrap();
    assert_eq!(board.interrupts(), Interrupts::Looks);
    board.io().write32(0x1234_5678, 0x2030);
    board.aperture().unwrap().write32(0x9abc_def0, 8);
    let word = |name: &str, at| {
        let mut bytes = [0; 4];
        let file = File::open(machine.path(name)).unwrap();
        file.read_exact_at(&mut bytes, at).unwrap();
        u32::from_le_bytes(bytes)
    };
    assert_eq!(word("resource0", 0x2030), 0x1234_5678);
    assert_eq!(word("resource2", 8), 0x9abc_def0);
    board.config().write8(1, 0xc0);
    assert_eq!(word("config", 0xc0), 1);
    assert_eq!(board.config().bar(0).unwrap().len, 64 << 10);
    let page = board.dma().alloc(1).unwrap();
    assert_eq!((page, board.pool().taken()), (2 << 20, 1));
    // The device leaves the bus when nobody drives it, and goes on to answer reads.
    drop(board);
    assert_eq!(word("config", 4), 2);
}

#[test]
fn memory_decoding_is_switched_on_for_the_driver() {
    let machine = Machine::new();
    let mut config = fs::read(machine.path("config")).unwrap();
    config[4] = 0;
    machine.write("config", &config);
    let board = machine.board().unwrap();
    assert_eq!(board.config().read16(4), 2);
}

#[test]
fn a_device_that_goes_away_is_noticed() {
    let machine = Machine::new();
    let board = machine.board().unwrap();
    assert!(board.is_there());
    machine.write("config", &[0xff; 256]);
    assert!(!board.is_there());
    let machine = Machine::new();
    let board = machine.board().unwrap();
    let file = OpenOptions::new()
        .write(true)
        .open(machine.path("resource0"))
        .unwrap();
    file.set_len(0).unwrap();
    assert_eq!(board.io().read32(0x2030), u32::MAX);
    board.io().write32(0, 0x2030);
    assert!(!board.is_there());
}

struct Calls(AtomicUsize);

impl Handler for Calls {
    fn handle(&self) -> IrqReturn {
        self.0.fetch_add(1, Ordering::SeqCst);
        IrqReturn::None
    }
}

#[test]
fn interrupts_come_by_the_file_of_uio_and_the_line_is_opened_again() {
    let machine = Machine::new();
    machine.driver("uio_pci_generic");
    assert!(
        machine
            .board()
            .map(drop)
            .unwrap_err()
            .to_string()
            .contains("uio")
    );
    for name in ["uio", "uio/notes", "uio/uio4"] {
        fs::create_dir(machine.path(name)).unwrap();
    }
    let device = machine.tree().device("uio4");
    assert!(machine.board().is_err());
    fs::create_dir_all(device.parent().unwrap()).unwrap();
    mkfifo(&device, Mode::S_IRWXU).unwrap();
    let mut tell = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&device)
        .unwrap();
    let board = machine.board().unwrap();
    assert_eq!(board.interrupts(), Interrupts::Uio);
    let calls = Arc::new(Calls(AtomicUsize::new(0)));
    board.irq().request(calls.clone()).unwrap();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(machine.path("config"))
        .unwrap();
    for number in 1..=3_u32 {
        // What uio_pci_generic does at an interrupt: it masks the line, and counts.
        file.write_all_at(&[6, 4], 4).unwrap();
        tell.write_all(&number.to_ne_bytes()).unwrap();
        let mut command = [0; 2];
        while command != [6, 0] || calls.0.load(Ordering::SeqCst) < number as usize {
            file.read_exact_at(&mut command, 4).unwrap();
            std::thread::yield_now();
        }
    }
    board.irq().free();
    assert_eq!(calls.0.load(Ordering::SeqCst), 3);
    tell.write_all(&4_u32.to_ne_bytes()).unwrap();
    let mut left = [0; 4];
    tell.read_exact(&mut left).unwrap();
    assert_eq!(calls.0.load(Ordering::SeqCst), 3);
}
