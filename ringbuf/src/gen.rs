//! Builders of commands, by generation; callers that serve every generation use what is exported here.

pub mod gen40;
pub mod gen45;
pub mod gen50;

pub use self::gen40::media;
