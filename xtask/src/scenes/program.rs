//! The program that draws the scenes, on a device or on one of Mesa's rasterisers.
//! The programs are `tests/tools/glscenes.c` and `tests/tools/glscenes3.c`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::picture::Picture;
use crate::node::{self, Exec};

/// Pixels across and down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub width: usize,
    pub height: usize,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene {
    pub letter: char,
    /// `gles2` or `gl`.
    pub api: &'static str,
    pub size: Size,
    pub frames: usize,
}

/// Who draws.
#[derive(Clone, Copy)]
pub enum Who<'a> {
    /// A served device: its node, the platform that the program uses to reach it.
    Device(&'a Exec, &'a str),
    /// One of Mesa's software rasterisers.
    Software(&'static str),
}

impl Who<'_> {
    /// For file names and tables.
    pub fn name(&self) -> &'static str {
        match self {
            Who::Device(..) => "device",
            Who::Software(name) => name,
        }
    }
}

/// What a run gave.
#[derive(Debug, Default, PartialEq)]
pub struct Run {
    pub renderer: String,
    /// Milliseconds a frame: the mean of all but the first where there are more.
    pub ms: f64,
    /// Samples that passed, for the scene that asks.
    pub queries: Vec<u64>,
    /// Result buffers with their hashes, a line each.
    pub buffers: Vec<String>,
    /// Whether the scene was drawn without a core context.
    pub legacy: bool,
    /// None for the scene without one.
    pub picture: Option<Picture>,
    /// The most memory that the started process held, KiB.
    pub peak: u64,
}

/// The exit code of a scene that needs what GL does not offer.
const SKIPPED: i32 = 77;

/// How a scene with a name ended.
#[derive(Debug)]
pub enum Outcome {
    Ran(Run),
    /// GL does not offer what it needs: what that is.
    Skipped(String),
    /// No picture: the last that the program said.
    Failed(String),
}

/// The program, and where its files go.
pub struct Program {
    pub path: PathBuf,
    pub out: PathBuf,
    /// Seconds for a run.
    pub timeout: u64,
    /// The device's driver makes triangle strips of quad strips, so the references do. Otherwise quads are the device's own: it
    /// parts them from their last vertex, and so do the references.
    pub strips: bool,
}

impl Program {
    /// Draws; the error says why there is no picture.
    pub fn run(&self, scene: &Scene, who: Who<'_>) -> io::Result<Result<Run, String>> {
        let Scene {
            letter,
            api,
            size: Size { width, height },
            frames,
        } = *scene;
        let stem = format!("{width}x{height}-{letter}-{api}-{frames}-{}", who.name());
        // Some file systems take `d` and `D` for one name.
        let stem = stem.replace("-D-", "-dd-");
        let mut command = self.command(scene.size, frames, who, &stem);
        command.args(["-s", &letter.to_string(), "-a", api]);
        if matches!(who, Who::Software(_)) {
            // Quads are parted along the diagonal that the device or its driver chooses.
            let variable = if self.strips {
                "GLSCENES_STRIPS"
            } else {
                "GLSCENES_QUADS"
            };
            command.env(variable, "1");
        }
        let (status, text, peak) = self.wait(&mut command, &stem)?;
        let Some(mut run) = parse(&text).filter(|_| status == Some(0)) else {
            return Ok(Err(format!("{stem}: {}", last(&text))));
        };
        run.peak = peak;
        if letter != 'n' {
            let Some(picture) = self.picture(&stem)? else {
                return Ok(Err(format!("{stem}: no picture")));
            };
            run.picture = Some(picture);
        }
        Ok(Ok(run))
    }

    /// Draws a scene that has a name; `oldest` asks for the way of the oldest context, `settings` are variables of the environment.
    pub fn run_named(
        &self,
        name: &str,
        size: Size,
        frames: usize,
        oldest: bool,
        who: Who<'_>,
        settings: &[(String, String)],
    ) -> io::Result<Outcome> {
        let Size { width, height } = size;
        let stem = format!("{width}x{height}-{name}-{}", who.name());
        let mut command = self.command(size, frames, who, &stem);
        command.args(["-s", name]);
        command.envs(settings.iter().map(|(name, value)| (name, value)));
        if oldest {
            command.arg("-l");
        }
        let (status, text, peak) = self.wait(&mut command, &stem)?;
        if status == Some(SKIPPED) {
            let why = text.lines().find_map(|line| line.strip_prefix("SKIP "));
            return Ok(Outcome::Skipped(why.unwrap_or("without a word").to_owned()));
        }
        let Some(mut run) = parse(&text).filter(|_| status == Some(0)) else {
            return Ok(Outcome::Failed(format!("{stem}: {}", last(&text))));
        };
        run.peak = peak;
        run.picture = self.picture(&stem)?;
        Ok(match run.picture {
            Some(_) => Outcome::Ran(run),
            None => Outcome::Failed(format!("{stem}: no picture")),
        })
    }

