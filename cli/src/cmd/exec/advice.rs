//! Programs that drew on something else, or hung the device: what to do then.
//!
//! Drivers are where Mesa looks for them.

use std::env;
use std::fs;
use std::path::PathBuf;

use crestline_cli::shown;
use driver::r#gen::ClientDriver;

/// Variable that names the only directories in which Mesa looks for drivers.
const DRIVERS: &str = "LIBGL_DRIVERS_PATH";
/// Variables by which a user chooses Mesa's driver.
const CHOICES: [&str; 3] = [
    "LIBGL_ALWAYS_SOFTWARE",
    "GALLIUM_DRIVER",
    "MESA_LOADER_DRIVER_OVERRIDE",
];
/// Where distributions install them.
const INSTALLED: [&str; 5] = [
    "/usr/lib/dri",
    "/usr/lib64/dri",
    "/usr/local/lib/dri",
    "/usr/local/lib/x86_64-linux-gnu/dri",
    "/usr/lib/xorg/modules/dri",
];

/// What to do when requests of a device have not come to their end.
pub fn after_a_hang(card: usize) -> String {
    format!(
        "the device hung and was reset, and some drawing is lost. While the program runs, the error state is in \
         /sys/class/drm/card{card}/error for its child processes (docs/exec.md, \"After a hang\"); a run with `--record DIR`, and \
         `crestline replay DIR` behind it, names the thread and the instruction"
    )
}

/// What may be the reason that a program has drawn nothing on the device: a line each.
pub fn drew_elsewhere(
    clients: &[&'static ClientDriver],
    opened: bool,
    failed: bool,
) -> Vec<String> {
    let mut lines = Vec::new();
    let others: Vec<String> = CHOICES
        .iter()
        .filter_map(|name| Some((name, env::var_os(name)?)))
        .map(|(name, value)| format!("{name}={}", shown::path(value)))
        .collect();
    if !others.is_empty() {
        lines.push(format!(
            "{} is set, by which Mesa may choose another driver",
            others.join(" ")
        ));
    } else if opened {
        lines.extend(clients.iter().map(|client| {
            format!(
                "the device has {}; a program that needs more gets no context, or draws on the processor",
                client.offers
            )
        }));
    }
    let looked = driver_directories();
    let missing = clients
        .iter()
        .filter(|client| !looked.iter().any(|dir| dir.join(client.file).exists()));
    for ClientDriver { file, .. } in missing {
        let wanted = match env::var_os(DRIVERS) {
            Some(_) => format!("in the directories of {DRIVERS}"),
            None => "where distributions install it".to_owned(),
        };
        lines.push(format!(
            "Mesa's driver for this GPU, {file}, is not {wanted}; on Debian it is in the package libgl1-mesa-dri"
        ));
    }
    if failed && !opened && env::var_os("DISPLAY").is_none_or(|display| display.is_empty()) {
        lines.push(
            "DISPLAY is not set: a program that draws in windows of X needs an X server that runs on the model as well \
             (docs/exec.md, \"A desktop on the model\"); programs that draw through GBM or EGL's surfaceless platform need none"
                .to_owned(),
        );
    }
    lines
}

/// Where Mesa looks for drivers.
fn driver_directories() -> Vec<PathBuf> {
    if let Some(paths) = env::var_os(DRIVERS) {
        return env::split_paths(&paths).collect();
    }
    let mut all: Vec<PathBuf> = INSTALLED.iter().map(PathBuf::from).collect();
    // Debian: /usr/lib/x86_64-linux-gnu/dri, and those of other architectures.
    let libraries = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    all.extend(libraries.map(|entry| entry.path().join("dri")));
    all
}
