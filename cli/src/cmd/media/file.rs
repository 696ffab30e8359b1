//! Files of `crestline media run`: what they are, reading, writing.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crestline_cli::media::{Format, Shape, Surface, View};
use crestline_cli::number;
use crestline_cli::shown;
use kernel::string_helpers::Counted;

use super::picture;
use super::sink::Sink;
use crate::cmd::{Error, source};

/// What files without a word of their own are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Pixels across.
    pub width: Option<u32>,
    /// Pixels down.
    pub height: Option<u32>,
    /// Bytes from row to row in the file.
    pub pitch: Option<u32>,
    /// Format of the pixels.
    pub format: Option<Format>,
    /// Bytes, of an output that is a buffer.
    pub size: Option<u32>,
    /// What the kernel sees.
    pub seen: Option<Seen>,
}

/// What the kernel sees of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Seen {
    /// Bytes one after the other, for OWord and scattered messages.
    Buffer,
    /// Rows of pixels, for media blocks.
    Image,
}

impl Layout {
    /// This, and where it says nothing the other.
    fn or(self, other: Layout) -> Layout {
        Layout {
            width: self.width.or(other.width),
            height: self.height.or(other.height),
            pitch: self.pitch.or(other.pitch),
            format: self.format.or(other.format),
            size: self.size.or(other.size),
            seen: self.seen.or(other.seen),
        }
    }

    /// Width and height, when both are said.
    fn shape(self) -> Result<Option<Shape>, &'static str> {
        match (self.width, self.height) {
            (Some(width), Some(height)) => Ok(Some(Shape {
                width,
                height,
                format: self.format.unwrap_or(Format::R8),
            })),
            (None, None) if self.seen == Some(Seen::Image) => {
                Err("an image needs its width and height")
            }
            (None, None) => Ok(None),
            _ => Err("width and height belong together: one of them is missing"),
        }
    }
}

/// `FILE[,KEY=VALUE..]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileArg {
    /// The file.
    pub path: PathBuf,
    /// What stands behind it.
    pub layout: Layout,
}

const KEYS: &str = "width height pitch format size view";

/// Most bytes of an output.
const MAX_FILE: u64 = 1 << 30;

/// An input on the command line.
pub fn input(text: &str) -> Result<FileArg, String> {
    let arg: FileArg = text.parse()?;
    match arg.layout.size {
        Some(_) => Err("an input is as large as its file: size is a key of outputs".to_owned()),
        None => Ok(arg),
    }
}