    /// The program with what both of them take.
    fn command(&self, size: Size, frames: usize, who: Who<'_>, stem: &str) -> Command {
        let mut command = match who {
            Who::Device(exec, _) => exec.command("timeout"),
            Who::Software(_) => Command::new("timeout"),
        };
        command
            .args(["-k", "5", &self.timeout.to_string()])
            .arg(&self.path)
            .args([
                "-W",
                &size.width.to_string(),
                "-H",
                &size.height.to_string(),
            ])
            .args(["-n", &frames.to_string(), "-o"])
            .arg(self.out.join(format!("{stem}.ppm")));
        match who {
            Who::Device(_, platform) => {
                command.args(["-p", platform, "-d", node::NODE]);
            }
            Who::Software(rasteriser) => node::software(&mut command, rasteriser),
        }
        command
            .env("GLSCENES_QUERY", "1")
            .env("MESA_SHADER_CACHE_DISABLE", "true");
        command
    }

    /// Runs a command: its exit code, what it printed, the peak of its memory in KiB.
    fn wait(&self, command: &mut Command, stem: &str) -> io::Result<(Option<i32>, String, u64)> {
        let log = self.out.join(format!("{stem}.log"));
        let output = File::create(&log)?;
        command.stdout(output.try_clone()?).stderr(output);
        let (status, peak) = watch(command)?;
        let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        Ok((status, text, peak))
    }

    /// The picture that a run left, kept as a PNG.
    fn picture(&self, stem: &str) -> io::Result<Option<Picture>> {
        let ppm = self.out.join(format!("{stem}.ppm"));
        let Some(picture) = fs::read(&ppm).ok().as_deref().and_then(Picture::from_ppm) else {
            return Ok(None);
        };
        picture.write(&self.out.join(format!("{stem}.png")))?;
        fs::remove_file(&ppm)?;
        Ok(Some(picture))
    }

    /// Writes where two pictures differ.
    pub fn write_difference(&self, scene: &Scene, a: &Picture, b: &Picture) -> io::Result<()> {
        let Size { width, height } = scene.size;
        let letter = match scene.letter {
            'D' => "dd".to_owned(),
            letter => letter.to_string(),
        };
        let name = format!("{width}x{height}-{letter}-{}-difference.png", scene.api);
        a.apart(b).write(&self.out.join(name))
    }
}

/// The last line of a program's output.
fn last(text: &str) -> &str {
    text.lines().last().unwrap_or("no output")
}

/// Waits for a command; its exit code, none after a signal, and the peak of its memory in KiB.
fn watch(command: &mut Command) -> io::Result<(Option<i32>, u64)> {
    let mut child = command.spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        peak = peak.max(memory(Path::new(&status)));
        if let Some(status) = child.try_wait()? {
            return Ok((status.code(), peak));
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// `VmHWM` of a process, KiB; 0 when it is gone.
fn memory(status: &Path) -> u64 {
    let text = fs::read_to_string(status).unwrap_or_default();
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// What the program printed; none without its renderer.
fn parse(text: &str) -> Option<Run> {
    let mut run = Run::default();
    for line in text.lines() {
        if let Some(renderer) = line.strip_prefix("GL_RENDERER=") {
            renderer.clone_into(&mut run.renderer);
        } else if let Some((_, samples)) = line.split_once(" samples=") {
            run.queries.push(samples.parse().ok()?);
        } else if let Some(buffer) = line.strip_prefix("BUFFER ") {
            run.buffers.push(buffer.to_owned());
        } else if line.starts_with("RESULT ") {
            run.legacy = line.contains("-compat ");
            let word = |key: &str| {
                let mut words = line.split(' ').filter_map(|word| word.strip_prefix(key));
                words.next()?.strip_suffix("ms")?.parse::<f64>().ok()
            };
            run.ms = word("avg=").or_else(|| word("first="))?;
        }
    }
    (!run.renderer.is_empty()).then_some(run)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn output() {
        // Printed by glscenes on llvmpipe.
        let text = "EGL 1.5  vendor=Mesa Project\nGL_VENDOR=Mesa/X.org\n\
            GL_RENDERER=llvmpipe (LLVM 15.0.6, 256 bits)\nQUERY 0 samples=22156\nQUERY 1 samples=15072\n\
            RESULT scene=o 256x256 tris=0 frames=3 first=91.689ms avg=0.186ms min=0.161ms readpix=0.020ms fnv=d172\n";
        let run = parse(text).unwrap();
        assert_eq!(run.renderer, "llvmpipe (LLVM 15.0.6, 256 bits)");
        assert_eq!(run.queries, [22156, 15072]);
        assert_eq!(run.ms, 0.186);
        let one = text.replace("avg=0.186ms ", "");
        assert_eq!(parse(&one).unwrap().ms, 91.689);
        // Printed by glscenes3 on llvmpipe.
        let text = "GL_RENDERER=llvmpipe (LLVM 15.0.6, 256 bits)\n\
            BUFFER scene=intrt what=r32f bytes=16384 fnv=3a2bbd0c9be5ac25\n\
            RESULT scene=intrt 256x256 gl=4.5-compat tris=34 first=77.093ms readpix=0.057ms fnv=7a0a8b\n";
        let run = parse(text).unwrap();
        assert_eq!(
            run.buffers,
            ["scene=intrt what=r32f bytes=16384 fnv=3a2bbd0c9be5ac25"]
        );
        assert!(run.legacy);
        assert!(!parse(&text.replace("-compat", "")).unwrap().legacy);
        assert_eq!(parse("FATAL eglInitialize egl=0x3001\n"), None);
    }

    #[test]
    fn memory_of_a_process() {
        assert!(memory(Path::new("/proc/self/status")) > 500);
        assert_eq!(memory(Path::new("/proc/none")), 0);
    }
}
