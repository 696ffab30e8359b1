//! Text of instructions of the later generations, built by hand.
//!
//! PRM: volume 4, 13.4. Expected lines are what Mesa 22.3.6 prints for the instruction.
