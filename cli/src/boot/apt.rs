//! Packages of Debian by apt, with directories of its own.
//!
//! The machine's packages stay as they are, and no rights are needed. The mirror is the machine's own (sources.list(5)); apt checks signatures as always. Options are those of apt.conf(5).

mod sources;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use self::sources::mirror;
use super::{Error, Watch, last_lines, missing, output, succeeded};

/// Releases whose packages are used.
const RELEASES: [&str; 3] = ["bookworm", "trixie", "trixie-backports"];
/// Keys of Debian's archives.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// What to give where there is no apt.
pub const INSTEAD: &str = "--qemu, --kernel and --initrd take files in place of Debian's packages";

/// Apt with lists of packages of its own.
pub struct Apt<'a> {
    dir: PathBuf,
    watch: &'a dyn Watch,
}

impl<'a> Apt<'a> {
    /// Brings the lists of packages into a directory up to date. `mirror_given` is a mirror in place of the machine's.
    ///
    /// # Errors
    /// Without apt or a mirror of Debian, and when the mirror does not answer.
    pub fn new(
        dir: PathBuf,
        mirror_given: Option<&str>,
        watch: &'a dyn Watch,
    ) -> Result<Self, Error> {
        let uri = match mirror_given {
            Some(uri) => uri.to_owned(),
            None => mirror(Path::new("/etc/apt")).ok_or_else(|| {
                Error::Told(format!(
                    "apt of this machine knows no mirror of Debian; --mirror names one, or {INSTEAD}"
                ))
            })?,
        };
        if uri.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(Error::Told(format!("{uri:?} is no mirror's address")));
        }
        for part in ["lists/partial", "parts", "archives/partial"] {
            let part = dir.join(part);
            fs::create_dir_all(&part).map_err(Error::at(&part))?;
        }
        let write = |name: &str, text: &str| {
            let path = dir.join(name);
            fs::write(&path, text).map_err(Error::at(&path))
        };
        write("status", "")?;
        write("apt.conf", &configuration(&dir)?)?;
        let signed = if Path::new(KEYS).exists() {
            format!("Signed-By: {KEYS}\n")
        } else {
            String::new()
        };
        write(
            "parts/debian.sources",
            &format!(
                "Types: deb\nURIs: {uri}\nSuites: {}\nComponents: main\nArchitectures: amd64\n{signed}",
                RELEASES.join(" ")
            ),
        )?;
        let apt = Apt { dir, watch };
        watch.begins("fetching Debian's lists of packages");
        apt.get(&["update"], "lists of packages")?;
        Ok(apt)
    }

    /// Fetches packages of a release with what they depend on, and unpacks them into a directory. The version of the first one.
    ///
    /// # Errors
    /// When there is no such package, and those of apt and dpkg-deb.
    pub fn install(
        &self,
        release: &str,
        packages: &[&str],
        into: &Path,
        what: &str,
    ) -> Result<String, Error> {
        self.watch.begins(&format!("fetching {what}"));
        self.clean()?;
        let mut words = vec!["-t", release, "install", "--download-only"];
        words.extend(packages);
        self.get(&words, what)?;
        let archives = self.dir.join("archives");
        let debs = debs(&archives)?;
        for (number, deb) in debs.iter().enumerate() {
            let done = format!("unpacking {what}, {} of {}", number + 1, debs.len());
            self.watch.now(&done);
            unpack(deb, into)?;
        }
        let first = packages.first().copied().unwrap_or_default();
        let version = debs.iter().find_map(|deb| version(deb, first));
        self.clean()?;
        version.ok_or_else(|| Error::Told(format!("apt has not brought {first}")))
    }

    /// Fetches one package and nothing else, and unpacks it into a directory.
    ///
    /// # Errors
    /// Those of apt and dpkg-deb.
    pub fn download(&self, package: &str, into: &Path) -> Result<(), Error> {
        self.watch.begins(&format!("fetching {package}"));
        self.clean()?;
        self.get(&["download", package], package)?;
        let archives = self.dir.join("archives");
        self.watch.now(&format!("unpacking {package}"));
        for deb in debs(&archives)? {
            unpack(&deb, into)?;
        }
        self.clean()
    }

    /// The names of packages that begin so.
    ///
    /// # Errors
    /// Those of apt.
    pub fn names(&self, beginning: &str) -> Result<String, Error> {
        let mut command = Command::new("apt-cache");
        command.arg("-c").arg(self.dir.join("apt.conf")).args([
            "search",
            "--names-only",
            &format!("^{beginning}"),
        ]);
        let output = output(command.env("LC_ALL", "C"), "apt", INSTEAD)?;
        let text = succeeded(&command, output)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Removes archives.
    fn clean(&self) -> Result<(), Error> {
        let archives = self.dir.join("archives");
        for deb in debs(&archives)? {
            fs::remove_file(&deb).map_err(Error::at(&deb))?;
        }
        Ok(())
    }

    /// Runs apt-get; its progress goes to the [`Watch`](super::Watch).
    fn get(&self, words: &[&str], what: &str) -> Result<(), Error> {
        let mut command = Command::new("apt-get");
        command
            .arg("-c")
            .arg(self.dir.join("apt.conf"))
            .args(["-q", "-y"])
            .args(words)
            .env("LC_ALL", "C")
            .current_dir(self.dir.join("archives"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn();
        let mut child = child.map_err(|error| missing(&command, &error, "apt", INSTEAD))?;
        let mut errors = child.stderr.take();
        let reader = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = errors.as_mut().map(|e| e.read_to_end(&mut text));
            text
        });
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                if let Some(percent) = percent(&String::from_utf8_lossy(&line)) {
                    self.watch.now(&format!("{what}: {percent} %"));
                }
            }
        }
        let status = child.wait().map_err(Error::at("apt-get"))?;
        let text = reader.join().unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&text);
        let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("E:")).collect();
        Err(Error::Told(format!(
            "apt-get cannot fetch {what}:\n{}\n{INSTEAD}",
            last_lines(&errors.join("\n"), 3)
        )))
    }
}

