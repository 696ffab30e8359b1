//! The packed form: one compressed file per capture.
//!
//! See docs/captures.md. Magic, then a zlib stream of records: length of the name
//! (u32), length of the contents (u32), name, contents; little-endian.

use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::contents::Contents;
use super::error::{CaptureError, Problem};
use super::source::{JSON, Source, is_exec, is_plain, up_to};
use super::spool::Spool;
use super::{Limits, Reader};

/// What packed captures are called.
pub const EXTENSION: &str = "crest";

/// Name and version of the format.
const MAGIC: &[u8; 8] = b"CRESTv1\n";
/// Longest name of a file.
const MAX_NAME: u32 = 512;
/// Bytes that are copied at a time.
const CHUNK: usize = 64 << 10;

/// Packs a capture directory; the capture is checked first, and only what it needs goes in.
pub fn pack(directory: &Path) -> Result<Vec<u8>, CaptureError> {
    let mut out = Vec::new();
    pack_into(directory, &mut out)?;
    Ok(out)
}

/// Like [`pack`], as a stream: nothing is written before the capture has been checked.
pub fn pack_into(directory: &Path, out: &mut impl Write) -> Result<(), CaptureError> {
    let limits = Limits::default();
    let mut reader = Reader::open_with(directory, limits)?;
    while reader.next_submission()?.is_some() {}
    let source = Source::open(directory, limits)?;
    let mut reader = Reader::open_with(directory, limits)?;
    let shown = source.name();
    let fail = |e| CaptureError::file(shown.as_str(), Problem::Io(e));
    out.write_all(MAGIC).map_err(fail)?;
    let mut out = ZlibEncoder::new(out, Compression::best());
    while let Some(submission) = reader.next_submission()? {
        let exec = &submission.exec.name;
        // A directory that is itself the submission gets a name.
        let name = if exec.is_empty() { "exec_0000" } else { exec };
        let json = Contents::held(&source.read(exec, JSON, limits.json_bytes)?);
        let files = submission.exec.buffers.iter().map(|b| b.file.as_str());
        let mut written = std::collections::BTreeSet::new();
        for (file, contents) in
            std::iter::once((JSON, &json)).chain(files.zip(&submission.contents))
        {
            // Several buffers may have the same contents.
            if file == JSON || (!contents.is_empty() && written.insert(file)) {
                record(&mut out, &format!("{name}/{file}"), contents, &fail)?;
            }
        }
    }
    out.finish().map_err(fail)?;
    Ok(())
}

fn record(
    out: &mut impl Write,
    name: &str,
    contents: &Contents,
    fail: &impl Fn(std::io::Error) -> CaptureError,
) -> Result<(), CaptureError> {
    let length = |n: u64| {
        u32::try_from(n).map_err(|_| fail(std::io::Error::from(std::io::ErrorKind::FileTooLarge)))
    };
    let head = [length(name.len() as u64)?, length(contents.len())?];
    let head: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
    out.write_all(&head).map_err(fail)?;
    out.write_all(name.as_bytes()).map_err(fail)?;
    let mut open = contents.open()?;
    let mut chunk = vec![0; CHUNK];
    let mut at = 0;
    while at < contents.len() {
        let count = (contents.len() - at).min(CHUNK as u64);
        let bytes = chunk.get_mut(..count as usize).unwrap_or_default();
        open.read(at, bytes)?;
        out.write_all(bytes).map_err(fail)?;
        at += count;
    }
    Ok(())
}

/// A packed capture taken apart.
pub struct Unpacked {
    /// The contents of all files.
    pub spool: Spool,
    /// Place and length of each file, by `exec_NNNN/name`.
    files: BTreeMap<String, Place>,
}

impl Unpacked {
    /// Names of all files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Place and length of a file in the spool.
    pub fn find(&self, name: &str) -> Option<Place> {
        self.files.get(name).copied()
    }
}

