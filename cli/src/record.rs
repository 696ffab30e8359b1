//! Recording: every submission of a client becomes part of a capture.
//!
//! No PRM chapter; the format is described in docs/captures.md. Contents are read when the device has finished what
//! came before, so recording makes a program wait. Not modelled: which client a submission is of.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use driver::observe::{Observer, Placed, Queued};
use driver::{Device, Tiling, WeakObject};
use kernel::time::Delta;
use serde_json::json;

/// TIMEOUT: device time for which the requests before may go on; a hang is found earlier.
const PATIENCE: Delta = Delta::from_secs(60);

/// Writes submissions into a directory.
pub struct Recorder {
    device: Device,
    pci: (u16, u16),
    dir: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    submissions: usize,
    /// Number of each buffer, by the object's key; the handle keeps the key from being used again.
    numbers: HashMap<usize, (u64, WeakObject)>,
    last: u64,
    error: Option<String>,
}

impl Recorder {
    /// Records what `device` is given into `dir`, which is made; it must not hold a capture yet.
    pub fn new(device: &Device, pci: (u16, u16), dir: &Path) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        if dir.join("exec_0000").exists() {
            return Err(io::Error::other("there is a capture already"));
        }
        Ok(Recorder {
            device: device.clone(),
            pci,
            dir: dir.to_owned(),
            state: Mutex::default(),
        })
    }

    /// Number of submissions recorded.
    ///
    /// The first error ends the recording; it is what comes back then.
    pub fn finish(&self) -> Result<usize, String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.error {
            Some(error) => Err(format!(
                "{}: the recording ends after {} submissions: {error}",
                self.dir.display(),
                state.submissions
            )),
            None => Ok(state.submissions),
        }
    }

    fn record(&self, state: &mut State, queued: &Queued<'_>) -> Result<(), String> {
        self.device
            .wait_idle(PATIENCE)
            .map_err(|error| format!("the device is not done with what came before: {error}"))?;
        let dir = self.dir.join(format!("exec_{:04}", state.submissions));
        fs::create_dir(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        let mut buffers = Vec::new();
        for (index, placed) in queued.objects.iter().enumerate() {
            let file = format!("bo_{index:03}.bin");
            let path = dir.join(&file);
            let size = placed.object.size();
            let bytes = contents(placed)?;
            fs::write(&path, &bytes).map_err(|error| format!("{}: {error}", path.display()))?;
            buffers.push(json!({
                "index": index,
                "bo_id": state.number(placed),
                "size": size,
                "gtt_offset": placed.address,
                "tiling": match placed.object.tiling() {
                    Tiling::None => 0,
                    Tiling::X => 1,
                    Tiling::Y => 2,
                },
                "stride": placed.object.stride(),
                "file": file,
                "file_size": bytes.len(),
            }));
        }
        let (vendor, device) = self.pci;
        let exec = json!({
            "pci": format!("{vendor:04x}:{device:04x}"),
            "ring": "render",
            "batch_index": queued.batch,
            "batch_start_offset": queued.start,
            "batch_len": queued.len,
            "complete": true,
            "buffers": buffers,
        });
        // Last: a directory without it is no submission.
        let path = dir.join("exec.json");
        fs::write(&path, format!("{exec:#}\n"))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        state.submissions += 1;
        Ok(())
    }
}

/// The bytes of an object without the zeros at their end.
fn contents(placed: &Placed<'_>) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; placed.object.size()];
    placed
        .object
        .read(0, &mut bytes)
        .map_err(|error| format!("{:?}: {error}", placed.object))?;
    let used = bytes.iter().rposition(|byte| *byte != 0);
    bytes.truncate(used.map_or(0, |last| (last + 1).next_multiple_of(4)));
    Ok(bytes)
}

impl State {
    fn number(&mut self, placed: &Placed<'_>) -> u64 {
        let key = placed.object.key();
        let last = &mut self.last;
        let entry = self.numbers.entry(key).or_insert_with(|| {
            *last += 1;
            (*last, placed.object.downgrade())
        });
        entry.0
    }

    /// Buffers that are gone need no number any more.
    fn forget(&mut self) {
        self.numbers.retain(|_, (_, object)| object.is_alive());
    }
}

impl Observer for Recorder {
    fn before(&self, queued: &Queued<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.error.is_some() {
            return;
        }
        state.forget();
        if let Err(error) = self.record(&mut state, queued) {
            log::error!("recording: {error}");
            state.error = Some(error);
        }
    }
}
