//! The checked-in frames and their reference images.
//!
//! See tests/data/captures/README.md.

use std::path::PathBuf;

use crestline_cli::capture::Capture;
use crestline_cli::replay::{Options, device_of};
use mmio_mock::intel::r#gen::DeviceInfo;

use crate::image::Image;

/// A device of each generation; all have the scenes.
pub const DEVICES: [&str; 5] = ["gm965", "g45", "ironlake", "sandybridge", "valleyview"];

/// All scenes.
pub const SCENES: [&str; 7] = [
    "a_clear",
    "b_flat",
    "c_gouraud",
    "d_tex_nearest",
    "e_depth",
    "g_gears",
    "k_stencil_scissor",
];

/// The software rasterisers that made reference images.
pub const REFERENCES: [&str; 2] = ["llvmpipe", "softpipe"];

/// A file of a scene.
pub fn file(scene: &str, name: &str) -> PathBuf {
    [
        env!("CARGO_MANIFEST_DIR"),
        "data/captures/gm965",
        scene,
        name,
    ]
    .iter()
    .collect()
}

/// A scene's capture.
pub fn capture(scene: &str) -> Capture {
    capture_of(DEVICES[0], scene)
}

/// The same of a device, one of [`DEVICES`].
pub fn capture_of(device: &str, scene: &str) -> Capture {
    let file = capture_file(device, scene);
    Capture::load(&file).unwrap_or_else(|e| panic!("{e}"))
}

/// Where the capture of a device's scene is.
pub fn capture_file(device: &str, scene: &str) -> PathBuf {
    [
        env!("CARGO_MANIFEST_DIR"),
        "data/captures",
        device,
        scene,
        "frame.crest",
    ]
    .iter()
    .collect()
}

/// A device by its name.
pub fn device(name: &str) -> &'static DeviceInfo {
    mmio_mock::intel::r#gen::find(name).expect("a known device")
}

/// A scene's picture by a software rasteriser.
pub fn reference(scene: &str, by: &str) -> Image {
    Image::read(&file(scene, &format!("{by}.png")))
}

/// Default options on the device that a capture was made for.
pub fn options(capture: &Capture) -> Options {
    Options::new(device_of(capture).expect("a modelled device"))
}