/// Takes a packed capture apart.
pub fn unpack(
    shown: &str,
    mut packed: impl BufRead,
    limits: Limits,
) -> Result<Unpacked, CaptureError> {
    let fail = |problem| CaptureError::file(shown, problem);
    let magic = up_to(&mut packed, MAGIC.len() as u64).map_err(|e| fail(Problem::Io(e)))?;
    if magic != MAGIC {
        return Err(fail(Problem::NotACapture(
            "neither a directory nor a packed capture (CRESTv1); `crestline exec --record DIR -- PROGRAM` makes a capture",
        )));
    }
    let mut reader = Records {
        stream: ZlibDecoder::new(packed),
        offset: 0,
        left: limits.content_bytes,
        limits,
        spool: Spool::new(),
        chunk: vec![0; CHUNK],
    };
    let mut files = BTreeMap::new();
    loop {
        let at = reader.offset;
        match reader.next() {
            Ok(None) => break,
            Ok(Some((name, place))) => {
                if files.insert(name, place).is_some() {
                    return Err(fail(Problem::Pack("a file stands in it twice".into())).at(at));
                }
            }
            // Offsets count in the unpacked stream, where records lie.
            Err(what) => return Err(fail(Problem::Pack(what)).at(at)),
        }
        if files.len() > limits.records {
            let what = format!("more than {} files are in it", limits.records);
            return Err(fail(Problem::Pack(what.into())).at(at));
        }
    }
    let behind = MAGIC.len() as u64 + reader.stream.total_in();
    let rest = reader.stream.get_mut().fill_buf();
    if !rest.map_err(|e| fail(Problem::Io(e)))?.is_empty() {
        // This offset counts in the file.
        return Err(fail(Problem::Behind).at(behind));
    }
    let spool = reader.spool;
    Ok(Unpacked { spool, files })
}

/// Place and length in the spool.
type Place = (u64, u64);
/// What is wrong with a record.
type What = std::borrow::Cow<'static, str>;

struct Records<R> {
    stream: R,
    offset: u64,
    left: u64,
    limits: Limits,
    spool: Spool,
    chunk: Vec<u8>,
}

impl<R: Read> Records<R> {
    /// Name of the next record, and where its contents went.
    fn next(&mut self) -> Result<Option<(String, Place)>, What> {
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
            return Err(format!("the name of a file has {name} bytes, at most {MAX_NAME}").into());
        }
        let bytes = self.bytes(u64::from(name))?;
        if bytes.len() as u64 != u64::from(name) {
            return Err("a record is cut off".into());
        }
        let name = String::from_utf8(bytes).map_err(|_| "the name of a file is not UTF-8")?;
        let plain = name
            .split_once('/')
            .is_some_and(|(exec, file)| is_exec(exec) && is_plain(file));
        if !plain {
            return Err(format!("the name of a file is {name:?}, not exec_NNNN/name").into());
        }
        let limit = self.limits.buffer_bytes.max(self.limits.json_bytes);
        let data = u64::from(data);
        if data > limit || data > self.left {
            let limit = limit.min(self.left);
            return Err(format!(
                "it unpacks to more than is read: {name} has {data} bytes, at most {limit} more are taken"
            )
            .into());
        }
        let place = self.offset;
        self.spool(data)?;
        Ok(Some((name, (place, data))))
    }

    /// At most `count` bytes; fewer at the end of the stream.
    fn bytes(&mut self, count: u64) -> Result<Vec<u8>, What> {
        let bytes = up_to(&mut self.stream, count).map_err(damaged)?;
        self.advance(bytes.len())?;
        Ok(bytes)
    }

    /// Moves contents into the spool.
    fn spool(&mut self, mut left: u64) -> Result<(), What> {
        while left > 0 {
            let count = left.min(self.chunk.len() as u64) as usize;
            let chunk = self.chunk.get_mut(..count).unwrap_or_default();
            let read = self.stream.read(chunk).map_err(damaged)?;
            let bytes = chunk.get(..read).unwrap_or_default();
            if bytes.is_empty() {
                return Err("a record is cut off".into());
            }
            let stored = self.spool.write(self.offset, bytes);
            stored.map_err(|e| format!("no room for what it unpacks to: {e}"))?;
            left -= read as u64;
            self.advance(read)?;
        }
        Ok(())
    }

    fn advance(&mut self, read: usize) -> Result<(), What> {
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or("it unpacks to more than is read")?;
        self.offset += read as u64;
        Ok(())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn damaged(error: std::io::Error) -> What {
    format!("the compressed data are damaged or cut off ({error})").into()
}
