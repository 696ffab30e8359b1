//! The buffers of a capture as objects of a driver, whatever its device is.
//!
//! docs/captures.md says what a later submission uploads.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use driver::{Device, Object};
use mmio_mock::intel::r#gen::DeviceInfo;

use super::ReplayError;
use super::finder::Finder;
use super::upload::{self, Bound};
use crate::capture::{Buffer, Contents, Exec};
use crate::picture::{PageReader, PictureError, State, View, last_target};

/// The objects, by the numbers that buffers have in the capture.
#[derive(Default)]
pub(super) struct Objects(BTreeMap<u64, Bound>);

impl Objects {
    pub(super) fn bound(&self, buffer: &Buffer) -> Option<&Bound> {
        self.0.get(&buffer.bo_id)
    }

    /// The object of a buffer.
    pub(super) fn of(&self, buffer: &Buffer) -> Option<&Object> {
        self.bound(buffer).map(|bound| &bound.object)
    }

    /// Reads what the device would read at addresses of a submission.
    pub(super) fn finder<'a>(&'a self, exec: &'a Exec) -> Finder<'a> {
        Finder::new(self, exec)
    }

    /// Brings all buffers of a submission to their addresses, with their contents.
    pub(super) fn place(
        &mut self,
        device: &Device,
        exec: &Exec,
        contents: Vec<Contents>,
    ) -> Result<(), ReplayError> {
        // Whatever is not where it belongs makes room first.
        let wanted: BTreeMap<u64, u32> =
            exec.buffers.iter().map(|b| (b.bo_id, b.address)).collect();
        for (bo_id, bound) in &self.0 {
            if bound.object.address() != wanted.get(bo_id).copied() {
                bound.object.unbind();
            }
        }
        for (index, (buffer, contents)) in exec.buffers.iter().zip(contents).enumerate() {
            let failed = |what, error| ReplayError::Buffer {
                exec: exec.name.clone(),
                index,
                file: buffer.file.clone(),
                what,
                error,
            };
            let bound = match self.0.entry(buffer.bo_id) {
                Entry::Occupied(found) => found.into_mut(),
                Entry::Vacant(empty) => {
                    let object = device
                        .create_object(buffer.size as usize, buffer.tiling, buffer.stride)
                        .map_err(|e| failed("creation", e))?;
                    empty.insert(Bound::new(object))
                }
            };
            let uploaded = if exec.complete {
                bound.replace(contents)
            } else {
                bound.upload(contents)
            };
            uploaded.map_err(|error| match error {
                upload::Error::Capture(error) => ReplayError::Capture(error.in_buffer(index)),
                upload::Error::Object(error) => failed("upload", error),
            })?;
            if bound.object.address().is_none() {
                device
                    .bind_at(&bound.object, buffer.address)
                    .map_err(|e| failed("binding", e))?;
            }
        }
        Ok(())
    }

    /// The render target of a primitive, to be read row by row.
    pub(super) fn view(
        &self,
        state: State,
        exec: &Arc<Exec>,
        info: &'static DeviceInfo,
    ) -> Result<View<impl PageReader>, PictureError> {
        let find = self.finder(exec);
        let target = last_target(&|at| find.dword(at), state, info)?;
        let exec = Arc::clone(exec);
        View::new(target, move |address: u32, page: &mut [u8; 4096]| {
            let mut read = || {
                let (index, offset) = exec.find(address)?;
                let object = self.of(exec.buffers.get(index)?)?;
                object.read(offset as usize, page).ok()
            };
            read().is_some()
        })
    }

    /// The contents of a buffer as they are now.
    pub(super) fn contents(&self, buffer: &Buffer) -> Option<Vec<u8>> {
        let mut bytes = vec![0; buffer.size as usize];
        self.of(buffer)?.read(0, &mut bytes).ok()?;
        Some(bytes)
    }
}
