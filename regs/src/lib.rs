//! Registers, commands and state structures, generated from the tables.
#![no_std]
#![forbid(unsafe_code)]
