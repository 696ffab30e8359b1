//! The row of ValleyView (Bay Trail).
mod checks;

#[cfg(test)]
pub static CHECKS: [&super::checks::Checks; 3] =
    [&checks::RENDER, &checks::BLITTER, &checks::VIDEO];