/// The options of apt: directories of its own, and none of the commands that the machine lets apt run.
fn configuration(dir: &Path) -> Result<String, Error> {
    let path = dir
        .to_str()
        .filter(|dir| !dir.contains(['"', '\n', '\\', ';']));
    let path = path.ok_or_else(|| {
        let why = std::io::Error::other("apt cannot have its files in a directory of this name");
        Error::at(dir)(why)
    })?;
    Ok(format!(
        "#clear APT::Update;
#clear DPkg;
#clear Dir::Cache;
#clear Dir::State;
Dir::Etc::SourceList \"/dev/null\";
Dir::Etc::SourceParts \"{path}/parts\";
Dir::Etc::Preferences \"/dev/null\";
Dir::Etc::PreferencesParts \"/dev/null\";
Dir::State \"{path}\";
Dir::State::Lists \"lists\";
Dir::State::status \"{path}/status\";
Dir::Cache \"{path}\";
Dir::Cache::archives \"archives\";
APT::Sandbox::User \"root\";
APT::Default-Release \"\";
APT::Architecture \"amd64\";
APT::Architectures {{ \"amd64\"; }};
APT::Install-Recommends \"false\";
APT::Install-Suggests \"false\";
APT::Get::List-Cleanup \"true\";
APT::Keep-Downloaded-Packages \"true\";
APT::Status-Fd \"1\";
Acquire::Languages \"none\";
Acquire::Retries \"3\";
"
    ))
}

/// How far apt is, from a line of its status (apt's README.progress-reporting).
fn percent(line: &str) -> Option<u32> {
    let mut words = line.strip_prefix("dlstatus:")?.split(':').skip(1);
    words.next()?.split('.').next()?.parse().ok()
}

/// The packages in a directory.
fn debs(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(dir).map_err(Error::at(dir))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut debs: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "deb"))
        .collect();
    debs.sort();
    Ok(debs)
}

/// The version of a package's file, when it is this package.
fn version(deb: &Path, package: &str) -> Option<String> {
    let name = deb.file_name()?.to_str()?;
    let mut parts = name.split('_');
    (parts.next()? == package).then_some(())?;
    Some(parts.next()?.replace("%3a", ":"))
}

/// Unpacks a package into a directory.
///
/// # Errors
/// Without dpkg-deb, and when it finds no package.
pub fn unpack(deb: &Path, into: &Path) -> Result<(), Error> {
    let mut command = Command::new("dpkg-deb");
    command.arg("-x").arg(deb).arg(into);
    let output = output(&mut command, "dpkg", INSTEAD)?;
    succeeded(&command, output).map(drop)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn lines_of_apt_s_status() {
        // What apt 2.6 writes.
        let line = "dlstatus:8:95.5556:Retrieving file 8 of 9";
        assert_eq!(percent(line), Some(95));
        for other in [
            "Get:1 bookworm InRelease [151 kB]",
            "pmstatus:dpkg-exec:0:x",
            "dlstatus:",
            "dlstatus:1:x:y",
        ] {
            assert_eq!(percent(other), None, "{other}");
        }
    }

    #[test]
    fn versions_are_in_the_names_of_files() {
        let deb = Path::new("a/qemu-system-x86_1%3a11.1.3+ds-1~bpo13+1_amd64.deb");
        let found = version(deb, "qemu-system-x86");
        assert_eq!(found.as_deref(), Some("1:11.1.3+ds-1~bpo13+1"));
        assert_eq!(version(deb, "qemu-system"), None);
    }

    #[test]
    fn directories_that_apt_would_misread_are_refused() {
        assert!(configuration(Path::new("/var/a\";b")).is_err());
        let text = configuration(Path::new("/var/a b")).unwrap();
        assert!(text.contains("Dir::State \"/var/a b\";"));
    }
}
