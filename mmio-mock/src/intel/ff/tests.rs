//! Stages on plain state: vertices, hull shader, tessellation, domain shader.

mod captured;
mod ds;
mod hs;
pub mod machine;
mod rig;
mod te;
mod vertices;
