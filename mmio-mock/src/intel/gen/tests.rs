//! The devices by name and by number, and what a row says of each.
//!
//! PRM: volume 4, 1.0. PCI ids: i915 `i915_pciids.h`; sizes: Mesa 22.3.6 `intel_device_info.c`.

mod engines;
mod host;
mod sandybridge;

use super::gen70::units;
use super::{DEVICES, GENERATIONS, find, readers, tables};
use crate::intel::bench::ThreadBench;
use crate::intel::ff::list::List;
use crate::intel::ff::stage::Stage;
use crate::intel::ff::state::{ClipState, DrawState, DsState, GsState};
use crate::intel::shared::context::ThreadContext;
use crate::intel::status::Busy;
use crate::intel::urb::Owner;

/// 82Q965 and 82Q963 share a number; [DevBW] stands for the 82G35 too, whose own tag names it alone.
// covers: 1.0-01, 1.0-02
#[test]
fn every_part_of_the_table_can_be_chosen() {
    for (name, pci, tag) in [
        ("q965", "8086:2992", "DevBW"),
        ("g965", "8086:29a2", "DevBW"),
        ("g35", "8086:2982", "DevBW"),
        ("gm965", "8086:2a02", "DevCL"),
        ("gme965", "8086:2a12", "DevCL"),
    ] {
        let device = find(name).unwrap();
        assert_eq!(find(pci), Some(device), "{name}");
        assert_eq!(find(&name.to_uppercase()), Some(device), "{name}");
        let (_, tagged) = regs::platform::of_device(device.pci.1).unwrap();
        assert_eq!(tagged.code, tag, "{name}");
        // What has no tag holds for all: array of EUs, instruction set.
        assert_eq!((device.eus, device.threads_per_eu), (8, 4), "{name}");
        assert_eq!(device.isa, isa::Verx10::GEN40, "{name}");
    }
}

/// i915_reg.h: `I915_ERROR_PAGE_TABLE` is bit 4, `GM45_ERROR_PAGE_TABLE` bit 5, of which `i965_irq_postinstall` speaks for all G4x.
#[test]
fn errors_of_page_tables_have_the_bit_of_their_device() {
    for device in DEVICES {
        let g4x = device.isa.times_ten() == 45;
        let bit = if g4x { 5 } else { 4 };
        assert_eq!(device.interrupts.page_table, 1 << bit, "{}", device.name);
    }
}

/// Numbers of the PCI ids and sizes as the two drivers print them.
#[test]
fn later_parts_have_their_own_sizes() {
    for (name, pci, revision, version, eus, threads, urb_bytes) in [
        ("g45", "8086:2e22", 3, 45, 10, 5, 384 * 64),
        ("gm45", "8086:2a42", 7, 45, 10, 5, 384 * 64),
        ("q45", "8086:2e12", 3, 45, 10, 5, 384 * 64),
        ("g41", "8086:2e32", 3, 45, 10, 5, 384 * 64),
        ("b43", "8086:2e42", 3, 45, 10, 5, 384 * 64),
        ("b43.1", "8086:2e92", 3, 45, 10, 5, 384 * 64),
        ("eaglelake", "8086:2e02", 3, 45, 10, 5, 384 * 64),
        ("ironlake", "8086:0042", 2, 50, 12, 6, 1024 * 64),
        ("ironlake-m", "8086:0046", 2, 50, 12, 6, 1024 * 64),
        ("sandybridge", "8086:0126", 9, 60, 12, 5, 1024 * 64),
        ("sandybridge-m-gt2", "8086:0116", 9, 60, 12, 5, 1024 * 64),
        ("sandybridge-m-gt1", "8086:0106", 9, 60, 6, 5, 512 * 64),
        ("sandybridge-gt2", "8086:0122", 9, 60, 12, 5, 1024 * 64),
        ("sandybridge-gt2-0112", "8086:0112", 9, 60, 12, 5, 1024 * 64),
        ("sandybridge-gt1", "8086:0102", 9, 60, 6, 5, 512 * 64),
        // intel_device_info_byt: four EUs of eight threads.
        ("valleyview", "8086:0f31", 14, 70, 4, 8, 160 * 1024),
    ] {
        let device = find(name).unwrap();
        assert_eq!(find(pci), Some(device), "{name}");
        assert_eq!(device.revision, revision, "{name}");
        assert_eq!(device.isa.times_ten(), version, "{name}");
        assert_eq!((device.eus, device.threads_per_eu), (eus, threads));
        assert_eq!(u32::from(device.urb_rows) * 32, urb_bytes, "{name}");
    }
}

