//! Runs of a session with programs in piglit's and wflinfo's place.
//! The stand-ins write the files that piglit writes, nothing more.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::os::unix::fs::PermissionsExt;

use super::*;

/// Passes every test but those with `fail` in their name; ends early at one with `stop` as long as
/// there is a file of that name.
const PIGLIT: &str = r#"#!/bin/sh
while [ "$1" != --test-list ]; do shift; done
out=$4 n=0
mkdir -p "$out/tests"
while read -r test; do
    case $test in
    *stop*) [ ! -e "$here/stop" ] || { echo '{"'"$test"'": {"result": "incomplete"}}' >"$out/tests/$n.json"; kill -9 $PPID; exit; } ;;
    esac
    result=pass
    case $test in *fail*) result=fail ;; esac
    echo '{"'"$test"'": {"result": "'$result'", "time": {"start": 1, "end": 3}}}' >"$out/tests/$n.json"
    n=$((n + 1))
done <"$2"
echo >"$out/metadata.json"
[ ! -e "$here/lost" ] || echo other >"$here/renderer"
"#;
const WFLINFO: &str = "#!/bin/sh\necho \"OpenGL renderer string: $(cat \"$here/renderer\")\"\n";

struct Rig {
    here: tempfile::TempDir,
}

impl Rig {
    fn new() -> Rig {
        let here = tempfile::tempdir().unwrap();
        for (name, text) in [("piglit", PIGLIT), ("wflinfo", WFLINFO)] {
            let path = here.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(here.path().join("renderer"), "Mesa Some 965GM (X)").unwrap();
        Rig { here }
    }

    fn session(&self) -> Session<'static> {
        Session {
            directory: self.here.path().join("out"),
            platform: "gbm",
            renderer: "965GM",
            jobs: 1,
            timeout: 5,
            stamp: String::new(),
        }
    }

    fn run(&self, session: &Session<'_>) -> io::Result<Done> {
        let shell = || {
            let path = std::env::var("PATH").unwrap_or_default();
            let mut command = Command::new("sh");
            command
                .env("PATH", format!("{}:{path}", self.here.path().display()))
                .env("here", self.here.path());
            command
        };
        session.run(&profiles(), &shell)
    }

    fn touch(&self, name: &str) {
        fs::write(self.here.path().join(name), "").unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.here.path().join(name)).unwrap();
    }
}

fn profiles() -> Vec<Profile> {
    let profile = |name, tests: &[&str]| Profile {
        name,
        tests: tests.iter().map(|&test| test.to_owned()).collect(),
    };
    vec![
        profile(
            "quick_shader",
            &["spec@a", "spec@fail", "spec@stop", "spec@z"],
        ),
        profile("quick_gl", &["spec@gl"]),
    ]
}

fn kinds(done: &Done) -> String {
    done.outcomes
        .values()
        .map(|test| test.kind.letter())
        .collect()
}

#[test]
fn a_whole_run() {
    let rig = Rig::new();
    let done = rig.run(&rig.session()).unwrap();
    assert!(done.complete);
    assert_eq!(done.renderer, "Mesa Some 965GM (X)");
    assert_eq!(kinds(&done), "pfppp");
    assert_eq!(done.outcomes["spec@a"].seconds, 2.0);
    assert_eq!(count(&done.outcomes), [4, 0, 1, 0, 0, 0, 0]);
}

#[test]
fn an_interrupted_run_goes_on() {
    let rig = Rig::new();
    rig.touch("stop");
    let error = rig.run(&rig.session()).err().unwrap().to_string();
    assert!(error.contains("goes on"), "{error}");
    let so_far = rig.session().so_far(&profiles()).unwrap();
    assert!(!so_far.complete);
    assert_eq!(kinds(&so_far), "pf");
    rig.remove("stop");
    let done = rig.run(&rig.session()).unwrap();
    assert!(done.complete);
    assert_eq!(kinds(&done), "pfppp");
    let list = rig.here.path().join("out/1/quick_shader.0.list");
    assert_eq!(fs::read_to_string(list).unwrap(), "spec@stop\nspec@z\n");
    // Nothing is left: nothing runs.
    rig.run(&rig.session()).unwrap();
    assert!(!rig.here.path().join("out/2").exists());
    // Another timeout is another run.
    let other = Session {
        timeout: 6,
        ..rig.session()
    };
    rig.run(&other).unwrap();
    assert!(!rig.here.path().join("out/1").exists());
}

#[test]
fn another_renderer_is_an_error() {
    let rig = Rig::new();
    fs::write(rig.here.path().join("renderer"), "llvmpipe").unwrap();
    let error = rig.run(&rig.session()).err().unwrap().to_string();
    assert!(error.contains("llvmpipe"), "{error}");
}

#[test]
fn a_slice_that_lost_the_device_does_not_count() {
    let rig = Rig::new();
    rig.touch("lost");
    let error = rig.run(&rig.session()).err().unwrap().to_string();
    assert!(error.contains("other"), "{error}");
    rig.remove("lost");
    fs::write(rig.here.path().join("renderer"), "965GM").unwrap();
    let done = rig.run(&rig.session()).unwrap();
    let list = rig.here.path().join("out/1/quick_shader.0.list");
    assert_eq!(fs::read_to_string(list).unwrap().lines().count(), 4);
    assert_eq!(kinds(&done), "pfppp");
}
