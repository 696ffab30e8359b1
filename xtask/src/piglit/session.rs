//! A run of piglit that can be interrupted: what is done stays, the rest follows.
//! Each start is a numbered directory of slices; results of a slice count when the
//! renderer behind it was the wanted one before and after.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;
use std::{fs, io, thread};

use super::names::{self, Profile};
use super::results::{self, Kind, Outcomes};
use crate::progress::Progress;

/// Tests of one call of piglit; the renderer is looked at between them.
const SLICE: usize = 3000;
/// What runs inside: $1 platform, $2 renderer, $3 jobs, $4 timeout, $5 directory, then slices.
/// A slice is PROFILE.NUMBER; its list of tests is there already.
const SCRIPT: &str = r#"
platform=$1 renderer=$2 jobs=$3 timeout=$4 dir=$5
shift 5
probe() {
    wflinfo --platform "$platform" --api gl >"$1" 2>&1
    grep -q "renderer string:.*$renderer" "$1"
}
probe "$dir/probe" || exit 3
for slice; do
    piglit run -p "$platform" -j "$jobs" -l quiet --timeout "$timeout" \
        --test-list "$dir/$slice.list" "${slice%.*}" "$dir/$slice" >"$dir/$slice.log" 2>&1
    probe "$dir/$slice.probe" || exit 3
done
"#;

/// Where and how tests run.
pub struct Session<'a> {
    /// Results; one directory for each start.
    pub directory: PathBuf,
    /// Waffle's name of the window system.
    pub platform: &'a str,
    /// What the renderer's name has in it.
    pub renderer: &'a str,
    /// Tests at a time.
    pub jobs: usize,
    /// Seconds for one test.
    pub timeout: u64,
    /// Whatever else the results depend on.
    pub stamp: String,
}

/// What a session has so far.
pub struct Done {
    pub outcomes: Outcomes,
    /// The renderer's own name.
    pub renderer: String,
    /// Whether every test that can have an outcome has one.
    pub complete: bool,
}

