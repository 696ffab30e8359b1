//! QEMU, the guest's tree and its kernel: given, kept, or fetched.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::apt::{Apt, unpack};
use super::cache::{Cache, Making};
use super::kernel::{self, Kernel};
use super::qemu::{self, Qemu};
use super::tree::{self, Tree};
use super::{Error, Watch};
use crate::shown;

/// Names of pieces in the cache.
const QEMU: &str = "qemu";
const TREE: &str = "tree";

/// What the user has said of them.
#[derive(Debug, Default)]
pub struct Given<'a> {
    /// QEMU's file.
    pub qemu: Option<&'a Path>,
    /// An archive of guest files.
    pub initrd: Option<&'a Path>,
    /// A number such as 6.1, a package's file, or an image.
    pub kernel: &'a str,
    /// The modules of an image.
    pub modules: Option<&'a Path>,
    /// A mirror of Debian.
    pub mirror: Option<&'a str>,
    /// Whether pieces are fetched though they are there.
    pub refresh: bool,
}

/// All that a machine is made of.
pub struct Pieces {
    /// QEMU.
    pub qemu: Qemu,
    /// The guest's files.
    pub tree: Tree,
    /// Its kernel.
    pub kernel: Kernel,
    /// Files of this run.
    _passing: Option<tempfile::TempDir>,
}

