//! Byte scattered messages: an integer of 1, 2 or 4 bytes for each channel.
//!
//! Descriptor and payload: Mesa 22.3.6 brw_eu.h `brw_dp_byte_scattered_rw_desc`, brw_lower_logical_sends.cpp. The integers lie in the low
//! bytes of their channels; what is read is extended with zeros. M0.2 has an offset that all channels share.

use eu::{Grf, Message};
use mem::GpuAddr;

use super::super::buffer::Lost;
use super::super::rules;
use super::untyped::{Place, channels, parameter};
use super::{Body, Lanes, lengths};
use crate::UnitFault;
use crate::intel::shared::error::refuse;

/// Channels, bytes of an integer, and the offset of all.
type Which = (Lanes, Option<u8>, u32);

fn size(size: Option<u8>, msg: &Message<'_>) -> Result<usize, UnitFault> {
    let size = size.ok_or_else(|| refuse("DP", msg, rules::BLOCK_SIZE))?;
    Ok(size.into())
}

impl Place<'_> {
    fn byte(&self, offset: u32, global: u32, size: usize) -> Option<GpuAddr> {
        self.raw.at(offset.wrapping_add(global), 0, size as u64)
    }

    /// Reads them.
    pub(super) fn read_bytes(
        &mut self,
        (lanes, bytes, global): Which,
        msg: &Message<'_>,
        body: &Body<'_>,
        response: &mut [Grf],
    ) -> Result<Lost, UnitFault> {
        let size = size(bytes, msg)?;
        let registers = lanes.registers();
        lengths(msg, body, registers, registers)?;
        let mut lost = Lost::default();
        for channel in channels(lanes, body.mask) {
            let offset = parameter(body.registers, 0, channel);
            let value = if let Some(at) = self.byte(offset, global, size) {
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

    /// Writes them.
    pub(super) fn write_bytes(
        &mut self,
        (lanes, bytes, global): Which,
        msg: &Message<'_>,
        body: &Body<'_>,
    ) -> Result<Lost, UnitFault> {
        let size = size(bytes, msg)?;
        let registers = lanes.registers();
        lengths(msg, body, 2 * registers, 0)?;
        let mut lost = Lost::default();
        for channel in channels(lanes, body.mask) {
            let offset = parameter(body.registers, 0, channel);
            let value = parameter(body.registers, registers, channel);
            match self.byte(offset, global, size) {
                Some(at) => self.store.write_bytes(at, size, value)?,
                // CAST: at most four bytes.
                None => self.miss(size as u32, &mut lost),
            }
        }
        Ok(lost)
    }
}
