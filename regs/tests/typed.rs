//! Typed register handles on the kernel's `Io`.
//! PRM vol4 3.3.4.1 for the bits of VF_CTL.

use std::sync::Mutex;

use kernel::io::Io;
use regs::gen40::{fields, reg};
use tock_registers::interfaces::{ReadWriteable, Readable, Writeable};

/// Registers as plain memory, with every write noted.
#[derive(Default)]
struct Plain {
    value: Mutex<u32>,
    writes: Mutex<Vec<(usize, u32)>>,
}

impl Io for Plain {
    fn read32(&self, _offset: usize) -> u32 {
        *self.value.lock().unwrap()
    }

    fn write32(&self, value: u32, offset: usize) {
        *self.value.lock().unwrap() = value;
        self.writes.lock().unwrap().push((offset, value));
    }
}

#[test]
fn a_typed_register_reads_and_writes_its_fields() {
    let io = Plain::default();
    let ctl = reg::VF_CTL.on(&io);
    ctl.write(fields::VF_CTL::SNAPSHOT_ENABLE::SET);
    ctl.modify(fields::VF_CTL::SNAPSHOT_OUTPUT_MUX_SELECT.val(1));
    assert!(ctl.is_set(fields::VF_CTL::SNAPSHOT_ENABLE));
    assert_eq!(*io.writes.lock().unwrap(), [(0x7500, 1), (0x7500, 0x101)]);
}

#[test]
fn array_elements_are_a_stride_apart() {
    let fence = reg::FENCE;
    assert_eq!(fence.count(), 16);
    assert_eq!(fence.at(3).map(regs::field::Reg::offset), Some(0x3018));
    assert!(fence.at(16).is_none());
}
