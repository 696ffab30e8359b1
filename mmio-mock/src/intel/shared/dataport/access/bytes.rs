//! Scattered messages: an integer of 1, 2 or 4 bytes for each channel.
//!
//! Descriptor and payload: Mesa 22.3.6 brw_eu.h `brw_dp_byte_scattered_rw_desc`, brw_lower_logical_sends.cpp. The integers lie in the low
//! bytes of their channels; what is read is extended with zeros. M0.2 has an offset that all channels share. Dwords without a header: beignet 1.3.2
//! gen_encoder.cpp `DWORD_GATHER`; their offsets count dwords (PRM vol4 5.10.5).

use eu::{Grf, Message};
use mem::GpuAddr;

use super::super::buffer::Lost;
use super::super::rules;
use super::untyped::{Place, channels, parameter};
use super::{Body, Lanes, lengths};
use crate::UnitFault;
use crate::intel::shared::error::refuse;

/// What a message asks for.
pub(super) struct Scattered {
    /// Channels.
    pub(super) lanes: Lanes,
    /// Bytes of an integer.
    pub(super) size: Option<u8>,
    /// The offset of all.
    pub(super) global: u32,
    /// Bytes that offsets count.
    pub(super) unit: u32,
}

impl Scattered {
    fn size(&self, msg: &Message<'_>) -> Result<usize, UnitFault> {
        let size = self
            .size
            .ok_or_else(|| refuse("DP", msg, rules::BLOCK_SIZE))?;
        Ok(size.into())
    }
}

impl Place<'_> {
    fn byte(&self, offset: u32, which: &Scattered, size: usize) -> Option<GpuAddr> {
        let offset = which.global.wrapping_add(offset);
        self.raw.at(offset.wrapping_mul(which.unit), 0, size as u64)
    }

    /// Reads or writes them.
    pub(super) fn scattered(
        &mut self,
        write: bool,
        which: &Scattered,
        msg: &Message<'_>,
        body: &Body<'_>,
        response: &mut [Grf],
    ) -> Result<Lost, UnitFault> {
        if write {
            self.write_bytes(which, msg, body)
        } else {
            self.read_bytes(which, msg, body, response)
        }
    }

    fn read_bytes(
        &mut self,
        which: &Scattered,
        msg: &Message<'_>,
        body: &Body<'_>,
        response: &mut [Grf],
    ) -> Result<Lost, UnitFault> {
        let (lanes, size) = (which.lanes, which.size(msg)?);
        let registers = lanes.registers();
        lengths(msg, body, registers, registers)?;
        let mut lost = Lost::default();
        for channel in channels(lanes, body.mask) {
            let offset = parameter(body.registers, 0, channel);
            let value = if let Some(at) = self.byte(offset, which, size) {
                self.store.read_bytes(at, size)?
            } else {
                // CAST: at most four bytes.
                self.miss(size as u32, &mut lost);
                0
            };
            if let Some(to) = response.get_mut(channel / 8) {
                to[channel % 8] = value;
            }
        }
        Ok(lost)
    }

    fn write_bytes(
        &mut self,
        which: &Scattered,
        msg: &Message<'_>,
        body: &Body<'_>,
    ) -> Result<Lost, UnitFault> {
        let (lanes, size) = (which.lanes, which.size(msg)?);
        let registers = lanes.registers();
        lengths(msg, body, 2 * registers, 0)?;
        let mut lost = Lost::default();
        for channel in channels(lanes, body.mask) {
            let offset = parameter(body.registers, 0, channel);
            let value = parameter(body.registers, registers, channel);
            match self.byte(offset, which, size) {
                Some(at) => self.store.write_bytes(at, size, value)?,
                // CAST: at most four bytes.
                None => self.miss(size as u32, &mut lost),
            }
        }
        Ok(lost)
    }
}
