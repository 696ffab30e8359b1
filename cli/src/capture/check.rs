//! The rules that a capture keeps, checked while it is read.
//!
//! See docs/captures.md. What stands inside batch and state is the device's business.

use std::collections::BTreeMap;

use driver::Tiling;
use mmio_mock::intel::r#gen::DEVICES;

use super::error::{CaptureError, Problem};
use super::json::{BufferJson, ExecJson};
use super::source::{JSON, Source, is_plain};
use super::{Buffer, Contents, Exec, GTT_BYTES, Limits, Submission};

/// Bytes of a page.
const PAGE: u64 = 4096;

/// What is known from the submissions read so far.
pub struct Checker {
    limits: Limits,
    total: u64,
    /// Size and first submission of each buffer.
    known: BTreeMap<u64, (u64, String)>,
    /// Bytes of contents.
    contents: u64,
    /// Device and name of the first submission.
    first: Option<(String, String)>,
}

impl Checker {
    /// Nothing read yet.
    pub fn new(limits: Limits) -> Self {
        Checker {
            limits,
            total: 0,
            known: BTreeMap::new(),
            contents: 0,
            first: None,
        }
    }

    /// Reads and checks a submission.
    pub fn exec(&mut self, source: &Source, name: &str) -> Result<Submission, CaptureError> {
        let shown = source.file_name(name, JSON);
        let fail = |problem| CaptureError::file(shown.as_str(), problem);
        let text = source.read(name, JSON, self.limits.json_bytes)?;
        let json: ExecJson = serde_json::from_slice(&text).map_err(|e| fail(Problem::Json(e)))?;
        let pci = pci(&json.pci).map_err(fail)?;
        self.same_device(&json.pci, name).map_err(fail)?;
        // I915_EXEC_DEFAULT is the render ring of every part.
        if !matches!(json.ring.as_str(), "render" | "default") {
            return Err(fail(field(
                "ring",
                &json.ring,
                "this device has a render ring alone",
            )));
        }
        if json.buffers.is_empty() {
            return Err(fail(field(
                "buffers",
                "[]",
                "there must be a batch at least",
            )));
        }
        let mut buffers: Vec<Buffer> = Vec::new();
        let mut files = Vec::new();
        let mut taken = Taken::default();
        for (index, entry) in json.buffers.iter().enumerate() {
            let fail = |problem| fail(problem).in_buffer(index);
            let buffer = placed(index, entry).map_err(fail)?;
            taken.add(&buffers, &buffer).map_err(fail)?;
            self.remember(name, &buffer).map_err(fail)?;
            let contents = contents(source, name, index, entry)?;
            self.count(contents.len()).map_err(fail)?;
            files.push(contents);
            buffers.push(buffer);
        }
        let (batch, batch_start, batch_len) = batch(&json, &buffers).map_err(fail)?;
        Ok(Submission {
            exec: Exec {
                name: name.to_owned(),
                pci,
                buffers,
                batch,
                batch_start,
                batch_len,
                complete: json.complete,
            },
            contents: files,
        })
    }

    fn same_device(&mut self, pci: &str, exec: &str) -> Result<(), Problem> {
        match &self.first {
            Some((before, first)) if before != pci => Err(Problem::OtherDevice {
                pci: pci.to_owned(),
                before: format!("{before} in {first}"),
            }),
            Some(_) => Ok(()),
            None => {
                self.first = Some((pci.to_owned(), exec.to_owned()));
                Ok(())
            }
        }
    }

    fn count(&mut self, bytes: u64) -> Result<(), Problem> {
        self.contents = self.contents.saturating_add(bytes);
        let (total, limit) = (self.contents, self.limits.content_bytes);
        if total > limit {
            return Err(Problem::Contents { total, limit });
        }
        Ok(())
    }

    fn remember(&mut self, exec: &str, buffer: &Buffer) -> Result<(), Problem> {
        let size = u64::from(buffer.size);
        if let Some((before, first)) = self.known.get(&buffer.bo_id) {
            if *before != size {
                return Err(Problem::Resized {
                    bo_id: buffer.bo_id,
                    size,
                    before: *before,
                    exec: first.clone(),
                });
            }
            return Ok(());
        }
        let limit = self.limits.buffer_bytes;
        self.total = self.total.saturating_add(size);
        if self.total > limit {
            return Err(Problem::TotalSize {
                total: self.total,
                limit,
            });
        }
        self.known.insert(buffer.bo_id, (size, exec.to_owned()));
        Ok(())
    }
}

fn field(field: &'static str, value: impl std::fmt::Display, why: &'static str) -> Problem {
    Problem::Field {
        field,
        value: value.to_string(),
        why,
    }
}

fn hex(name: &'static str, value: u64, why: &'static str) -> Problem {
    field(name, format_args!("{value:#x}"), why)
}

/// `vendor:device`, of a device that there is a model of.
fn pci(text: &str) -> Result<(u16, u16), Problem> {
    let id = text.split_once(':').and_then(|(vendor, device)| {
        let part = |t: &str| u16::from_str_radix(t, 16).ok().filter(|_| t.len() == 4);
        Some((part(vendor)?, part(device)?))
    });
    let id = id.ok_or_else(|| {
        field(
            "pci",
            format_args!("{text:?}"),
            "not of the form vendor:device with four hexadecimal digits each",
        )
    })?;
    if DEVICES.iter().any(|device| device.pci == id) {
        Ok(id)
    } else {
        Err(field("pci", text, "no device of this id is modelled"))
    }
}

