//! What the host sees: BAR, GTT, resets, interrupts, status page.
//!
//! Offsets and bits: i915 `intel_reset.c`, `i915_reg.h`, `intel_pci_config.h`; intel-gtt.c.

use std::sync::Arc;

use kernel::io::Io;
use kernel::pci::ConfigSpace;
use mem::PhysAddr;

use crate::core::Model;
use crate::core::memory::lock;
use crate::intel::r#gen::find;
use crate::intel::platform::ModelPlatform;

/// GDRST in configuration space, and its values (i915 `intel_pci_config.h`).
const GDRST: usize = 0xc0;
const RENDER: u8 = 1 << 2 | 1;
const MEDIA: u8 = 3 << 2 | 1;
/// ILK_GDSR, and its values (i915 `intel_mchbar_regs.h`).
const GDSR: usize = 0x12ca4;
const ILK_RENDER: u32 = 1 << 1 | 1;
const ILK_MEDIA: u32 = 3 << 1 | 1;

/// MI_MODE is one of the render engine's registers: bit 8 stops the ring; bit 9 says that the engine is idle.
const MI_MODE: usize = 0x209c;
const STOP: u32 = 1 << 8;

fn platform(name: &str) -> Arc<ModelPlatform> {
    ModelPlatform::new(find(name).unwrap(), 4 << 20)
}

fn read(platform: &ModelPlatform, at: usize) -> u32 {
    Io::read32(platform, at)
}

fn write(platform: &ModelPlatform, at: usize, value: u32) {
    Io::write32(platform, value, at);
}

fn stopped(platform: &ModelPlatform) -> bool {
    read(platform, MI_MODE) & STOP != 0
}

fn stop(platform: &ModelPlatform) {
    write(platform, MI_MODE, STOP << 16 | STOP);
    assert!(stopped(platform));
}

/// Places of the table: 512 KiB into a BAR of 1 MiB, 2 MiB into one of 4 MiB (intel-gtt.c `i9xx_setup`). PGTBL_CTL 3:1
/// has its size (intel-agp.h `I965_PGETBL_SIZE_*`: 0 is 512 KiB, 4 is 2 MiB).
#[test]
fn the_translation_table_is_the_upper_half_of_the_bar() {
    for (name, bar, size) in [
        ("gm965", 1 << 20, 0),
        ("g45", 4 << 20, 4),
        ("ironlake", 4 << 20, 4),
    ] {
        let platform = platform(name);
        let resource = platform.bar(0).unwrap();
        assert_eq!(resource.len, bar as u64, "{name}");
        assert_eq!(read(&platform, 0x2020) >> 1 & 7, size, "{name}");
        let entries = find(name).unwrap().gtt_entries;
        for index in [0, 1, entries - 1] {
            let entry = 0x0012_3000 | (index as u32) << 12 | 1;
            write(&platform, bar / 2 + 4 * index, entry);
            assert_eq!(read(&platform, bar / 2 + 4 * index), entry, "{name}");
            assert_eq!(lock(platform.memory()).gtt_read(index), entry, "{name}");
        }
        if bar / 2 != 4 * entries {
            continue;
        }
        write(&platform, bar, 1);
        assert_eq!(lock(platform.memory()).gtt_read(entries), 0, "{name}");
    }
}

/// i915 resets the media domain first, then the render domain (`g4x_do_reset`).
#[test]
fn g45_resets_a_domain() {
    const IER: usize = 0x20a0;
    let platform = platform("g45");
    stop(&platform);
    write(&platform, IER, 2);
    platform.write8(MEDIA, GDRST);
    assert_eq!(platform.read8(GDRST) & 1, 0, "the reset is over");
    assert!(stopped(&platform), "the render engine is another domain");
    platform.write8(RENDER, GDRST);
    assert_eq!(platform.read8(GDRST) & 1, 0);
    assert!(!stopped(&platform));
    // i915 does not enable interrupts again on this device.
    assert_eq!(read(&platform, IER), 2);
    write(&platform, GDSR, ILK_RENDER);
    assert_eq!(read(&platform, GDSR), 0, "a register of Ironlake");
}

/// `ilk_do_reset`: a register instead of configuration space, whose enable bit falls.
#[test]
fn ironlake_resets_by_its_register() {
    const GTIER: usize = 0x4401c;
    const DEIER: usize = 0x4400c;
    let platform = platform("ironlake-m");
    stop(&platform);
    write(&platform, GTIER, 1);
    write(&platform, DEIER, 1 << 31);
    platform.write8(RENDER, GDRST);
    assert!(stopped(&platform), "no reset in configuration space");
    write(&platform, GDSR, ILK_MEDIA);
    assert_eq!(read(&platform, GDSR), 3 << 1);
    assert!(stopped(&platform), "the render engine is another domain");
    write(&platform, GDSR, ILK_RENDER);
    assert_eq!(read(&platform, GDSR), 1 << 1);
    assert!(!stopped(&platform));
    assert_eq!(read(&platform, GTIER), 1);
    assert_eq!(read(&platform, DEIER), 1 << 31);
    write(&platform, GDSR, 0);
    assert_eq!(read(&platform, GDSR), 0);
}