/// Where a kernel comes from.
enum Source<'a> {
    Number(&'a str),
    Package(&'a Path),
    Image(&'a Path),
}

impl<'a> Source<'a> {
    fn of(text: &'a str) -> Result<Self, Error> {
        if kernel::is_number(text) {
            return Ok(Source::Number(text));
        }
        let path = Path::new(text);
        let meta = fs::metadata(path).map_err(Error::at(path))?;
        if meta.is_dir() {
            return Err(Error::Told(format!(
                "{}: this is a directory; --kernel takes a number such as 6.1, a Debian package, or a kernel's image with --modules DIR",
                shown::path(path)
            )));
        }
        let is_package = path.extension().is_some_and(|end| end == "deb");
        Ok(if is_package {
            Source::Package(path)
        } else {
            Source::Image(path)
        })
    }

    /// The name of its piece in the cache.
    fn piece(&self) -> Result<Option<String>, Error> {
        Ok(match self {
            Source::Number(number) => Some(format!("kernel-{number}")),
            Source::Package(path) => {
                let meta = fs::metadata(path).map_err(Error::at(path))?;
                let (size, changed) = (meta.len(), meta.mtime());
                let name = path.file_name().unwrap_or_default();
                let name: String = name
                    .to_string_lossy()
                    .chars()
                    .filter(|c| c.is_ascii_alphanumeric() || "+-._~".contains(*c))
                    .collect();
                Some(format!("package-{name}-{size}-{changed}"))
            }
            Source::Image(_) => None,
        })
    }
}

/// QEMU where the user, the variable or PATH says; none where packages have to be asked.
fn qemu_here(given: &Given<'_>) -> Result<Option<Qemu>, Error> {
    if let Some(path) = given.qemu {
        return Qemu::at(path).map(Some);
    }
    if let Some(path) = std::env::var_os(qemu::VARIABLE) {
        let found = Qemu::at(Path::new(&path));
        return found
            .map(Some)
            .map_err(|error| Error::Told(format!("{}: {error}", qemu::VARIABLE)));
    }
    Ok(Qemu::in_path())
}

/// Brings all pieces together; what is missing is fetched.
///
/// # Errors
/// When something that is given is not fit, and when what is missing cannot be fetched: with the option that gives it.
pub fn collect(given: &Given<'_>, dir: PathBuf, watch: &dyn Watch) -> Result<Pieces, Error> {
    let source = Source::of(given.kernel)?;
    let kernel_piece = source.piece()?;
    let here = qemu_here(given)?;
    let cache = Cache::at(dir);
    let own_tree = given.initrd.map(Tree::given).transpose()?;
    let mut wanted = Vec::new();
    if own_tree.is_none() {
        wanted.push(TREE);
    }
    if here.is_none() {
        wanted.push(QEMU);
    }
    wanted.extend(kernel_piece.as_deref());
    let is_missing = |name: &&str| cache.piece(name).is_none();
    if given.refresh || wanted.iter().any(is_missing) {
        let making = cache.making(|| {
            watch.begins("another crestline fetches what is missing: waiting for it");
        })?;
        let missing: Vec<&str> = wanted
            .into_iter()
            .filter(|name| given.refresh || is_missing(name))
            .collect();
        let maker = Maker {
            cache: &cache,
            making: &making,
            watch,
            source: &source,
            own_tree: own_tree.as_ref(),
        };
        maker.make_all(&missing, given.mirror)?;
    }
    let piece = |name: &str| {
        let gone = || Error::Told(format!("{name} is not in the cache any more"));
        cache.piece(name).ok_or_else(gone)
    };
    let qemu = match here {
        Some(qemu) => qemu,
        None => Qemu::of_piece(&piece(QEMU)?),
    };
    let tree = match own_tree {
        Some(tree) => tree,
        None => Tree::of_piece(&piece(TREE)?)?,
    };
    let (kernel, passing) = match (&kernel_piece, &source) {
        (Some(name), _) => (Kernel::of_piece(&piece(name)?), None),
        (None, Source::Image(image)) => {
            let passing = tempfile::tempdir().map_err(Error::at(std::env::temp_dir()))?;
            let kernel = kernel::image(image, given.modules, passing.path())?;
            (kernel, Some(passing))
        }
        (None, _) => return Err(Error::Told("there is no kernel".to_owned())),
    };
    Ok(Pieces {
        qemu,
        tree,
        kernel,
        _passing: passing,
    })
}

/// What making pieces needs.
struct Maker<'a> {
    cache: &'a Cache,
    making: &'a Making<'a>,
    watch: &'a dyn Watch,
    source: &'a Source<'a>,
    own_tree: Option<&'a Tree>,
}

impl Maker<'_> {
    /// Makes pieces. The tree comes before the kernel, whose modules are indexed by a program of it.
    fn make_all(&self, names: &[&str], mirror: Option<&str>) -> Result<(), Error> {
        let is_package = matches!(self.source, Source::Package(_));
        let needs_apt = names
            .iter()
            .any(|name| [TREE, QEMU].contains(name) || !is_package);
        let apt = if needs_apt {
            Some(Apt::new(self.making.scratch("apt")?, mirror, self.watch)?)
        } else {
            None
        };
        for name in names {
            match (*name, &apt) {
                (TREE, Some(apt)) => {
                    let fill = |dir: &Path| tree::fill(apt, dir, self.watch);
                    self.making.make(TREE, fill)?;
                }
                (QEMU, Some(apt)) => {
                    self.making.make(QEMU, |dir| Qemu::fill(apt, dir))?;
                }
                (name, apt) => self.kernel(name, apt.as_ref())?,
            }
        }
        Ok(())
    }

    fn kernel(&self, name: &str, apt: Option<&Apt<'_>>) -> Result<(), Error> {
        let own;
        let tree = match (self.own_tree, self.cache.piece(TREE)) {
            (Some(tree), _) => tree,
            (None, Some(dir)) => {
                own = Tree::of_piece(&dir)?;
                &own
            }
            (None, None) => return Err(Error::Told("there are no guest files".to_owned())),
        };
        let scratch = self.making.passing()?;
        let root = scratch.path();
        self.making.make(name, |dir| match (self.source, apt) {
            (Source::Number(number), Some(apt)) => {
                kernel::fill(apt, number, dir, root, tree.depmod())
            }
            (Source::Package(deb), _) => {
                self.watch
                    .begins(&format!("unpacking {}", shown::path(deb)));
                unpack(deb, root)?;
                kernel::unpacked(root, dir, tree.depmod())
            }
            _ => Err(Error::Told("there is no kernel to fetch".to_owned())),
        })?;
        Ok(())
    }
}