/// The entry without contents.
fn placed(index: usize, entry: &BufferJson) -> Result<Buffer, Problem> {
    if entry.index.is_some_and(|i| i != index as u64) {
        return Err(field(
            "index",
            entry.index.unwrap_or(0),
            "buffers are not in the order of their indices",
        ));
    }
    let size = entry.size;
    if size == 0 {
        return Err(field("size", size, "a buffer has at least one page"));
    }
    if !size.is_multiple_of(PAGE) {
        return Err(hex("size", size, "not a whole number of pages"));
    }
    if size > GTT_BYTES {
        return Err(hex("size", size, "larger than the 512 MiB address space"));
    }
    let start = entry.gtt_offset;
    if !start.is_multiple_of(PAGE) {
        return Err(hex("gtt_offset", start, "not a multiple of a page"));
    }
    // The last page stays free: the command streamer reads ahead.
    if start
        .checked_add(size)
        .is_none_or(|end| end > GTT_BYTES - PAGE)
    {
        return Err(hex(
            "gtt_offset",
            start,
            "the buffer leaves the 512 MiB address space",
        ));
    }
    let tiling = match entry.tiling {
        0 => Tiling::None,
        1 => Tiling::X,
        2 => Tiling::Y,
        other => return Err(field("tiling", other, "0 is linear, 1 X, 2 Y")),
    };
    let stride = u32::try_from(entry.stride)
        .ok()
        .filter(|stride| u64::from(*stride) <= size)
        .ok_or_else(|| field("stride", entry.stride, "larger than the buffer"))?;
    if let Some((width, _)) = tiling.tile()
        && (stride == 0 || !stride.is_multiple_of(width))
    {
        return Err(field("stride", stride, "not a whole number of tiles"));
    }
    if entry.file_size > size {
        return Err(field(
            "file_size",
            entry.file_size,
            "the contents are larger than the buffer",
        ));
    }
    if !is_plain(&entry.file) {
        return Err(field(
            "file",
            format_args!("{:?}", entry.file),
            "not the name of a file in the same directory, without control characters",
        ));
    }
    Ok(Buffer {
        bo_id: entry.bo_id,
        size: size as u32,
        address: start as u32,
        tiling,
        stride,
        file: entry.file.clone(),
        data: Vec::new(),
    })
}

/// Buffers of a submission so far: no two overlap and none stands in the list twice.
#[derive(Default)]
struct Taken {
    /// Index by number.
    numbers: BTreeMap<u64, usize>,
    /// Index by start.
    starts: BTreeMap<u32, usize>,
}

impl Taken {
    fn add(&mut self, others: &[Buffer], buffer: &Buffer) -> Result<(), Problem> {
        if let Some(other) = self.numbers.insert(buffer.bo_id, others.len()) {
            return Err(Problem::Duplicate {
                bo_id: buffer.bo_id,
                other,
            });
        }
        let range = (u64::from(buffer.address), buffer.end());
        // Those before do not overlap, so the last that starts below the end reaches furthest.
        let end = u32::try_from(range.1).unwrap_or(u32::MAX);
        let below = self.starts.range(..end).next_back();
        if let Some((_, other)) = below
            && let Some(that) = others.get(*other)
            && range.0 < that.end()
        {
            return Err(Problem::Overlap {
                range,
                other: *other,
                other_file: that.file.clone(),
                other_range: (u64::from(that.address), that.end()),
            });
        }
        self.starts.insert(buffer.address, others.len());
        Ok(())
    }
}

fn contents(
    source: &Source,
    exec: &str,
    index: usize,
    entry: &BufferJson,
) -> Result<Contents, CaptureError> {
    // A buffer of zeros needs no file.
    if entry.file_size == 0 {
        return Ok(Contents::held(&[]));
    }
    let file = source
        .find(exec, &entry.file)
        .map_err(|error| error.in_buffer(index))?;
    let (found, said) = (file.len(), entry.file_size);
    if found == said {
        return Ok(file);
    }
    let shown = source.file_name(exec, &entry.file);
    Err(CaptureError::file(shown, Problem::FileSize { found, said })
        .in_buffer(index)
        .at(found.min(said)))
}

/// Index, start and length of the batch.
fn batch(json: &ExecJson, buffers: &[Buffer]) -> Result<(usize, u32, u32), Problem> {
    let found = usize::try_from(json.batch_index)
        .ok()
        .and_then(|index| Some((index, buffers.get(index)?)));
    let Some((index, buffer)) = found else {
        return Err(field(
            "batch_index",
            json.batch_index,
            "there is no such buffer",
        ));
    };
    let start = json.batch_start_offset;
    let size = u64::from(buffer.size);
    if start >= size {
        return Err(hex(
            "batch_start_offset",
            start,
            "behind the end of the batch's buffer",
        ));
    }
    if !start.is_multiple_of(8) {
        return Err(hex("batch_start_offset", start, "not a multiple of 8"));
    }
    let len = if json.batch_len == 0 {
        size - start
    } else {
        json.batch_len
    };
    if !len.is_multiple_of(4) {
        return Err(hex("batch_len", len, "not a whole number of dwords"));
    }
    if start.checked_add(len).is_none_or(|end| end > size) {
        return Err(hex("batch_len", len, "the batch leaves its buffer"));
    }
    Ok((index, start as u32, len as u32))
}
