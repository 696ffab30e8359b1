//! The software device model behind the mock MMIO bus.
#![forbid(unsafe_code)]
