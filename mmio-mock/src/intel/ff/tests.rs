//! Stages on plain state: hull shader, tessellation, domain shader.

mod captured;
mod ds;
mod hs;
pub mod machine;
mod rig;
mod te;
