//! Milliseconds per frame of every scene, next to Mesa's software rasterisers.
//!
//! No PRM chapter. `CRESTLINE_GLSCENES` names a binary of tests/tools/glscenes.c that is run for comparison.
fn main() {}
