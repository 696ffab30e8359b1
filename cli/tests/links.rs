//! Results where another user has put a link: no file of the user changes.

use std::fs;
use std::os::unix::fs::{lchown, symlink};
use std::path::Path;

use crate::common::{crestline, fed, here, ok, scene, scratch};

const KERNEL: &str = "mov(8) g6<1>F 1F { align1 };\n";
/// Another user.
const OTHER: u32 = 4242;

#[test]
fn no_result_goes_through_a_link_of_another_user() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: only root makes links of other users");
        return;
    }
    let gears = scene("g_gears");
    let frame = gears.as_str();
    let cases: [(&str, &[&str]); 9] = [
        ("crestline.png", &[]),
        ("out.png", &["replay", frame, "--png", "out.png"]),
        ("out.html", &["report", frame, "-o", "out.html"]),
        ("out.crest", &["pack", frame, "out.crest"]),
        ("out.bin", &["asm", "--gen=4", "k.asm", "-o", "out.bin"]),
        ("out.asm", &["disasm", "--gen=4", "k.bin", "-o", "out.asm"]),
        (
            "out.trace",
            &["debug", frame, "-c", "trace out.trace", "-c", "trace off"],
        ),
        (
            "out.mem",
            &[
                "eu",
                "run",
                "--gen=4",
                "k.asm",
                "--mem",
                "k.bin@0x1000",
                "--dump-mem",
                "0x1000+16=out.mem",
            ],
        ),
        ("out.log", &["replay", frame, "--trace", "out.log"]),
    ];
    for (name, args) in cases {
        let dir = scratch(&format!("links_{name}"));
        fs::write(dir.join("k.asm"), KERNEL).unwrap();
        ok(&crestline(
            &dir,
            &["asm", "--gen=4", "k.asm", "-o", "k.bin"],
        ));
        // The system's own refusal (fs.protected_symlinks) is for directories that all may write; this one is not.
        let (precious, link) = (dir.join("precious"), dir.join(name));
        fs::write(&precious, "precious").unwrap();
        symlink(&precious, &link).unwrap();
        lchown(&link, Some(OTHER), None).unwrap();
        let output = crestline(&dir, args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("link of user 4242"), "{name}: {said}");
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious", "{name}");
    }
}

#[test]
fn results_go_to_descriptors_and_devices() {
    let gears = scene("g_gears");
    ok(&here(&["replay", &gears, "--png", "/dev/null"]));
    let picture = here(&["replay", &gears, "--png", "/dev/stdout"]).stdout;
    assert!(picture.windows(4).any(|bytes| bytes == b"\x89PNG"));
    let asm = ["asm", "--gen", "4", "-", "-o", "/dev/stdout"];
    let text = fed(Path::new("."), &asm, KERNEL.as_bytes());
    assert_eq!(text.stdout.len(), 16);
}
