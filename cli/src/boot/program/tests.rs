//! What is packed of programs of this machine.
//!
//! Lines of ldd are those of glibc 2.36.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::os::unix::fs::PermissionsExt as _;

use super::*;

const LDD: &str = "\tlinux-vdso.so.1 (0x00007ffd41fc2000)
\tlibEGL.so.1 => /lib/x86_64-linux-gnu/libEGL.so.1 (0x00007f0d4a5d3000)
\tlibmissing.so.2 => not found
\tlibown.so => /usr/a b/libown.so (0x00007f0d4a5d3000)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f0d4a7d8000)
";

#[test]
fn lines_of_ldd() {
    let found: Vec<_> = ldd(LDD).collect();
    assert_eq!(
        found,
        [
            Ok("/lib/x86_64-linux-gnu/libEGL.so.1"),
            Err("libmissing.so.2"),
            Ok("/usr/a b/libown.so"),
            Ok("/lib64/ld-linux-x86-64.so.2"),
        ]
    );
    assert_eq!(ldd("\tnot a dynamic executable\n").count(), 0);
}

fn tree(names: &[&str]) -> (tempfile::TempDir, Tree) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("names"), names.join("\n")).unwrap();
    let tree = Tree::of_piece(dir.path()).unwrap();
    (dir, tree)
}

fn script(dir: &Path, text: &str) -> PathBuf {
    let path = dir.join("program");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn programs_of_the_guest_and_of_this_machine() {
    let (dir, tree) = tree(&["usr/bin/busybox", "usr/bin/printf", "usr/bin/sh"]);
    let words = |program: &OsStr| [program.to_owned(), OsString::from("-x")];
    let mut luggage = Luggage::default();
    luggage.program(&words("printf".as_ref()), &tree).unwrap();
    assert_eq!(luggage.words, ["/usr/bin/printf", "-x"]);
    assert!(luggage.files.is_empty());
    // Its interpreter is the guest's.
    let path = script(dir.path(), "#!/bin/sh -e\n");
    let mut luggage = Luggage::default();
    luggage.program(&words(path.as_ref()), &tree).unwrap();
    assert_eq!(luggage.words.first().unwrap(), path.as_os_str());
    let places: Vec<_> = luggage.files.keys().collect();
    assert_eq!(places, [path.to_str().unwrap()]);
    for missing in ["no-such-program", "./no/such"] {
        let failed = Luggage::default().program(&words(missing.as_ref()), &tree);
        assert!(matches!(failed, Err(Error::NoProgram(_))), "{missing}");
    }
}

#[test]
fn libraries_come_along_unless_the_guest_has_them() {
    // Tests are programs that link with libc.
    let own = std::env::current_exe().unwrap();
    let (_dir, bare) = tree(&[]);
    let mut luggage = Luggage::default();
    luggage.program(&[own.clone().into()], &bare).unwrap();
    let has_libc = |luggage: &Luggage| luggage.files.keys().any(|n| n.ends_with("/libc.so.6"));
    assert!(has_libc(&luggage));
    let (_dir, full) = tree(&["usr/lib/x86_64-linux-gnu/libc.so.6"]);
    let mut luggage = Luggage::default();
    luggage.program(&[own.into()], &full).unwrap();
    assert!(!has_libc(&luggage));
}

#[test]
fn added_files_have_their_places() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a:b");
    fs::write(&file, "x").unwrap();
    let file = file.to_str().unwrap().to_owned();
    let mut luggage = Luggage::default();
    luggage.add(file.as_ref()).unwrap();
    luggage.add(format!("{file}:/etc/x/../y").as_ref()).unwrap();
    luggage.add(format!("{file}:z").as_ref()).unwrap();
    let mut places: Vec<_> = luggage.files.keys().map(String::as_str).collect();
    places.sort_unstable();
    let in_out = format!("{OUT}/z");
    let mut wanted = ["/etc/y", in_out.as_str(), file.as_str()];
    wanted.sort_unstable();
    assert_eq!(places, wanted);
    assert!(luggage.add("/dev/no-such:file".as_ref()).is_err());
}
