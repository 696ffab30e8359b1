//! The guest's first process: a script of busybox.
//!
//! It loads i915 as Linux has it, runs the program and sends what that has left. Each thing has a port of its own, so that messages
//! of the kernel are nowhere else than on the console.

use std::ffi::OsString;
use std::io::Write;

use super::Error;
use super::archive::Archive;
use super::program::{Luggage, OUT};

/// Names of the ports in the guest begin so.
pub const PREFIX: &str = "crestline.";
/// What the guest says of itself, in words of [`super::machine`]; the program's output; its messages; its files.
pub const PORTS: [&str; 4] = ["state", "out", "err", "files"];
/// Where the scripts lie.
const DIR: &str = "/usr/lib/crestline";

/// The script. Before the first port is there, words go to the console alone.
///
/// TIMEOUT: udev is not there, so the device's node is waited for; the kernel makes it while i915 binds.
const INIT: &str = r#"#!/bin/busybox sh
# The first process of a guest of `crestline boot`.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=linux
busybox=/bin/busybox
$busybox mkdir -p /proc /sys /dev /tmp /run /root /out /usr/bin /usr/sbin /bin /sbin
$busybox mount -t proc proc /proc
$busybox mount -t sysfs sysfs /sys
$busybox mount -t devtmpfs devtmpfs /dev
$busybox chmod 1777 /tmp
command -v modprobe > /dev/null && command -v poweroff > /dev/null || $busybox --install -s
ln -sf /proc/self/fd /dev/fd
ln -sf /proc/self/fd/0 /dev/stdin
ln -sf /proc/self/fd/1 /dev/stdout
ln -sf /proc/self/fd/2 /dev/stderr
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts 2> /dev/null
mount -t tmpfs tmpfs /dev/shm

off() {
    sync
    poweroff -f
    sleep 100
}
port() {
    for p in /sys/class/virtio-ports/*; do
        if [ "$(cat "$p/name" 2> /dev/null)" = "crestline.$1" ]; then echo "/dev/${p##*/}"; return; fi
    done
}
modprobe virtio_pci
modprobe virtio_console
n=0
while [ -z "$(port files)" ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
if [ -z "$(port files)" ]; then
    echo "crestline: the guest has no virtio-serial ports" > /dev/console
    off
fi
exec 3> "$(port state)"
echo "up $(cut -d' ' -f1 /proc/uptime)" >&3

modprobe i915 > /dev/console 2>&1
n=0
while ! [ -e /dev/dri/renderD128 ] && [ $n -lt 50 ]; do sleep 0.1; n=$((n + 1)); done
if [ -e /dev/dri/renderD128 ]; then
    echo "bound $(cut -d' ' -f1 /proc/uptime)" >&3
else
    echo "none" >&3
    [ -e /usr/lib/crestline/shell ] || off
fi

code=0
cd /out
if [ -e /usr/lib/crestline/run ] && [ -e /dev/dri/renderD128 ]; then
    echo "runs" >&3
    sh /usr/lib/crestline/run < /dev/null > "$(port out)" 2> "$(port err)" 3>&-
    code=$?
fi
if [ -e /usr/lib/crestline/shell ]; then
    echo "shell" >&3
    setsid -c sh -i < /dev/hvc0 > /dev/hvc0 2>&1 3>&-
    shell=$?
    [ -e /usr/lib/crestline/run ] || code=$shell
fi
echo "packs $(cut -d' ' -f1 /proc/uptime)" >&3
cd /out && find . | cpio -o -H newc > "$(port files)" 2> /dev/console
echo "exit $code" >&3
off
"#;

/// A text as a word of a shell.
fn quoted(word: &[u8]) -> Result<Vec<u8>, Error> {
    let quoted = shlex::bytes::try_quote(word);
    let quoted = quoted.map_err(|_| Error::Told("an argument has a NUL in it".to_owned()));
    Ok(quoted?.into_owned())
}

/// The script that becomes the program.
fn run(luggage: &Luggage, variables: &[OsString]) -> Result<Vec<u8>, Error> {
    let mut script = Vec::new();
    let libraries = luggage.library_path();
    if !libraries.is_empty() {
        script.extend(b"export LD_LIBRARY_PATH=");
        script.extend(quoted(libraries.as_bytes())?);
        script.push(b'\n');
    }
    for variable in variables {
        script.extend(b"export ");
        script.extend(quoted(variable.as_encoded_bytes())?);
        script.push(b'\n');
    }
    script.extend(b"exec");
    for word in &luggage.words {
        script.push(b' ');
        script.extend(quoted(word.as_encoded_bytes())?);
    }
    script.push(b'\n');
    Ok(script)
}

/// Writes the archive of a run: scripts, program and files. `variables` are `NAME=VALUE`.
///
/// # Errors
/// Those of files, and of words that a shell cannot have.
pub fn archive<W: Write>(
    to: W,
    luggage: &Luggage,
    variables: &[OsString],
    shell: bool,
) -> Result<W, Error> {
    let failed = || Error::at("the guest's archive");
    let mut archive = Archive::new(to);
    archive
        .bytes("init", 0o755, INIT.as_bytes())
        .map_err(failed())?;
    archive.directory(OUT).map_err(failed())?;
    if !luggage.words.is_empty() {
        let script = run(luggage, variables)?;
        archive
            .bytes(&format!("{DIR}/run"), 0o755, &script)
            .map_err(failed())?;
    }
    if shell {
        archive
            .bytes(&format!("{DIR}/shell"), 0o644, b"")
            .map_err(failed())?;
    }
    luggage.pack(&mut archive)?;
    let (to, _) = archive.finish().map_err(failed())?;
    Ok(to)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_takes_the_words_as_they_are() {
        let words = ["/usr/bin/printf", "[%s]", "a b", "it's", "", "$HOME", "*"];
        let mut luggage = Luggage::default();
        luggage.words = words.iter().map(OsString::from).collect();
        let script = run(&luggage, &["CREST=a 'b'".into()]).unwrap();
        let script = String::from_utf8(script).unwrap();
        let output = Command::new("sh").arg("-c").arg(script).output().unwrap();
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            "[a b][it's][][$HOME][*]"
        );
    }

    #[test]
    fn words_with_a_nul_are_refused() {
        let mut luggage = Luggage::default();
        luggage.words = vec![OsString::from("a\0b")];
        assert!(run(&luggage, &[]).is_err());
    }

    #[test]
    fn the_script_uses_the_ports_that_there_are() {
        for port in PORTS {
            assert!(INIT.contains(&format!("$(port {port})")), "{port}");
        }
        assert!(INIT.contains(&format!("\"{PREFIX}$1\"")));
    }

    #[test]
    fn shells_understand_the_script() {
        let checked = Command::new("sh").arg("-n").arg("-c").arg(INIT).status();
        assert!(checked.unwrap().success());
    }
}
