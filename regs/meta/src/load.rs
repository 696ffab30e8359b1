//! Reads the table files of a generation and merges what it imports.
//! No PRM chapter. Does not judge the contents.

use std::fs;
use std::path::Path;

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
fn merged(root: &Path, generation: &str, depth: u32) -> Result<Vec<(String, File)>, Error> {
    let own = read(&root.join(generation), generation)?;
    let mut imports: Vec<String> = own.iter().flat_map(|(_, f)| f.import.clone()).collect();
    imports.sort();
    imports.dedup();
    let mut out = own.clone();
    for from in imports {
        if depth > 16 {
            return Err(Error::Invalid {
                generation: generation.to_owned(),
                findings: vec![format!("import of {from} goes in a circle")],
            });
        }
        for (name, mut file) in merged(root, &from, depth + 1)? {
            let mine = |kind: &str, wanted: &str| {
                own.iter().any(|(_, f)| {
                    f.exclude.iter().any(|x| x == wanted)
                        || match kind {
                            "register" => f.register.iter().any(|r| r.name == wanted),
                            "command" => f.command.iter().any(|c| c.name == wanted),
                            "struct" => f.structure.iter().any(|s| s.name == wanted),
                            "enum" => f.enumeration.iter().any(|e| e.name == wanted),
                            _ => f.format.iter().any(|x| x.name == wanted),
                        }
                })
            };
            file.register.retain(|r| !mine("register", &r.name));
            file.command.retain(|c| !mine("command", &c.name));
            file.structure.retain(|s| !mine("struct", &s.name));
            file.enumeration.retain(|e| !mine("enum", &e.name));
            file.format.retain(|x| !mine("format", &x.name));
            out.push((format!("{from}/{name}"), file));
        }
    }
    Ok(out)
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