/// Ring at 10000h, status page at 20000h of the graphics addresses.
const RING: u32 = 0x1_0000;
const STATUS: u32 = 0x2_0000;

/// Runs commands from the ring; returns the physical address of the page behind [`STATUS`].
fn run(platform: &ModelPlatform, commands: &[u32]) -> u64 {
    let mut memory = lock(platform.memory());
    for page in [RING, STATUS] {
        memory.alloc_mapped(mem::GpuAddr::from(page), 4096).unwrap();
    }
    memory
        .write_dwords(mem::GpuAddr::from(RING), commands)
        .unwrap();
    let status = mem::Pte(memory.gtt_read((STATUS >> 12) as usize)).phys();
    drop(memory);
    write(platform, 0x2038, RING);
    write(platform, 0x203c, 1);
    write(platform, 0x2030, 4 * commands.len() as u32);
    platform.run(1000);
    assert!(platform.device().idle());
    status
}

/// MI_STORE_DATA_INDEX 20h, the dword and MI_USER_INTERRUPT (i915 `gen2_engine_cs.c` `gen4_emit_breadcrumb`).
const BREADCRUMB: [u32; 4] = [0x1080_0001, 0x20 << 2, 0x1234_5678, 0x0100_0000];

/// HWS_PGA is a graphics address but on 965 and GM965 (i915_drv.h `HWS_NEEDS_PHYSICAL`).
#[test]
fn the_status_page_is_a_graphics_address() {
    for (name, graphics) in [
        ("gm965", false),
        ("g45", true),
        ("gm45", true),
        ("ironlake", true),
    ] {
        let platform = platform(name);
        let other = lock(platform.memory()).alloc_pages(1).unwrap().0;
        write(
            &platform,
            0x2080,
            if graphics { STATUS } else { other as u32 },
        );
        let status = run(&platform, &BREADCRUMB);
        let (expected, unused) = if graphics {
            (status, other)
        } else {
            (other, status)
        };
        let memory = lock(platform.memory());
        let dword = |page: u64| memory.phys_read_u32(PhysAddr(page + 0x80)).unwrap();
        assert_eq!(dword(expected), 0x1234_5678, "{name}");
        assert_eq!(dword(unused), 0, "{name}");
    }
}

/// `GT_RENDER_USER_INTERRUPT` is bit 0, and nothing reaches the line without `DE_MASTER_IRQ_CONTROL`.
#[test]
fn ironlakes_interrupts_need_the_display_engines_master_bit() {
    const DEIER: usize = 0x4400c;
    let [gtisr, gtimr, gtiir, gtier] = [0x44010, 0x44014, 0x44018, 0x4401c];
    let platform = platform("ironlake");
    write(&platform, gtimr, !1);
    write(&platform, gtier, 1);
    write(&platform, 0x2080, STATUS);
    run(&platform, &BREADCRUMB);
    assert_eq!(read(&platform, gtisr), 1);
    assert_eq!(read(&platform, gtiir), 1);
    assert!(!platform.device().irq_line());
    write(&platform, DEIER, 1 << 31);
    assert!(platform.device().irq_line());
    write(&platform, gtiir, 1);
    assert_eq!(read(&platform, gtiir), 0);
    assert!(!platform.device().irq_line());
}

/// On G45 the render engine's user interrupt is bit 1 of IIR, as before.
#[test]
fn g45_interrupts_as_965() {
    let platform = platform("g45");
    write(&platform, 0x20a8, !2);
    write(&platform, 0x20a0, 2);
    write(&platform, 0x2080, STATUS);
    run(&platform, &BREADCRUMB);
    assert_eq!(read(&platform, 0x20a4), 2);
    assert!(platform.device().irq_line());
}

/// i915 vlv_sideband.c `vlv_sideband_rw` (address, data, then the request: function 0, opcode, port 4, all bytes, busy) and
/// display/intel_display_power_well.c `vlv_set_power_well`: the state follows what is written; VED and ISP are gated (state 3).
#[test]
fn valleyviews_power_wells_follow_over_the_sideband() {
    const ASK: usize = 0x18_2100;
    let platform = platform("valleyview");
    let access = |opcode: u32, address: u32, data: u32| {
        write(&platform, ASK + 8, address);
        write(&platform, ASK + 4, data);
        write(&platform, ASK, opcode << 16 | 4 << 8 | 0xf << 4 | 1);
        assert_eq!(read(&platform, ASK) & 1, 0, "over at once");
        read(&platform, ASK + 4)
    };
    assert_eq!(access(6, 0x61, 0xffff), 0, "all wells are on");
    access(7, 0x60, 0x0c00);
    assert_eq!(access(6, 0x60, 0), 0x0c00);
    assert_eq!(access(6, 0x61, 0), 0x0c00);
    access(7, 0x61, 0xffff);
    assert_eq!(access(6, 0x61, 0), 0x0c00, "the state is not written");
    assert_eq!(access(6, 0x32, 0) & 3, 3);
    assert_eq!(access(6, 0x39, 0) & 3, 3);
    assert_eq!(access(6, 0xdc, 5), 0, "not modelled");
}
