//! Errata, and readings of doubtful sentences, as switches.
//!
//! PRM: volume 4, 4.6, 4.7.2, 4.8.1.4. Not modelled: errata that only ask software to stay away.

use super::gamma::Gamma;

/// What is in force; by default nothing, and the sRGB curve for gamma.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// How colours of sRGB formats are converted.
    pub gamma: Gamma,
    /// `ld` returns zero in the alpha of formats of eight bits a channel without alpha (4.8.1.4).
    pub ld_without_alpha: bool,
    /// `sample_c` takes a NaN of `A16_FLOAT` for plus infinity (4.8.1.4; 965, GM965).
    pub compare_nan: bool,
    /// `sample_c` and its kin ignore Minimum Array Element (4.7.2; 965 to D, GM965 to B).
    pub compare_first_element: bool,
}