impl Session<'_> {
    /// Runs what is left of the profiles; `shell` makes the command that runs `sh`.
    pub fn run(&self, profiles: &[Profile], shell: &dyn Fn() -> Command) -> io::Result<Done> {
        self.same_as_before(profiles)?;
        let before = self.gather()?;
        let left = left(profiles, &before);
        let wanted = wanted(profiles);
        let number: usize = left.iter().map(|profile| profile.tests.len()).sum();
        if number == 0 {
            return self.finish(before, profiles);
        }
        println!(
            "{number} of {wanted} tests to run, {} at a time, in {}",
            self.jobs,
            self.directory.display()
        );
        let directory = self.start()?;
        let slices = write_lists(&directory, &left)?;
        let mut command = shell();
        command
            .args(["-c", SCRIPT, "sh", self.platform, self.renderer])
            .args([self.jobs.to_string(), self.timeout.to_string()])
            .arg(&directory)
            .args(&slices)
            .env("PIGLIT_COMPRESSION", "none")
            .env("MESA_SHADER_CACHE_DISABLE", "true")
            // Without Mesa's thread between program and driver: with it, crocus grows its program cache from two threads
            // at once, with no lock (crocus_program_cache.c), and some draws have the kernels of neither.
            .env("GALLIUM_THREAD", "0");
        let status = watch(command.spawn()?, Results::new(&directory, &slices), number)?;
        let outcomes = self.gather()?;
        self.judge(status, &directory)?;
        self.finish(outcomes, profiles)
    }

    /// What is there; nothing runs.
    pub fn so_far(&self, profiles: &[Profile]) -> io::Result<Done> {
        self.finish(self.gather()?, profiles)
    }

    /// A directory for this start.
    fn start(&self) -> io::Result<PathBuf> {
        let free = (0..).map(|i: u32| self.directory.join(i.to_string()));
        let mut free = free.skip_while(|path| path.exists());
        let path = free.next().unwrap_or_default();
        fs::create_dir_all(&path)?;
        path.canonicalize()
    }

    /// Results of another selection, program or configuration are no beginning of this run.
    fn same_as_before(&self, profiles: &[Profile]) -> io::Result<()> {
        let names = profiles.iter().flat_map(|profile| &profile.tests);
        let now = format!(
            "tests {:016x}\nplatform {}\nrenderer {}\ntimeout {}\nprogram {}\n",
            names::fingerprint(names.map(String::as_str)),
            self.platform,
            self.renderer,
            self.timeout,
            self.stamp
        );
        let file = self.directory.join("run-of");
        if fs::read_to_string(&file).is_ok_and(|before| before != now) {
            println!("another selection, timeout or program than before: from the beginning");
            fs::remove_dir_all(&self.directory)?;
        }
        fs::create_dir_all(&self.directory)?;
        fs::write(file, now)
    }

    /// Outcomes of all starts; a slice whose renderer had changed by its end counts for nothing.
    fn gather(&self) -> io::Result<Outcomes> {
        let mut outcomes = Outcomes::new();
        for start in directories(&self.directory)? {
            for slice in directories(&start)? {
                let probe = slice.with_added("probe");
                if !probe.exists() || self.is_ours(&probe) {
                    results::read_run(&slice, &mut outcomes)?;
                }
            }
        }
        Ok(outcomes)
    }

    fn is_ours(&self, probe: &Path) -> bool {
        renderer(probe).is_some_and(|name| name.contains(self.renderer))
    }

    /// Says why a run ended early.
    fn judge(&self, status: ExitStatus, directory: &Path) -> io::Result<()> {
        if status.success() {
            return Ok(());
        }
        let mut probes = vec![directory.join("probe")];
        for slice in directories(directory)? {
            probes.push(slice.with_added("probe"));
        }
        let wrong = |path: &&PathBuf| path.exists() && !self.is_ours(path);
        if let Some(path) = probes.iter().find(wrong) {
            let said = renderer(path).unwrap_or_else(|| "none".to_owned());
            return Err(io::Error::other(format!(
                "the renderer is not {:?} but {said:?}, see {}; results of that slice do not count",
                self.renderer,
                path.display()
            )));
        }
        Err(io::Error::other(format!(
            "the run ended with {status}; what is done stays, the same command goes on"
        )))
    }

    fn finish(&self, outcomes: Outcomes, profiles: &[Profile]) -> io::Result<Done> {
        let mut name = None;
        for start in directories(&self.directory)? {
            name = name.or(renderer(&start.join("probe")));
        }
        Ok(Done {
            complete: left(profiles, &outcomes)
                .iter()
                .flat_map(|profile| &profile.tests)
                .all(|test| names::SILENT.contains(&test.as_str())),
            outcomes,
            renderer: name.unwrap_or_default(),
        })
    }
}

trait WithAdded {
    fn with_added(&self, extension: &str) -> PathBuf;
}

impl WithAdded for PathBuf {
    /// `a/quick_gl.0` becomes `a/quick_gl.0.probe`.
    fn with_added(&self, extension: &str) -> PathBuf {
        let mut path = self.clone().into_os_string();
        path.push(".");
        path.push(extension);
        path.into()
    }
}

/// What `wflinfo` wrote about the renderer.
fn renderer(probe: &Path) -> Option<String> {
    let text = fs::read(probe).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut names = text
        .lines()
        .filter_map(|line| line.strip_prefix("OpenGL renderer string: "));
    names.next().map(str::to_owned)
}

/// Directories in a directory, sorted; none where it is missing.
fn directories(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if path.exists() {
        for entry in fs::read_dir(path)? {
            found.push(entry?.path());
        }
    }
    found.retain(|path| path.is_dir());
    found.sort();
    Ok(found)
}

fn wanted(profiles: &[Profile]) -> usize {
    profiles.iter().map(|profile| profile.tests.len()).sum()
}

