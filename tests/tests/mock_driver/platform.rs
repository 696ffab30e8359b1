//! A platform whose registers and configuration space are mocks.
//!
//! Memory, clock and interrupt line are plain; every register access must come as scripted, in order.
//! Not covered: devices.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernel::dma::DmaAllocator;
use kernel::fake::Fake;
use kernel::io::Io;
use kernel::irq::IrqLine;
use kernel::pci::{ConfigSpace, Resource};
use kernel::platform::Platform;
use kernel::time::Clock;
use mockall::{Sequence, mock};

mock! {
    pub Registers {}
    impl Io for Registers {
        fn read32(&self, offset: usize) -> u32;
        fn write32(&self, value: u32, offset: usize);
        fn posting_read(&self, offset: usize);
    }
}

mock! {
    pub Config {}
    impl ConfigSpace for Config {
        fn read8(&self, offset: usize) -> u8;
        fn read16(&self, offset: usize) -> u16;
        fn read32(&self, offset: usize) -> u32;
        fn write8(&self, value: u8, offset: usize);
        fn write16(&self, value: u16, offset: usize);
        fn write32(&self, value: u32, offset: usize);
        fn bar(&self, index: usize) -> Option<Resource>;
    }
}

/// One expected access.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Register read: offset, value to give.
    R(usize, u32),
    /// Register write: offset, value expected.
    W(usize, u32),
    /// Posting read: offset.
    P(usize),
    /// The same value written to a number of consecutive registers: first offset, count, value.
    Fill(usize, usize, u32),
    /// Configuration byte read: offset, value to give.
    ConfigR8(usize, u8),
    /// Configuration byte write: offset, value expected.
    ConfigW8(usize, u8),
    /// Configuration word read: offset, value to give.
    ConfigR16(usize, u16),
    /// Configuration word write: offset, value expected.
    ConfigW16(usize, u16),
}

/// The script under construction.
pub struct Script {
    registers: MockRegisters,
    config: MockConfig,
    order: Sequence,
}

impl Script {
    /// An empty script; where the BAR lies may be asked at any time.
    pub fn new() -> Self {
        let mut config = MockConfig::new();
        config.expect_bar().returning(|index| {
            (index == 0).then_some(Resource {
                start: 0xfe00_0000,
                len: 0x10_0000,
            })
        });
        Script {
            registers: MockRegisters::new(),
            config,
            order: Sequence::new(),
        }
    }

    /// Appends expected accesses.
    pub fn then(mut self, steps: &[Step]) -> Self {
        for step in steps {
            self.push(*step);
        }
        self
    }

    fn push(&mut self, step: Step) {
        let (registers, config) = (&mut self.registers, &mut self.config);
        let order = &mut self.order;
        match step {
            Step::R(at, value) => {
                registers
                    .expect_read32()
                    .withf(move |offset| *offset == at)
                    .once()
                    .in_sequence(order)
                    .return_const(value);
            }
            Step::W(at, expected) => {
                registers
                    .expect_write32()
                    .withf(move |value, offset| (*offset, *value) == (at, expected))
                    .once()
                    .in_sequence(order)
                    .return_const(());
            }
            Step::P(at) => {
                registers
                    .expect_posting_read()
                    .withf(move |offset| *offset == at)
                    .once()
                    .in_sequence(order)
                    .return_const(());
            }
            Step::Fill(at, count, expected) => {
                let next = AtomicUsize::new(at);
                registers
                    .expect_write32()
                    .withf(move |value, _| *value == expected)
                    .times(count)
                    .in_sequence(order)
                    .returning(move |_, offset| {
                        assert_eq!(offset, next.fetch_add(4, Ordering::Relaxed));
                    });
            }
            Step::ConfigR8(at, value) => {
                config
                    .expect_read8()
                    .withf(move |offset| *offset == at)
                    .once()
                    .in_sequence(order)
                    .return_const(value);
            }
            Step::ConfigW8(at, expected) => {
                config
                    .expect_write8()
                    .withf(move |value, offset| (*offset, *value) == (at, expected))
                    .once()
                    .in_sequence(order)
                    .return_const(());
            }
            Step::ConfigR16(at, value) => {
                config
                    .expect_read16()
                    .withf(move |offset| *offset == at)
                    .once()
                    .in_sequence(order)
                    .return_const(value);
            }
            Step::ConfigW16(at, expected) => {
                config
                    .expect_write16()
                    .withf(move |value, offset| (*offset, *value) == (at, expected))
                    .once()
                    .in_sequence(order)
                    .return_const(());
            }
        }
    }

    /// The platform that plays the script.
    pub fn play(self) -> Arc<Scripted> {
        Arc::new(Scripted {
            registers: self.registers,
            config: self.config,
            rest: Fake::new(0, 0),
        })
    }
}

/// A platform with scripted registers.
pub struct Scripted {
    registers: MockRegisters,
    config: MockConfig,
    /// Memory, clock and interrupt line.
    pub rest: Arc<Fake>,
}

impl Platform for Scripted {
    fn io(&self) -> &dyn Io {
        &self.registers
    }
    fn config(&self) -> &dyn ConfigSpace {
        &self.config
    }
    fn dma(&self) -> &dyn DmaAllocator {
        &*self.rest
    }
    fn clock(&self) -> &dyn Clock {
        &*self.rest
    }
    fn irq(&self) -> &dyn IrqLine {
        &*self.rest
    }
}
