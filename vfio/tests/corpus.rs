//! The messages of a VMM from its start to the first frame, in QEMU's order.
//!
//! QEMU hw/vfio-user/{proxy,container,device}.c and hw/vfio/pci.c: version, memory, device, regions, interrupts, configuration space in
//! one read, reset, and what a guest then does.

use vfio::protocol::{
    DeviceInfo, DmaMap, DmaUnmap, IrqInfo, IrqSet, RegionAccess, RegionInfo, command, irq, region,
};
use zerocopy::IntoBytes;

/// What descriptor goes with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attached {
    Nothing,
    Memory,
    Event,
}

/// A message without its header.
#[derive(Clone, Debug)]
pub struct Message {
    pub command: u16,
    pub payload: Vec<u8>,
    pub attached: Attached,
}

fn message(command: u16, payload: &[u8], attached: Attached) -> Message {
    Message {
        command,
        payload: payload.to_vec(),
        attached,
    }
}

fn map(address: u64, size: u64, offset: u64, flags: u32, attached: Attached) -> Message {
    let map = DmaMap {
        argsz: 32,
        flags,
        offset,
        address,
        size,
    };
    message(command::DMA_MAP, map.as_bytes(), attached)
}

fn read(region: u32, offset: u64, count: u32) -> Message {
    let access = RegionAccess {
        offset,
        region,
        count,
    };
    message(command::REGION_READ, access.as_bytes(), Attached::Nothing)
}

fn write(region: u32, offset: u64, bytes: &[u8]) -> Message {
    let access = RegionAccess {
        offset,
        region,
        count: bytes.len() as u32,
    };
    let payload = [access.as_bytes(), bytes].concat();
    message(command::REGION_WRITE, &payload, Attached::Nothing)
}

fn set_irqs(index: u32, flags: u32, count: u32, attached: Attached) -> Message {
    let set = IrqSet {
        argsz: 20,
        flags,
        index,
        start: 0,
        count,
    };
    message(command::DEVICE_SET_IRQS, set.as_bytes(), attached)
}

/// Bytes of the file behind the guest's memory.
pub const MEMORY: u64 = 16 << 20;

/// The version that QEMU proposes.
pub fn version() -> Message {
    let mut payload = vec![0; 4];
    payload.extend_from_slice(
        b"{\"capabilities\": {\"pgsizes\": 4096, \"max_data_xfer_size\": 1048576, \"max_msg_fds\": 8, \"max_dma_maps\": 65535}}\0",
    );
    message(command::VERSION, &payload, Attached::Nothing)
}

/// What follows.
pub fn messages() -> Vec<Message> {
    let none = Attached::Nothing;
    let mut all = vec![
        map(0, 0xa_0000, 0, 3, Attached::Memory),
        map(0xc_0000, 0x2_0000, 0xc_0000, 1, Attached::Memory),
        map(
            0x10_0000,
            MEMORY - 0x10_0000,
            0x10_0000,
            3,
            Attached::Memory,
        ),
        map(0xfffc_0000, 0x4_0000, 0, 1, none),
    ];
    let info = DeviceInfo {
        argsz: 16,
        flags: 0,
        regions: 0,
        irqs: 0,
    };
    all.push(message(command::DEVICE_GET_INFO, info.as_bytes(), none));
    for index in 0..region::COUNT {
        let info = RegionInfo {
            argsz: 32,
            flags: 0,
            index,
            cap_offset: 0,
            size: 0,
            offset: 0,
        };
        all.push(message(
            command::DEVICE_GET_REGION_INFO,
            info.as_bytes(),
            none,
        ));
    }
    for index in 0..irq::COUNT {
        let info = IrqInfo {
            argsz: 16,
            flags: 0,
            index,
            count: 0,
        };
        all.push(message(command::DEVICE_GET_IRQ_INFO, info.as_bytes(), none));
    }
    all.push(read(region::CONFIG, 0, 256));
    all.push(message(command::DEVICE_RESET, &[], none));
    all.push(set_irqs(
        irq::INTX,
        irq::DATA_EVENTFD | irq::TRIGGER,
        1,
        Attached::Event,
    ));
    all.push(set_irqs(
        irq::INTX,
        irq::DATA_EVENTFD | irq::UNMASK,
        1,
        Attached::Event,
    ));
    for bar in [0x10, 0x14, 0x18, 0x1c, 0x20] {
        all.push(write(region::CONFIG, bar, &[0xff; 4]));
        all.push(read(region::CONFIG, bar, 4));
    }
    all.push(write(region::CONFIG, 4, &[7, 4]));
    all.push(write(region::CONFIG, 0xc0, &[1]));
    for register in [0x2080, 0x2030, 0x2034, 0x2038, 0x203c, 0x20a4, 0x7_0024] {
        all.push(read(region::BAR0, register, 4));
        all.push(write(region::BAR0, register, &[0, 0x10, 0, 0]));
    }
    all.push(read(region::BAR0, 0x1_0c0f, 1));
    for entry in 0..8_u32 {
        let pte = (entry << 12 | 1).to_le_bytes();
        all.push(write(
            region::BAR0,
            (512 << 10) + 4 * u64::from(entry),
            &pte,
        ));
    }
    all.push(write(region::BAR2, 0x1000, &[0x5a; 64]));
    all.push(read(region::BAR2, 0x1000, 0x2000));
    all.push(write(region::BAR4, 0, &[0x30, 0x20, 0, 0]));
    all.push(read(region::BAR4, 4, 4));
    // A ring of a page at 4000h with two commands that do nothing, and its tail.
    for (register, value) in [(0x2038, 0x4000_u32), (0x2034, 0), (0x203c, 1), (0x2030, 8)] {
        all.push(write(region::BAR0, register, &value.to_le_bytes()));
    }
    all.push(set_irqs(irq::INTX, irq::DATA_NONE | irq::UNMASK, 1, none));
    all.push(set_irqs(irq::INTX, irq::DATA_NONE | irq::TRIGGER, 0, none));
    all.push(set_irqs(
        irq::MSI,
        irq::DATA_EVENTFD | irq::TRIGGER,
        1,
        Attached::Event,
    ));
    let unmap = DmaUnmap {
        argsz: 24,
        flags: 0,
        address: 0,
        size: 0xa_0000,
    };
    all.push(message(command::DMA_UNMAP, unmap.as_bytes(), none));
    all.push(map(0, 0xa_0000, 0, 3, Attached::Memory));
    all
}