#[test]
fn tables_readers_and_instruction_set_are_of_one_generation() {
    for device in DEVICES {
        let (generation, _) = regs::platform::of_device(device.pci.1).unwrap();
        assert_eq!(generation, device.tables, "{}", device.name);
        assert_eq!(
            generation.times_ten(),
            device.isa.times_ten(),
            "{}",
            device.name
        );
        assert_eq!(tables(device.isa), Some(generation), "{}", device.name);
        let by_set = readers(device.isa).unwrap();
        let same = format!("{by_set:?}") == format!("{:?}", device.readers);
        assert!(same, "{}", device.name);
        let again = DEVICES.iter().filter(|other| other.name == device.name);
        assert_eq!(again.count(), 1, "{}", device.name);
        // Half of BAR 0 has room for the whole table.
        assert!(device.gtt_entries * 4 <= device.bar_bytes as usize / 2);
    }
}

/// The stages of the 3D pipeline of 965 and its successors (PRM volume 2, 3D pipeline).
#[test]
fn lists_of_stages_name_each_unit_once_in_its_order() {
    for (isa, readers) in GENERATIONS {
        let list = List::new(readers.pipeline.stages());
        let parts: Vec<Busy> = list.stages().map(Stage::part).collect();
        let before_hull = [
            Busy::Vf,
            Busy::Vs,
            Busy::Gs,
            Busy::Clip,
            Busy::Sf,
            Busy::Windower,
        ];
        let from_hull = [
            Busy::Vf,
            Busy::Vs,
            Busy::Hs,
            Busy::Te,
            Busy::Ds,
            Busy::Gs,
            Busy::Sol,
            Busy::Clip,
            Busy::Sf,
            Busy::Windower,
        ];
        let wanted = if isa.times_ten() >= 70 {
            &from_hull[..]
        } else {
            &before_hull[..]
        };
        assert_eq!(parts, wanted, "{isa:?}");
        assert_eq!(list.misfit(), None, "{isa:?}");
        assert!(list.stages().next().unwrap().takes().is_empty(), "{isa:?}");
        let last = list.stages().next_back().unwrap();
        assert!(last.gives().is_empty(), "{isa:?}");
        let context = |_| ThreadContext::default();
        let owners = list.stages().filter_map(|stage| {
            let draw = DrawState {
                hs: units::tessellation::hs(&[0, 0, 1 << 31], &[], context, None),
                ds: Some(DsState::default()),
                gs: Some(GsState::default()),
                geometry: units::geometry::geometry(&[0, 0, 0, 0, 0, 1], &[], context, None),
                clip: Some(ClipState::default()),
                ..DrawState::default()
            };
            stage.section(&draw).map(|(owner, _)| owner)
        });
        // From generation 6 on clipper and setup have no threads, and so no entries (3DSTATE_URB has two sections). Generation 7 has a
        // command for each section.
        let sections: &[Owner] = match isa.times_ten() {
            ..60 => &[Owner::Vs, Owner::Gs, Owner::Clip, Owner::Sf],
            60..70 => &[Owner::Vs, Owner::Gs],
            _ => &[Owner::Vs, Owner::Hs, Owner::Ds, Owner::Gs],
        };
        assert_eq!(owners.collect::<Vec<_>>(), sections, "{isa:?}");
    }
}

/// What a device shows in INSTDONE are its stages and the parts around them.
#[test]
fn each_stage_has_a_bit_that_says_done() {
    for device in DEVICES {
        let list = List::new(device.readers.pipeline.stages());
        let shown = |part| device.render.done.iter().any(|&(of, _, _)| of == part);
        for stage in list.stages() {
            assert!(shown(stage.part()), "{} {stage:?}", device.name);
        }
        for &(part, _, _) in device.render.done {
            let around = [Busy::Threads, Busy::Parser].contains(&part);
            let listed = list.stages().any(|stage| stage.part() == part);
            assert!(around != listed, "{} {part:?}", device.name);
        }
    }
}

#[test]
fn a_generation_without_devices_is_refused() {
    for version in [0, 39, 41, 44, 46, 49, 51, 59, 61, 69, 71, 75, 255] {
        let isa = isa::Verx10::from_times_ten(version);
        assert!(readers(isa).is_none(), "{version}");
        assert!(tables(isa).is_none(), "{version}");
        assert!(ThreadBench::new(isa).is_none(), "{version}");
    }
    assert_eq!(find("g33"), None);
    assert_eq!(find("8086:29c2"), None, "G33");
    assert_eq!(find("8086:0166"), None, "Ivybridge");
}
