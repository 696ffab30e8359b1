//! Builders of commands, by generation.

pub mod gen40;
pub mod gen45;
pub mod gen50;
pub mod gen60;
pub mod gen70;
pub mod media;
