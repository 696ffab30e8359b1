//! Registers: bit ranges, resets, and that every bit is accounted for.

use std::collections::BTreeSet;

use super::Checker;
use crate::model::{Register, RegisterField, bit_range, mask128};
use crate::names;
use crate::schema::{self, Access};

impl Checker<'_> {
    pub(super) fn register(&mut self, section: usize, r: &schema::Register) -> Register {
        self.cited(&r.name, &r.cite, &r.summary);
        let mut bits = r.bits;
        if !matches!(bits, 32 | 64 | 128) {
            self.say(&r.name, "bits is not 32, 64 or 128");
            bits = 32;
        }
        if !r.offset.is_multiple_of(4) || r.count == 0 || r.count > 1 << 20 {
            self.say(&r.name, "bad offset or count");
        }
        let stride = r.stride.unwrap_or(bits / 8);
        if stride < bits / 8 || !stride.is_multiple_of(4) {
            self.say(&r.name, "bad stride");
        }
        let reset = self.reset(&r.name, &r.reset, bits);
        let mut reserved = self.ranges(&r.name, &r.mbz, bits);
        reserved.extend(self.ranges(&r.name, &r.reserved, bits));
        let mut fields = Vec::new();
        let mut seen = BTreeSet::new();
        for f in &r.field {
            let label = format!("{}.{}", r.name, f.name);
            let Some((hi, lo)) = bit_range(&f.bits).filter(|x| x.0 < bits) else {
                self.say(&label, "bad bit range");
                continue;
            };
            if !seen.insert(names::constant(&f.name)) {
                self.say(&label, "field name used twice");
            }
            let max = u32::try_from(mask128(hi - lo, 0)).unwrap_or(u32::MAX);
            let values = match &f.enumeration {
                None => f.values.clone(),
                Some(e) => self.shared(&label, e),
            };
            self.values(&label, &values, max);
            let inherited = reset.map(|v| (v & mask128(hi, lo)) >> lo);
            let own = match &f.reset {
                None => inherited,
                Some(x) => self.reset(&label, x, hi - lo + 1),
            };
            if own.is_some() && inherited.is_some() && own != inherited {
                self.say(&label, "reset disagrees with the register's");
            }
            if f.mbz && own.unwrap_or(0) != 0 {
                self.say(&label, "must be zero but resets to something else");
            }
            fields.push(RegisterField {
                name: f.name.clone(),
                hi,
                lo,
                access: f.access.unwrap_or(r.access),
                reset: own,
                mbz: f.mbz,
                qualified: f.qualified,
                mux: f.mux,
                values,
                summary: f.summary.clone(),
            });
        }
        self.cover(r, bits, reset, &fields, &reserved);
        Register {
            section,
            name: r.name.clone(),
            space: r.space,
            offset: r.offset,
            bits,
            count: r.count,
            stride,
            access: r.access,
            reset,
            unit: r.unit.clone(),
            cite: r.cite.clone(),
            summary: r.summary.clone(),
            anomaly: r.anomaly.clone(),
            config: r.config.clone(),
            fields,
            reserved,
        }
    }

    /// Every bit once, reserved bits zero, fields in one direction.
    fn cover(
        &mut self,
        r: &schema::Register,
        bits: u32,
        reset: Option<u128>,
        fields: &[RegisterField],
        reserved: &[(u32, u32)],
    ) {
        let mut used = 0u128;
        for f in fields {
            let m = mask128(f.hi, f.lo);
            if used & m != 0 && r.overlap.is_none() {
                self.say(&r.name, &format!("{} overlaps another field", f.name));
            }
            used |= m;
        }
        let mut zero = 0u128;
        for &(hi, lo) in reserved {
            let m = mask128(hi, lo);
            if (used | zero) & m != 0 {
                self.say(&r.name, &format!("mbz {hi}:{lo} overlaps"));
            }
            zero |= m;
        }
        if r.access == Access::Masked {
            zero |= mask128(31, 16);
        }
        let missing = mask128(bits - 1, 0) & !(used | zero);
        if missing != 0 {
            self.say(
                &r.name,
                &format!("bits {missing:#x} in no field, mbz or reserved"),
            );
        }
        if reset.unwrap_or(0) & zero != 0 {
            self.say(&r.name, "must-be-zero bits reset to one");
        }
        let rising = fields.windows(2).all(|w| w[0].lo <= w[1].lo);
        let falling = fields.windows(2).all(|w| w[0].lo >= w[1].lo);
        if !(rising || falling) && r.overlap.is_none() {
            self.say(&r.name, "fields in no bit order");
        }
    }
}
