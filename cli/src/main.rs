//! The `crestline` program.
fn main() {}
