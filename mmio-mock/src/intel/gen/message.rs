//! Descriptors as the generations have them, against literal words.

#[cfg(test)]
mod tests;