fn left(profiles: &[Profile], done: &Outcomes) -> Vec<Profile> {
    let mut left = profiles.to_vec();
    for profile in &mut left {
        profile.tests.retain(|test| !done.contains_key(test));
    }
    left
}

/// Writes `PROFILE.NUMBER.list` for every slice.
fn write_lists(directory: &Path, profiles: &[Profile]) -> io::Result<Vec<String>> {
    let mut slices = Vec::new();
    for profile in profiles {
        for (i, tests) in profile.tests.chunks(SLICE).enumerate() {
            let name = format!("{}.{i}", profile.name);
            fs::write(
                directory.join(format!("{name}.list")),
                tests.join("\n") + "\n",
            )?;
            slices.push(name);
        }
    }
    Ok(slices)
}

/// Waits for the child and shows how far it is.
fn watch(mut child: Child, mut results: Results, wanted: usize) -> io::Result<ExitStatus> {
    let mut progress = Progress::new(wanted as u64);
    loop {
        let ended = child.try_wait()?;
        results.look();
        progress.at(results.done() as u64, results.words());
        if let Some(status) = ended {
            progress.end();
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// Counts the files that a running piglit leaves: one for each test, `N.json`.
struct Results {
    slices: Vec<PathBuf>,
    /// The slice that runs, and the number of its next file.
    slice: usize,
    file: usize,
    /// Files of tests that had not ended when they were looked at.
    open: Vec<PathBuf>,
    counts: [usize; 7],
}

impl Results {
    fn new(directory: &Path, slices: &[String]) -> Self {
        Results {
            slices: slices.iter().map(|slice| directory.join(slice)).collect(),
            slice: 0,
            file: 0,
            open: Vec::new(),
            counts: [0; 7],
        }
    }

    fn look(&mut self) {
        while let Some(slice) = self.slices.get(self.slice) {
            if slice.join("results.json").exists() {
                self.whole(&slice.clone());
                continue;
            }
            let tests = slice.join("tests");
            loop {
                let path = tests.join(format!("{}.json", self.file));
                if !path.exists() {
                    break;
                }
                self.open.push(path);
                self.file += 1;
            }
            let open = std::mem::take(&mut self.open);
            for path in open {
                match results::read_test(&path) {
                    Some((_, test)) if test.kind != Kind::Incomplete => {
                        self.counts[test.kind as usize] += 1;
                    }
                    _ => self.open.push(path),
                }
            }
            return;
        }
    }

    /// A slice has ended: what was not seen of it is in its file.
    fn whole(&mut self, slice: &Path) {
        // Counted anew from all slices that have ended, so that nothing counts twice.
        self.slice += 1;
        self.file = 0;
        self.open.clear();
        let mut outcomes = Outcomes::new();
        for ended in self.slices.iter().take(self.slice) {
            // The file of a slice can be unreadable for a moment while it is written.
            if results::read_run(ended, &mut outcomes).is_err() && ended == slice {
                thread::sleep(Duration::from_secs(1));
                let _ = results::read_run(ended, &mut outcomes);
            }
        }
        self.counts = count(&outcomes);
    }

    fn done(&self) -> usize {
        self.counts.iter().sum()
    }

    /// How many ended in each way.
    fn words(&self) -> String {
        let kinds = [
            Kind::Pass,
            Kind::Warn,
            Kind::Fail,
            Kind::Crash,
            Kind::Timeout,
            Kind::Skip,
        ];
        let counted = kinds.map(|kind| (kind.word(), self.counts[kind as usize]));
        let words = counted.iter().filter(|(_, number)| *number > 0);
        let words: Vec<String> = words.map(|(kind, n)| format!("{kind} {n}")).collect();
        words.join("  ")
    }
}

/// How many ended in each way, by `Kind as usize`.
pub fn count(outcomes: &Outcomes) -> [usize; 7] {
    let mut counts = [0; 7];
    for outcome in outcomes.values() {
        counts[outcome.kind as usize] += 1;
    }
    counts
}

#[cfg(test)]
mod tests;
