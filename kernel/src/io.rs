//! Register access: the `Io` trait and the typed register proxy.
//!
//! Offsets are bytes into the mapping and carry no meaning here; register names live in `regs`.
//! Not modelled: 8, 16 and 64-bit accesses (the 965 driver splits them into 32-bit ones).
use core::marker::PhantomData;

use tock_registers::RegisterLongName;
use tock_registers::fields::FieldValue;
use tock_registers::interfaces::{Readable, Writeable};

/// Access to a register block; offsets are bytes from its start.
///
/// No method panics: an access outside the mapping reads all ones and drops writes, as a PCI bus does.
/// A write may make the device run; an interrupt handler may therefore be called before `write32` returns, so the
/// caller holds no lock that its handler takes.
pub trait Io: Send + Sync {
    /// Reads the 32-bit register at `offset`.
    fn read32(&self, offset: usize) -> u32;

    /// Writes the 32-bit register at `offset`.
    fn write32(&self, value: u32, offset: usize);

    /// Reads the register at `offset` only to push earlier writes to the device.
    fn posting_read(&self, offset: usize) {
        let _ = self.read32(offset);
    }
}

/// A typed handle on one 32-bit register, usable through the interfaces of `tock-registers`.
pub struct RegProxy<'a, R: RegisterLongName> {
    io: &'a dyn Io,
    offset: usize,
    register: PhantomData<R>,
}

impl<'a, R: RegisterLongName> RegProxy<'a, R> {
    /// A handle on the register at `offset` of `io`.
    #[must_use]
    pub fn new(io: &'a dyn Io, offset: usize) -> Self {
        RegProxy {
            io,
            offset,
            register: PhantomData,
        }
    }

    /// Byte offset of the register.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Reads only to push earlier writes to the device.
    pub fn posting_read(&self) {
        self.io.posting_read(self.offset);
    }

    /// Writes fields of a masked register: bits 31:16 select which of bits 15:0 change.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "called like the `write` of tock-registers"
    )]
    pub fn write_masked(&self, fields: FieldValue<u32, R>) {
        self.io
            .write32((fields.mask() << 16) | (fields.value & 0xffff), self.offset);
    }
}

impl<R: RegisterLongName> Readable for RegProxy<'_, R> {
    type T = u32;
    type R = R;

    fn get(&self) -> u32 {
        self.io.read32(self.offset)
    }
}

impl<R: RegisterLongName> Writeable for RegProxy<'_, R> {
    type T = u32;
    type R = R;

    fn set(&self, value: u32) {
        self.io.write32(value, self.offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicU32, Ordering};
    use tock_registers::interfaces::ReadWriteable;
    use tock_registers::register_bitfields;

    register_bitfields![u32,
        Mode [
            STOP OFFSET(8) NUMBITS(1) [],
            IDLE OFFSET(9) NUMBITS(1) [],
            COUNT OFFSET(0) NUMBITS(4) [],
        ],
    ];

    struct One(AtomicU32);
    impl Io for One {
        fn read32(&self, offset: usize) -> u32 {
            if offset == 0x9c {
                self.0.load(Ordering::Relaxed)
            } else {
                u32::MAX
            }
        }
        fn write32(&self, value: u32, offset: usize) {
            if offset == 0x9c {
                self.0.store(value, Ordering::Relaxed);
            }
        }
    }

    #[test]
    fn fields_are_read_modified_and_written() {
        let io = One(AtomicU32::new(0xffff_0203));
        let mode = RegProxy::<Mode::Register>::new(&io, 0x9c);
        assert!(mode.is_set(Mode::IDLE));
        assert!(!mode.is_set(Mode::STOP));
        mode.modify(Mode::COUNT.val(9));
        assert_eq!(mode.get(), 0xffff_0209);
    }

    #[test]
    fn masked_writes_carry_their_mask_in_the_high_half() {
        let io = One(AtomicU32::new(0));
        let mode = RegProxy::<Mode::Register>::new(&io, 0x9c);
        mode.write_masked(Mode::STOP::SET);
        assert_eq!(mode.get(), 0x0100_0100);
        mode.write_masked(Mode::STOP::CLEAR + Mode::COUNT.val(2));
        assert_eq!(mode.get(), 0x010f_0002);
    }
}
