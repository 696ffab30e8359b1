//! Kernels, files and directories of `crestline media run`.

use std::path::PathBuf;
use std::process::Output;

use super::{crestline, scratch};

pub fn kernel(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../examples/kernels").join(name);
    path.display().to_string()
}

/// A directory of the test's own.
pub struct Dir(pub PathBuf);

impl Dir {
    pub fn new(test: &str) -> Self {
        Dir(scratch(&format!("media_{test}")))
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> &Self {
        std::fs::write(self.0.join(name), bytes).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap()
    }

    pub fn run(&self, args: &[&str]) -> Output {
        crestline(&self.0, &[&["media", "run"], args].concat())
    }

    /// Standard output of a run that goes well.
    pub fn good(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {errors}");
        // Whole threads over other sizes: bytes past the end are counted.
        assert!(
            errors.lines().all(|line| line.contains(": warning: ")),
            "{errors}"
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard error of a run that does not.
    pub fn bad(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// A thread that ends.
pub const END: &str = "send(8) 0 null<1>UW g0<8,8,1>UW thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };\n";

pub fn ramp(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 7) as u8).collect()
}

pub fn png(width: u32, height: u32, color: png::ColorType, pixels: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(pixels).unwrap();
    writer.finish().unwrap();
    out
}
