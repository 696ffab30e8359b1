//! Storage: offset, access, reset value and defined bits as the manual prints them.
//!
//! PRM: volume 4, 3.3.3 to 3.3.9. Not covered: what the bits do; the other files of this directory are about that.

use super::bench::{debug, read, write};
use crestline_tests::scene::Scene;

/// Read/write registers: offset, defined bits.
const STORED: [(u32, u32); 22] = [
    (0x7400, 0x0000_ff00),
    (0x7408, 0x0000_0013),
    (0x7500, 0x8000_ff1f),
    (0x7504, 0xffff_ffff),
    (0x7508, 0xffff_ffff),
    (0x750c, 0xffff_ffff),
    (0x7510, 0x00ff_ffff),
    (0x7514, 0x00ff_ffff),
    (0x7600, 0x8000_ff07),
    (0x7604, 0x00ff_ffff),
    (0x7900, 0x8000_ff07),
    (0x7904, 0x0fff_ffff),
    (0x7a00, 0x8000_ff07),
    (0x7a04, 0x0fff_ffff),
    (0x7b00, 0xc000_ff1f),
    (0x7b04, 0x0fff_ffff),
    (0x7b08, 0x0fff_ffff),
    (0x7b0c, 0x0fff_ffff),
    (0x7b10, 0xffff_ffff),
    (0x7b14, 0xffff_ffff),
    (0x7c00, 0x80ff_ff7f),
    (0x7c04, 0xffff_ffff),
];

/// Return data.
const READ_ONLY: [u32; 7] = [0x7404, 0x7518, 0x7608, 0x7908, 0x7a08, 0x7b18, 0x7c08];

// covers: 3.2-01, 3.3.3.1-R, 3.3.3.2-R, 3.3.3.3-R, 3.3.4.1-R, 3.3.4.2-R, 3.3.4.3-R, 3.3.4.4-R, 3.3.4.5-R, 3.3.4.6-R
// covers: 3.3.4.7-R, 3.3.5.1-R, 3.3.5.2-R, 3.3.5.3-R, 3.3.6.1-R, 3.3.6.2-R, 3.3.6.3-R, 3.3.7.1-R, 3.3.7.2-R, 3.3.7.3-R
// covers: 3.3.8.1-R, 3.3.8.2-R, 3.3.8.3-R, 3.3.8.4-R, 3.3.8.5-R, 3.3.8.6-R, 3.3.8.7-R, 3.3.9.1-R, 3.3.9.2-R, 3.3.9.3-R
// covers: 3.3.3-06
#[test]
fn registers_have_the_bits_of_the_manual() {
    let scene = Scene::new();
    for on in [false, true] {
        // The global debug enable gates what bits do, not what is stored.
        debug(&scene, on);
        for (offset, defined) in STORED {
            assert_eq!(read(&scene, offset), 0, "{offset:#x}: default");
            for value in [u32::MAX, 0x5555_5555, 0xaaaa_aaaa] {
                write(&scene, offset, value);
                assert_eq!(read(&scene, offset), value & defined, "{offset:#x}");
            }
            write(&scene, offset, 0);
            assert_eq!(read(&scene, offset), 0, "{offset:#x}");
        }
        for offset in READ_ONLY {
            let before = read(&scene, offset);
            write(&scene, offset, !before);
            assert_eq!(read(&scene, offset), before, "{offset:#x}");
        }
    }
    for (offset, _) in STORED {
        write(&scene, offset, u32::MAX);
    }
    scene.rig.device.reset().unwrap();
    for (offset, _) in STORED {
        assert_eq!(read(&scene, offset), 0, "{offset:#x}: after a reset");
    }
    scene.finish_after_fault();
}
