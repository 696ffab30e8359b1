//! Turns the tables into code when the crate is built.
//! Does not write outside OUT_DIR.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

fn main() {
    println!("cargo:rerun-if-changed=tables");
    if let Err(error) = run() {
        eprintln!("{error}");
        process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new("tables/intel");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR not set")?);
    let mut all = Vec::new();
    for generation in regs_meta::generations(root)? {
        let dir = root.join(&generation);
        println!("cargo:rerun-if-changed={}", dir.display());
        for entry in fs::read_dir(&dir)? {
            println!("cargo:rerun-if-changed={}", entry?.path().display());
        }
        all.push(regs_meta::load(root, &generation)?);
    }
    for (index, tables) in all.iter().enumerate() {
        fs::write(
            out.join(format!("{}.rs", tables.generation)),
            regs_meta::generation(&all, index),
        )?;
    }
    fs::write(out.join("any.rs"), regs_meta::any(&all))?;
    fs::write(out.join("ids.rs"), regs_meta::ids(&all))?;
    Ok(())
}
