//! Table parser, validation and emitters behind the `regs` crate.
