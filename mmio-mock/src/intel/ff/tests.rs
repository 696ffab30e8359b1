//! What tests of single stages have in common.

pub mod machine;
