//! The packed form: one compressed file per capture.
//!
//! No PRM chapter; see docs/captures.md. Magic, then a zlib stream of records: length of the name
//! (u32), length of the contents (u32), name, contents; little-endian.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::error::{CaptureError, Problem};
use super::source::{JSON, Source, is_exec, is_plain};
use super::{Capture, Limits, json};

/// What packed captures are called.
pub const EXTENSION: &str = "crest";

/// Name and version of the format.
const MAGIC: &[u8; 8] = b"CRESTv1\n";
/// Longest name of a file.
const MAX_NAME: u32 = 512;

/// Packs a capture directory; the capture is checked first, and only what it needs goes in.
pub fn pack(directory: &Path) -> Result<Vec<u8>, CaptureError> {
    let limits = Limits::default();
    Capture::load_with(directory, limits)?;
    let mut source = Source::open(directory, limits)?;
    let shown = source.name();
    let fail = |e| CaptureError::file(shown.as_str(), Problem::Io(e));
    let mut out = ZlibEncoder::new(MAGIC.to_vec(), Compression::best());
    for exec in source.execs(limits)? {
        let text = source.read(&exec, JSON, limits.json_bytes)?;
        let parsed: json::ExecJson = serde_json::from_slice(&text)
            .map_err(|e| CaptureError::file(source.file_name(&exec, JSON), Problem::Json(e)))?;
        // A directory that is itself the submission gets a name.
        let name = if exec.is_empty() { "exec_0000" } else { &exec };
        record(&mut out, &format!("{name}/{JSON}"), &text).map_err(fail)?;
        for buffer in parsed.buffers.iter().filter(|b| b.file_size > 0) {
            let data = source.read(&exec, &buffer.file, limits.buffer_bytes)?;
            record(&mut out, &format!("{name}/{}", buffer.file), &data).map_err(fail)?;
        }
    }
    out.finish().map_err(fail)
}

fn record(out: &mut impl Write, name: &str, data: &[u8]) -> std::io::Result<()> {
    let length = |n: usize| {
        u32::try_from(n).map_err(|_| std::io::Error::from(std::io::ErrorKind::FileTooLarge))
    };
    out.write_all(&length(name.len())?.to_le_bytes())?;
    out.write_all(&length(data.len())?.to_le_bytes())?;
    out.write_all(name.as_bytes())?;
    out.write_all(data)
}

/// Takes a packed capture apart: files by `exec_NNNN/name`.
pub fn unpack(
    shown: &str,
    bytes: &[u8],
    limits: Limits,
) -> Result<BTreeMap<String, Vec<u8>>, CaptureError> {
    let fail = |problem| CaptureError::file(shown, problem);
    let Some(stream) = bytes.strip_prefix(MAGIC) else {
        return Err(fail(Problem::NotACapture(
            "neither a directory nor a packed capture (CRESTv1)",
        )));
    };
    let mut reader = Records {
        stream: ZlibDecoder::new(stream),
        offset: 0,
        left: limits.buffer_bytes + limits.json_bytes,
    };
    let mut files = BTreeMap::new();
    loop {
        let at = reader.offset;
        match reader.next() {
            Ok(None) => return Ok(files),
            Ok(Some((name, data))) => {
                if files.insert(name, data).is_some() {
                    return Err(fail(Problem::Pack("a file stands in it twice")).at(at));
                }
            }
            // Offsets count in the unpacked stream, where records lie.
            Err(what) => return Err(fail(Problem::Pack(what)).at(at)),
        }
    }
}

struct Records<R> {
    stream: R,
    offset: u64,
    left: u64,
}

impl<R: Read> Records<R> {
    fn next(&mut self) -> Result<Option<(String, Vec<u8>)>, &'static str> {
        let head = self.bytes(8)?;
        if head.is_empty() {
            return Ok(None);
        }
        let length = |at: usize| {
            let word = head.get(at..at + 4).and_then(|b| b.try_into().ok());
            word.map(u32::from_le_bytes).ok_or("a record is cut off")
        };
        let (name, data) = (length(0)?, length(4)?);
        if name > MAX_NAME {
            return Err("the name of a file is too long");
        }
        let name = self.exactly(name)?;
        let name = String::from_utf8(name).map_err(|_| "the name of a file is not UTF-8")?;
        let plain = name
            .split_once('/')
            .is_some_and(|(exec, file)| is_exec(exec) && is_plain(file));
        if !plain {
            return Err("the name of a file is not exec_NNNN/name");
        }
        Ok(Some((name, self.exactly(data)?)))
    }

    fn exactly(&mut self, count: u32) -> Result<Vec<u8>, &'static str> {
        let bytes = self.bytes(u64::from(count))?;
        if bytes.len() as u64 == u64::from(count) {
            Ok(bytes)
        } else {
            Err("a record is cut off")
        }
    }

    /// At most `count` bytes; fewer at the end of the stream.
    fn bytes(&mut self, count: u64) -> Result<Vec<u8>, &'static str> {
        if count > self.left {
            return Err("it unpacks to more than is read");
        }
        let mut bytes = Vec::new();
        let read = self.stream.by_ref().take(count).read_to_end(&mut bytes);
        let read = read.map_err(|_| "the compressed data are damaged or cut off")? as u64;
        self.left -= read;
        self.offset += read;
        Ok(bytes)
    }
}