impl FromStr for FileArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',');
        let path = parts.next().unwrap_or_default();
        if path.is_empty() {
            return Err("expected FILE, or FILE,KEY=VALUE,...".to_owned());
        }
        let mut layout = Layout::default();
        let mut keys = Vec::new();
        for part in parts {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}`: expected KEY=VALUE; keys are {KEYS}"))?;
            if keys.contains(&key) {
                return Err(format!("`{part}`: {key} is there twice"));
            }
            keys.push(key);
            let count = || {
                number::either(value)
                    .and_then(|n| u32::try_from(n).ok())
                    .ok_or_else(|| format!("`{part}`: `{value}` is not a number"))
            };
            match key {
                "width" => layout.width = Some(count()?),
                "height" => layout.height = Some(count()?),
                "pitch" => layout.pitch = Some(count()?),
                "size" => layout.size = Some(count()?),
                "format" => layout.format = Some(value.parse()?),
                "view" => {
                    layout.seen = Some(
                        clap::ValueEnum::from_str(value, true)
                            .map_err(|_| format!("`{part}`: a view is buffer or image"))?,
                    );
                }
                _ => return Err(format!("`{part}`: no such key; keys are {KEYS}")),
            }
        }
        let arg = FileArg {
            path: path.into(),
            layout,
        };
        match arg.foreign_suffix() {
            Some(suffix) => Err(format!(
                "{path}: pictures are PNG here, and .{suffix} is another form: .png is a picture, any other name \
                 (.raw, .bin) raw bytes"
            )),
            None => Ok(arg),
        }
    }
}

/// Suffixes of pictures that are neither read nor written.
const FOREIGN: [&str; 16] = [
    "jpg", "jpeg", "jpe", "gif", "bmp", "tif", "tiff", "webp", "avif", "heic", "pnm", "ppm", "pgm",
    "pbm", "tga", "dds",
];

/// The suffix of a file that promises a picture of another form than PNG.
pub fn foreign_suffix(path: &Path) -> Option<String> {
    let suffix = path.extension()?.to_str()?.to_ascii_lowercase();
    FOREIGN.contains(&suffix.as_str()).then_some(suffix)
}

impl FileArg {
    fn name(&self) -> String {
        shown::path(&self.path)
    }

    /// The suffix, when it promises a picture that would not be one.
    fn foreign_suffix(&self) -> Option<String> {
        foreign_suffix(&self.path)
    }

    fn is_png(&self) -> bool {
        let suffix = self.path.extension();
        suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case("png"))
    }

    /// Reads an input.
    pub fn load(&self, defaults: Layout) -> Result<Bound, Error> {
        let name = self.name();
        let wrong = |what: &str| Error::from(format!("{name}: {what}"));
        let (_, bytes) = source::bytes(&self.path)?;
        if self.is_png() {
            // What the picture says itself counts.
            let format = self.layout.format.or(defaults.format);
            let (shape, bytes) = picture::read(&bytes, format).map_err(|why| wrong(&why))?;
            let said = (self.layout.width, self.layout.height);
            if said.0.is_some_and(|w| w != shape.width) || said.1.is_some_and(|h| h != shape.height)
            {
                let what = format!("the picture has {}x{} pixels", shape.width, shape.height);
                return Err(wrong(&what));
            }
            let seen = self.layout.seen.or(defaults.seen).unwrap_or(Seen::Image);
            return Ok(self.bind(Some(shape), None, bytes, seen));
        }
        let layout = self.layout.or(defaults);
        let Some(shape) = layout.shape().map_err(wrong)? else {
            if bytes.is_empty() {
                return Err(wrong("the file is empty"));
            }
            return Ok(self.bind(None, None, bytes, Seen::Buffer));
        };
        let pitch = pitch(shape, layout.pitch).map_err(|why| wrong(&why))?;
        let needed = pitch * (shape.height as usize).saturating_sub(1) + shape.row();
        if bytes.len() < needed {
            return Err(wrong(&format!(
                "{} in the file, but {}x{} pixels of {} in rows of {pitch} bytes need {needed}",
                Counted(bytes.len(), "byte"),
                shape.width,
                shape.height,
                shape.format.name()
            )));
        }
        let rows = bytes.chunks(pitch.max(1)).take(shape.height as usize);
        let packed = rows
            .flat_map(|row| row.iter().take(shape.row()))
            .copied()
            .collect();
        let mut bound = self.bind(
            Some(shape),
            Some(pitch),
            packed,
            layout.seen.unwrap_or(Seen::Image),
        );
        bound.assumed = layout.format.is_none();
        Ok(bound)
    }

    /// An output, empty as yet; what its description leaves open is as of the first input.
    pub fn empty(&self, defaults: Layout, first: Option<&Bound>) -> Result<Bound, Error> {
        let name = self.name();
        let wrong = |what: &str| Error::from(format!("{name}: {what}"));
        let own = self.layout;
        if let Some(size) = own.size {
            if own.width.is_some() || own.height.is_some() || own.seen == Some(Seen::Image) {
                return Err(wrong("an image has width and height, a buffer has a size"));
            }
            if u64::from(size) > MAX_FILE {
                return Err(wrong(&format!(
                    "size={size} is too much: an output has at most {MAX_FILE} bytes"
                )));
            }
            return self.buffer(size as usize);
        }
        let layout = own.or(defaults);
        let mut shape = layout.shape().map_err(|what| {
            // The first input may have what is missing.
            wrong(what)
        });
        if own.width.is_none()
            && own.height.is_none()
            && let Some(like) = first.and_then(|first| first.shape)
        {
            shape = Ok(Some(Shape {
                format: own.format.or(defaults.format).unwrap_or(like.format),
                ..like
            }));
        }
        let Some(shape) = shape? else {
            let first = first.ok_or_else(|| {
                wrong("how large is it? Say size=BYTES, or width=.. and height=.., behind the name")
            })?;
            return self.buffer(first.surface.size());
        };
        if self.is_png() && !matches!(shape.format, Format::R8 | Format::Rgba8 | Format::Bgra8) {
            return Err(wrong(&format!(
                "{} is not a format of a picture: PNG holds r8, rgba8 and bgra8",
                shape.format.name()
            )));
        }
        let pitch = pitch(shape, layout.pitch).map_err(|why| wrong(&why))?;
        let bytes = (pitch as u64).saturating_mul(u64::from(shape.height));
        if bytes > MAX_FILE {
            return Err(wrong(&format!(
                "pitch={pitch} is too much: {} rows are {bytes} bytes, and an output has at most {MAX_FILE}",
                shape.height
            )));
        }
        let like = first.map(|first| first.seen);
        let seen = layout.seen.or(like).unwrap_or(Seen::Image);
        Ok(self.bind(Some(shape), Some(pitch), Vec::new(), seen))
    }

    /// An output that is a buffer.
    fn buffer(&self, size: usize) -> Result<Bound, Error> {
        if self.is_png() {
            return Err(format!(
                "{}: a picture needs width and height: write {},width=W,height=H, or name an input that has them",
                self.name(),
                self.name()
            )
            .into());
        }
        Ok(self.bind_size(size))
    }

    fn bind_size(&self, size: usize) -> Bound {
        Bound {
            path: self.path.clone(),
            shape: None,
            assumed: false,
            pitch: None,
            seen: Seen::Buffer,
            surface: Surface {
                name: self.name(),
                view: View::Buffer(size),
                bytes: Vec::new(),
            },
        }
    }

    fn bind(
        &self,
        shape: Option<Shape>,
        pitch: Option<usize>,
        bytes: Vec<u8>,
        seen: Seen,
    ) -> Bound {
        let view = match (shape, seen) {
            (Some(shape), Seen::Image) => View::Image(shape),
            (Some(shape), Seen::Buffer) => View::Buffer(shape.bytes()),
            (None, _) => View::Buffer(bytes.len()),
        };
        Bound {
            path: self.path.clone(),
            shape,
            assumed: false,
            pitch,
            seen,
            surface: Surface {
                name: self.name(),
                view,
                bytes,
            },
        }
    }
}

/// Bytes from row to row in a raw file.
fn pitch(shape: Shape, said: Option<u32>) -> Result<usize, String> {
    shape.check().map_err(|error| error.to_string())?;
    let pitch = said.map_or(shape.row(), |pitch| pitch as usize);
    if pitch < shape.row() {
        return Err(format!(
            "rows of {pitch} bytes are too short for {} pixels of {}",
            shape.width,
            shape.format.name()
        ));
    }
    Ok(pitch)
}

/// A file with its surface.
pub struct Bound {
    /// The file.
    pub path: PathBuf,
    /// Width, height and format, when there are any.
    pub shape: Option<Shape>,
    /// Nobody has said the format.
    pub assumed: bool,
    pitch: Option<usize>,
    seen: Seen,
    /// What the kernel gets.
    pub surface: Surface,
}

impl Bound {
    /// Writes an output: `surface` has the contents. Returns what was written, in words.
    pub fn store(&self, sink: &mut Sink, surface: &Surface) -> Result<String, Error> {
        let bytes = &surface.bytes;
        let suffix = self.path.extension();
        sink.write(|out| match self.shape {
            Some(shape) if suffix.is_some_and(|s| s.eq_ignore_ascii_case("png")) => {
                picture::write(out, shape, bytes)
            }
            Some(shape) => write_rows(out, shape, self.pitch.unwrap_or(shape.row()), bytes),
            None => Ok(out.write_all(bytes)?),
        })?;
        let name = sink.name();
        Ok(match self.shape {
            Some(shape) => format!(
                "{name}: {}x{} {}",
                shape.width,
                shape.height,
                shape.format.name()
            ),
            None => format!("{name}: {}", Counted(bytes.len(), "byte")),
        })
    }
}

fn write_rows(out: &mut dyn Write, shape: Shape, pitch: usize, bytes: &[u8]) -> Result<(), Error> {
    let room = vec![0; pitch - shape.row().min(pitch)];
    for row in bytes.chunks(shape.row().max(1)) {
        out.write_all(row)?;
        out.write_all(&room)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::path::Path;

    #[test]
    fn a_file_and_what_it_is() {
        let arg: FileArg = "a.bin,width=17,height=0x10,pitch=32,format=rg8,view=image"
            .parse()
            .unwrap();
        assert_eq!(arg.path, Path::new("a.bin"));
        let layout = Layout {
            width: Some(17),
            height: Some(16),
            pitch: Some(32),
            format: Some(Format::Rg8),
            size: None,
            seen: Some(Seen::Image),
        };
        assert_eq!(arg.layout, layout);
        for (text, error) in [
            ("", "expected FILE"),
            (",width=1", "expected FILE"),
            ("a,width", "expected KEY=VALUE"),
            ("a,width=-1", "`-1` is not a number"),
            ("a,size=4294967296", "is not a number"),
            ("a,format=r9", "unknown format `r9`"),
            ("a,view=none", "a view is buffer or image"),
            ("a,depth=1", "no such key"),
            ("a,width=1,height=2,width=1", "width is there twice"),
        ] {
            let said = text.parse::<FileArg>().unwrap_err();
            assert!(said.contains(error), "{text}: {said}");
        }
    }

    #[test]
    fn inputs_have_the_size_of_their_files() {
        assert!(input("a.bin,pitch=3").is_ok());
        assert!(input("a.bin,size=3").unwrap_err().contains("outputs"));
    }
}
