//! All functions of a machine.

use std::fs;

use crate::{Address, Function, PciError, Tree};

/// A name in the directory of functions that is an address.
pub struct Entry {
    /// The address.
    pub address: Address,
    /// What is there.
    pub function: Result<Function, PciError>,
}

/// What the directory has.
pub struct Listing {
    /// The functions, by address.
    pub entries: Vec<Entry>,
    /// Names that are no addresses.
    pub strangers: usize,
}

/// Most names that are looked at: a machine has some hundred functions.
const MOST: usize = 1 << 16;

/// Looks at every function.
///
/// # Errors
/// When the directory cannot be read. What is wrong with a function is in its entry.
pub fn list(tree: &Tree) -> Result<Listing, PciError> {
    let directory = tree.functions();
    let names = fs::read_dir(&directory).map_err(|error| PciError::file(&directory, error))?;
    let mut addresses = Vec::new();
    let mut strangers = 0;
    for name in names.take(MOST) {
        let name = name.map_err(|error| PciError::file(&directory, error))?;
        match name.file_name().to_str().and_then(Address::of_name) {
            Some(address) => addresses.push(address),
            None => strangers += 1,
        }
    }
    addresses.sort_unstable();
    let entries = addresses.into_iter().map(|address| Entry {
        address,
        function: Function::open(tree, address),
    });
    Ok(Listing {
        entries: entries.collect(),
        strangers,
    })
}
