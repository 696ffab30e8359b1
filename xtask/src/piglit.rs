//! piglit on a modelled device, beside llvmpipe: `cargo xtask piglit`.
//! What the tests ask for is piglit's; `docs/conformance` says how many pass.

mod baseline;
mod causes;
mod ci;
mod names;
mod options;
mod page;
mod results;
mod session;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use self::causes::Causes;
use self::names::Profile;
pub use self::options::Options;
use self::page::Report;
use self::results::{Kind, Outcomes};
use self::session::{Done, Session};
use crate::finding::counted;
use crate::node::{self, Exec};

/// Does what the command line says; false when a check fails.
pub fn run(root: &Path, options: &Options) -> io::Result<bool> {
    if let Some(number) = options.ci_list {
        return choose(root, options, number);
    }
    if options.ci {
        return short(root, options);
    }
    whole(root, options)
}

/// Where results are, unless told.
fn out(root: &Path, options: &Options, name: &str) -> PathBuf {
    let usual = || {
        node::target(root)
            .join(name)
            .join(options.served.device.name)
    };
    options.out.clone().unwrap_or_else(usual)
}

/// Runs profiles on the device.
fn on_device(
    root: &Path,
    options: &Options,
    profiles: &[Profile],
    directory: PathBuf,
) -> io::Result<Done> {
    let mut session = Session {
        directory,
        platform: &options.served.platform,
        renderer: options.served.renderer(),
        jobs: options.jobs,
        timeout: options.timeout,
        stamp: String::new(),
    };
    if options.report {
        return session.so_far(profiles);
    }
    let exec = Exec::new(root, &options.served)?;
    session.stamp = exec.stamp()?;
    session.run(profiles, &|| {
        let mut command: Command = exec.command("sh");
        command.env("WAFFLE_GBM_DEVICE", node::NODE);
        command
    })
}

/// The run of everything, or of what was selected.
fn whole(root: &Path, options: &Options) -> io::Result<bool> {
    let all = names::profiles(None)?;
    let mut profiles = match &options.filter {
        Some(filter) => names::profiles(Some(filter))?,
        None => all.clone(),
    };
    if let Some(list) = &options.list {
        names::keep(
            &mut profiles,
            &names::parse_list(&fs::read_to_string(list)?),
        );
    }
    if profiles.iter().all(|profile| profile.tests.is_empty()) {
        return Err(io::Error::other("no test matches"));
    }
    let everything = profiles == all;
    let out = out(root, options, "piglit");
    let done = on_device(root, options, &profiles, out.join("node"))?;
    let (baseline, baseline_from) = baseline(root, options, &all, &done.outcomes, &out)?;

    let device = options.served.device.name;
    let table = format!("docs/conformance/{device}.causes");
    let causes = match fs::read_to_string(root.join(&table)) {
        Ok(text) => Causes::parse(&text).map_err(|e| io::Error::other(format!("{table}:{e}")))?,
        Err(_) => Causes::default(),
    };
    let report = Report {
        device,
        renderer: &done.renderer,
        versions: &baseline::versions(),
        timeout: options.timeout,
        jobs: options.jobs,
        baseline_from: &baseline_from,
        node: &done.outcomes,
        baseline: &baseline,
        causes: &causes,
    };
    let lines = out.join("results.jsonl");
    fs::write(&lines, page::lines(&done.outcomes, &baseline))?;
    let usual = options.served.exec.is_none() && options.served.platform == "gbm";
    let page = if everything && done.complete && usual {
        root.join(format!("docs/conformance/{device}.md"))
    } else {
        out.join(format!("{device}.md"))
    };
    fs::write(&page, report.page())?;
    print!("{}", report.summary());
    println!("{}\n{}", lines.display(), page.display());
    if !done.complete {
        println!("not all tests have an outcome");
    }
    Ok(done.complete || options.report)
}

/// llvmpipe's outcomes of the tests that ran, and whence they are. What the device offers and nobody has
/// run yet is run now and kept.
fn baseline(
    root: &Path,
    options: &Options,
    all: &[Profile],
    node: &Outcomes,
    out: &Path,
) -> io::Result<(Outcomes, String)> {
    let mut outcomes = if options.run_baseline {
        Outcomes::new()
    } else {
        baseline::kept(root, all)?
    };
    if let Some(directory) = &options.baseline {
        results::read_all(directory, &mut outcomes)?;
    }
    let kept = node.keys().filter(|name| outcomes.contains_key(*name));
    let from = match kept.count() {
        0 => "run with the device".to_owned(),
        kept => format!("{kept} results kept in `{}`", baseline::FILE),
    };
    let offered: Vec<String> = node
        .iter()
        .filter(|(name, outcome)| outcome.kind != Kind::Skip && !outcomes.contains_key(*name))
        .map(|(name, _)| name.clone())
        .collect();
    if !offered.is_empty() && !options.report {
        println!(
            "llvmpipe: {} without a kept result",
            counted(offered.len(), "test")
        );
        let mut profiles = all.to_vec();
        names::keep(&mut profiles, &offered);
        let done = baseline::run(&profiles, &out.join("llvmpipe"), options.jobs)?;
        outcomes.extend(done.outcomes);
    }
    if !offered.is_empty() || options.baseline.is_some() {
        let text = baseline::pack(all, &outcomes, &baseline::versions());
        fs::write(root.join(baseline::FILE), text)?;
        println!("{} written", baseline::FILE);
    }
    outcomes.retain(|name, _| node.contains_key(name));
    Ok((outcomes, from))
}

/// The run of the short list.
fn short(root: &Path, options: &Options) -> io::Result<bool> {
    let read = |path: &str| -> io::Result<Vec<String>> {
        Ok(names::parse_list(&fs::read_to_string(root.join(path))?))
    };
    let (list, must_pass) = (read(ci::LIST)?, read(ci::PASS)?);
    let mut profiles = names::profiles(None)?;
    names::keep(&mut profiles, &list);
    let directory = out(root, options, "piglit-ci").join("node");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    let done = on_device(root, options, &profiles, directory)?;
    if options.bless {
        let passed = ci::passed(&done.outcomes);
        let head = format!("# Tests of {} that have to pass.\n", ci::LIST);
        let text = head + &passed.join("\n") + "\n";
        fs::write(root.join(ci::PASS), text)?;
        println!("{}: {}", ci::PASS, counted(passed.len(), "test"));
        return Ok(true);
    }
    let findings = ci::findings(&done.outcomes, &list, &must_pass);
    for finding in &findings {
        println!("{finding}");
    }
    println!(
        "piglit: {}, {} of them must pass, {}",
        counted(list.len(), "test"),
        must_pass.len(),
        counted(findings.len(), "finding")
    );
    Ok(findings.is_empty())
}

/// Chooses the short list from the results of a run of everything.
fn choose(root: &Path, options: &Options, number: usize) -> io::Result<bool> {
    let lines = out(root, options, "piglit").join("results.jsonl");
    let text = fs::read_to_string(&lines)
        .map_err(|error| io::Error::other(format!("{}: {error}", lines.display())))?;
    let (node, baseline) = page::read_lines(&text)
        .map_err(|error| io::Error::other(format!("{}:{error}", lines.display())))?;
    let list = ci::choose(&node, &baseline, number);
    let head = "# Every n-th test of each group, of those that llvmpipe passes and the device offers.\n\
                # Written by `cargo xtask piglit --ci-list`.\n";
    fs::write(root.join(ci::LIST), format!("{head}{}\n", list.join("\n")))?;
    println!("{}: {}", ci::LIST, counted(list.len(), "test"));
    Ok(true)
}
