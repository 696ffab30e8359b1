//! Reads the table files of a generation and merges what it imports.
//! Does not judge the contents.

use std::fs;
use std::path::Path;

use crate::amend::amend;
use crate::schema::File;
use crate::{Error, Tables, validate};

/// Names of the generation directories below `root`, a vendor's directory, sorted.
pub fn generations(root: &Path) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root).map_err(io(root))? {
        let path = entry.map_err(io(root))?.path();
        if path.is_dir()
            && let Some(name) = path.file_name().and_then(|n| n.to_str())
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Tables of one generation: its own files over what they import.
pub fn load(root: &Path, generation: &str) -> Result<Tables, Error> {
    let files = merged(root, generation, 0)?;
    validate::resolve(generation, &files)
}

/// Own files first; imported definitions follow where no own one has the name.
///
/// A definition that an own file amends moves into that file.
fn merged(root: &Path, generation: &str, depth: u32) -> Result<Vec<(String, File)>, Error> {
    let mut own = read(&root.join(generation), generation)?;
    let mut findings = Vec::new();
    let mut imports: Vec<String> = own.iter().flat_map(|(_, f)| f.import.clone()).collect();
    imports.sort();
    imports.dedup();
    let mut imported = Vec::new();
    for from in imports {
        if depth > 16 {
            return Err(Error::Invalid {
                generation: generation.to_owned(),
                findings: vec![format!("import of {from} goes in a circle")],
            });
        }
        for (name, file) in merged(root, &from, depth + 1)? {
            // What the imported generation imports has its directory's name already.
            let own = file.generation == from;
            let name = if own { format!("{from}/{name}") } else { name };
            imported.push((name, file));
        }
    }
    let excluded = own.iter().flat_map(|(_, f)| &f.exclude);
    for name in excluded {
        let known = imported.iter().any(|(_, f)| defines(f, name));
        if !known {
            findings.push(format!(
                "{name}: excluded, but nothing imported has this name"
            ));
        }
    }
    for (_, file) in &mut imported {
        let mine = |named: &dyn Fn(&File) -> bool, wanted: &str| {
            own.iter()
                .any(|(_, f)| f.exclude.iter().any(|x| x == wanted) || named(f))
        };
        file.register
            .retain(|r| !mine(&|f| f.register.iter().any(|x| x.name == r.name), &r.name));
        file.command
            .retain(|c| !mine(&|f| f.command.iter().any(|x| x.name == c.name), &c.name));
        file.structure
            .retain(|s| !mine(&|f| f.structure.iter().any(|x| x.name == s.name), &s.name));
        file.enumeration
            .retain(|e| !mine(&|f| f.enumeration.iter().any(|x| x.name == e.name), &e.name));
        file.format
            .retain(|m| !mine(&|f| f.format.iter().any(|x| x.name == m.name), &m.name));
    }
    amend(&mut own, &mut imported, &mut findings);
    if !findings.is_empty() {
        return Err(Error::Invalid {
            generation: generation.to_owned(),
            findings,
        });
    }
    own.extend(imported);
    Ok(own)
}

/// Whether a file has a definition of this name.
fn defines(f: &File, name: &str) -> bool {
    f.register.iter().any(|r| r.name == name)
        || f.command.iter().any(|c| c.name == name)
        || f.structure.iter().any(|s| s.name == name)
        || f.enumeration.iter().any(|e| e.name == name)
        || f.format.iter().any(|x| x.name == name)
}

/// Table files below `dir`, sub-directories included, named by their path below it.
fn read(dir: &Path, generation: &str) -> Result<Vec<(String, File)>, Error> {
    let mut out = Vec::new();
    let mut inner = Vec::new();
    for entry in fs::read_dir(dir).map_err(io(dir))? {
        let path = entry.map_err(io(dir))?.path();
        if path.is_dir() {
            inner.push(path);
        }
    }
    for path in inner {
        let name = path.file_name().and_then(|s| s.to_str()).unwrap_or("");
        for (file, table) in read(&path, generation)? {
            out.push((format!("{name}/{file}"), table));
        }
    }
    out.extend(read_flat(dir, generation)?);
    out.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(out)
}

fn read_flat(dir: &Path, generation: &str) -> Result<Vec<(String, File)>, Error> {
    let mut out = Vec::new();
    for entry in fs::read_dir(dir).map_err(io(dir))? {
        let path = entry.map_err(io(dir))?.path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(io(&path))?;
        let parse = |message: String| Error::Parse {
            path: path.clone(),
            message,
        };
        if !text.is_ascii() {
            return Err(parse("not ASCII".to_owned()));
        }
        let file: File = toml::from_str(&text).map_err(|e| parse(e.to_string()))?;
        if file.generation != generation {
            return Err(parse(format!("generation is not {generation}")));
        }
        let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("");
        out.push((stem.to_owned(), file));
    }
    Ok(out)
}

/// Attaches the path to an I/O error.
pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
    move |source| Error::Io {
        path: path.to_owned(),
        source,
    }
}
