//! Rules of the validator on legal and illegal instructions.
//!
//! PRM: volume 4, chapters 10-14.
