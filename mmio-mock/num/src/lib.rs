//! Bit-exact number formats shared by the units of the model.
#![forbid(unsafe_code)]
