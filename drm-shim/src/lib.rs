//! Preloaded into a client: brings it the DRM node that another process serves.
//!
//! Stands before the functions of libc by which clients reach a DRM device; what is not about the device
//! goes on to the system. `wire` has the messages. Not modelled: clients that make system calls without libc.
#![deny(unsafe_code)]
#![cfg_attr(
    test,
    allow(
        dead_code,
        reason = "the exported functions are left out of unit tests"
    )
)]

mod atomics;
mod buffer;
mod config;
mod cwd;
#[cfg(not(test))]
mod export;
mod fork;
mod frames;
mod fresh;
mod inodes;
mod ioctl;
mod life;
mod link;
mod map;
mod mappings;
#[cfg(not(test))]
mod next;
mod own;
mod path;
mod report;
mod stat;
mod sys;
mod table;
mod turn;
