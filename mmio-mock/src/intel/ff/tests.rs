//! Stages on plain state, with kernels of older instruction sets.

mod ds;
mod hs;
pub mod machine;
mod rig;
mod te;
