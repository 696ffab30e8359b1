//! What is computed channel after channel: signs, fields of bits, quotients.

use super::{At, each_dword};
use crate::eight::Eight;
use eu::stretch::{Bits, bits, divided, narrow};

impl<E: Eight> At<'_, '_, E> {
    /// Numbers with the other sign: none is as large as to lose a digit by that.
    #[inline(always)]
    pub(super) fn floats_of_negatives(&mut self, signed: bool) {
        let truncate = self.line.truncate;
        self.settle(
            #[inline(always)]
            |at, half| {
                each_dword(
                    at.host,
                    at.dwords(0, half),
                    #[inline(always)]
                    |a| {
                        // CAST: with its sign.
                        let number = if signed {
                            f64::from(a as i32)
                        } else {
                            f64::from(a)
                        };
                        let number = 0.0 - number;
                        if truncate {
                            narrow(number)
                        } else {
                            (number as f32).to_bits()
                        }
                    },
                )
            },
        );
    }

    #[inline(always)]
    pub(super) fn of_bits(&mut self, of: Bits) {
        self.settle(
            #[inline(always)]
            |at, half| {
                let mut sources = [[0; 8]; 3];
                for (n, source) in sources.iter_mut().enumerate().take(of.sources()) {
                    *source = at.host.array(at.dwords(n, half));
                }
                let [a, b, c] = sources;
                let mut results = [0; 8];
                for (i, result) in results.iter_mut().enumerate() {
                    *result = bits(of, a[i], b[i], c[i]);
                }
                at.host.load(&results)
            },
        );
    }

    #[inline(always)]
    pub(super) fn divide(&mut self, remainder: bool, signed: bool) {
        self.settle(
            #[inline(always)]
            |at, half| {
                let [a, b] = [0, 1].map(
                    #[inline(always)]
                    |n| at.host.array(at.dwords(n, half)),
                );
                let mut results = [0; 8];
                for (i, result) in results.iter_mut().enumerate() {
                    *result = divided(remainder, signed, a[i], b[i]);
                }
                at.host.load(&results)
            },
        );
    }
}
