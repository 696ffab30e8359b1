//! Typed register handles on the kernel's `Io`, and commands as literal dwords.
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

/// i915 gt/intel_gpu_commands.h and gt/intel_ring_submission.c `mi_set_context`; CMD_MEDIA_* of intel-vaapi-driver
/// i965_defines.h; GEN6_3DSTATE_* there.
#[test]
fn commands_of_sandy_bridge_are_the_drivers_dwords() {
    use regs::gen60::{
        MediaCurbeLoad, MediaInterfaceDescriptorLoad, MediaObject, MediaStateFlush, MediaVfeState,
        MiFlushDw, MiSemaphoreMbox, MiSetContext, MiStoreDataIndex, State3dConstantPs, State3dVs,
        State3dWm, StateBaseAddress,
    };
    // MI_MM_SPACE_GTT 8, MI_SAVE_EXT_STATE_EN 3, MI_RESTORE_EXT_STATE_EN 2, MI_RESTORE_INHIBIT 0.
    let context = MiSetContext::new()
        .with_memory_space_select(1)
        .with_extended_state_save_enable(true)
        .with_extended_state_restore_enable(true)
        .with_restore_inhibit(true)
        .with_logical_context_address(0x0012_3000);
    assert_eq!(context.dwords(), [0x0c00_0000, 0x0012_310d]);
    // MI_SEMAPHORE_COMPARE 20, _REGISTER 18, _SYNC_BR 2 << 16; MI_SEMAPHORE_GLOBAL_GTT 22, _UPDATE 21.
    let wait = MiSemaphoreMbox::new()
        .with_compare_semaphore(true)
        .with_compare_register(true)
        .with_register_select(2)
        .with_semaphore_data_dword(7);
    assert_eq!(wait.dwords(), [0x0b16_0001, 7, 0]);
    let signal = MiSemaphoreMbox::new()
        .with_use_global_gtt(true)
        .with_update_semaphore(true)
        .with_semaphore_address(0x2040);
    assert_eq!(signal.dwords(), [0x0b60_0001, 0, 0x2040]);
    // MI_STORE_DWORD_INDEX has three dwords here; MI_FLUSH_DW has four with a quadword.
    let store = MiStoreDataIndex::new().with_offset(0x100);
    assert_eq!(store.dwords()[..2], [0x1080_0001, 0x100]);
    assert_eq!(MiFlushDw::HEADER, 0x1300_0002);
    for (header, expected) in [
        (MediaVfeState::HEADER, 0x7000_0006),
        (MediaCurbeLoad::HEADER, 0x7001_0002),
        (MediaInterfaceDescriptorLoad::HEADER, 0x7002_0002),
        (MediaStateFlush::HEADER, 0x7004_0000),
        (MediaObject::HEADER, 0x7100_0004),
        (State3dVs::HEADER, 0x7810_0004),
        (State3dWm::HEADER, 0x7814_0007),
        (State3dConstantPs::HEADER, 0x7817_0003),
        (StateBaseAddress::HEADER, 0x6101_0008),
    ] {
        assert_eq!(header, expected, "{header:08x}");
    }
}
