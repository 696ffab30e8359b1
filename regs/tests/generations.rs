//! Which device has which generation, and registers that moved or differ.
//! i915 i915_pciids.h, i915_reg.h, intel_mchbar_regs.h, gt/intel_gt_regs.h; intel-gtt.c.

use regs::desc::Access;
use regs::ids::RegId;
use regs::platform::{GENERATIONS, Generation, of_device};

#[test]
fn a_device_has_its_generation() {
    // i915_pciids.h: INTEL_I965G, I965GM, G45, GM45, IRONLAKE_D, IRONLAKE_M, SNB_D, SNB_M and VLV.
    let ids: [(u8, &[u16]); 5] = [
        (40, &[0x2972, 0x2982, 0x2992, 0x29a2, 0x2a02, 0x2a12]),
        (
            45,
            &[0x2a42, 0x2e02, 0x2e12, 0x2e22, 0x2e32, 0x2e42, 0x2e92],
        ),
        (50, &[0x0042, 0x0046]),
        (
            60,
            &[0x0102, 0x0106, 0x010a, 0x0112, 0x0116, 0x0122, 0x0126],
        ),
        (70, &[0x0f30, 0x0f31, 0x0f32, 0x0f33]),
    ];
    for (version, ids) in ids {
        for id in ids {
            let (generation, device) = of_device(*id).unwrap();
            assert_eq!((generation.times_ten(), device.pci), (version, *id));
            assert_eq!(device.generation, generation);
        }
    }
    // Ivy Bridge, a 945 and a device of another vendor's numbering.
    for id in [0x0152, 0x27a2, 0x0000, 0x6718] {
        assert!(of_device(id).is_none(), "{id:04x}");
    }
    let versions = GENERATIONS.map(Generation::times_ten);
    assert_eq!(versions, [40, 45, 50, 60, 70]);
}

/// Sources of the generated modules.
const ANY: &str = include_str!(concat!(env!("OUT_DIR"), "/any.rs"));
const MODULES: [&str; 5] = [
    include_str!(concat!(env!("OUT_DIR"), "/gen40.rs")),
    include_str!(concat!(env!("OUT_DIR"), "/gen45.rs")),
    include_str!(concat!(env!("OUT_DIR"), "/gen50.rs")),
    include_str!(concat!(env!("OUT_DIR"), "/gen60.rs")),
    include_str!(concat!(env!("OUT_DIR"), "/gen70.rs")),
];

/// Registers by their tables, commands and structures by the modules that define or import their types.
#[test]
fn the_neutral_module_names_what_two_generations_have() {
    assert_eq!(MODULES.len(), GENERATIONS.len());
    let mut checked = 0;
    for path in ANY
        .lines()
        .filter_map(|l| l.strip_prefix("pub use crate::"))
    {
        let segments: Vec<&str> = path.trim_end_matches(';').split("::").collect();
        let [_, rest @ .., name] = segments.as_slice() else {
            continue;
        };
        if rest.is_empty() && *name == "*" {
            continue;
        }
        // A constant cannot begin with a digit: 3D_CHICKEN2 is N3D_CHICKEN2.
        let called = |own: &str| {
            let own = own.replace(|c: char| !c.is_alphanumeric(), "_");
            name.strip_prefix('N').unwrap_or(name) == own || *name == own
        };
        let holders = GENERATIONS
            .iter()
            .zip(MODULES)
            .filter(|(generation, module)| {
                if rest.is_empty() {
                    module.contains(&format!("pub struct {name}("))
                        || module.contains(&format!("::{name};"))
                } else {
                    generation.registers.iter().any(|r| called(r.name))
                }
            });
        assert!(holders.count() >= 2, "{path}");
        checked += 1;
    }
    assert!(checked > 300, "{checked}");
}

fn at(generation: &Generation, name: &str) -> Option<(u32, u32, Access)> {
    let r = generation.register(name)?;
    Some((r.offset, r.count, r.access))
}

/// Bit or lowest bit of a field.
fn bit(generation: &Generation, register: &str, field: &str) -> u8 {
    let r = generation.register(register).unwrap();
    let f = r.fields.iter().find(|f| f.name == field);
    f.unwrap_or_else(|| panic!("{register}.{field}")).lo
}

#[test]
fn registers_are_where_i915_has_them() {
    let [old, g45, ilk, ..] = GENERATIONS;
    let rw = |offset| Some((offset, 1, Access::Rw));
    // The translation table lies in the upper half of a BAR of 1 or 4 MiB.
    assert_eq!(at(old, "GTT_PTE"), Some((0x80000, 0x20000, Access::Rw)));
    for g in [g45, ilk] {
        assert_eq!(at(g, "GTT_PTE"), Some((0x20_0000, 0x8_0000, Access::Rw)));
        assert_eq!(at(g, "FENCE"), Some((0x3000, 16, Access::Rw)));
        assert_eq!(at(g, "PGTBL_CTL"), rw(0x2020));
        assert_eq!(at(g, "HWS_PGA"), rw(0x2080));
        assert_eq!((g.lookup)(0x20_0010), Some((RegId::GttPte, 4, 0)));
        assert_eq!(bit(g, "CACHE_MODE_0", "Pipelined Render Flush Disable"), 8);
        assert_eq!(bit(g, "MI_MODE", "VS Timer Dispatch"), 6);
        assert_eq!(bit(g, "INSTDONE_1", "WIZ Done"), 6);
        assert_eq!(bit(g, "INSTDONE_1", "BCS Done"), 31);
    }
    for (name, offset, access) in [
        ("DEISR", 0x44000, Access::Ro),
        ("DEIMR", 0x44004, Access::Rw),
        ("DEIIR", 0x44008, Access::W1c),
        ("DEIER", 0x4400c, Access::Rw),
        ("GTISR", 0x44010, Access::Ro),
        ("GTIMR", 0x44014, Access::Rw),
        ("GTIIR", 0x44018, Access::W1c),
        ("GTIER", 0x4401c, Access::Rw),
        ("SDEISR", 0xc4000, Access::Ro),
        ("SDEIMR", 0xc4004, Access::Rw),
        ("SDEIIR", 0xc4008, Access::W1c),
        ("SDEIER", 0xc400c, Access::Rw),
        ("ILK_GDSR", 0x12ca4, Access::Rw),
        ("3D_CHICKEN2", 0x208c, Access::Masked),
        ("ILK_DSPCLK_GATE_D", 0x42020, Access::Rw),
    ] {
        assert_eq!(at(ilk, name), Some((offset, 1, access)), "{name}");
        assert!(at(g45, name).is_none() && at(old, name).is_none(), "{name}");
    }
    for (field, lo) in [
        ("User", 0),
        ("Debug", 1),
        ("Sync Status", 2),
        ("Master Error", 3),
        ("Pipe Control Notify", 4),
        ("BSD User", 5),
    ] {
        assert_eq!(bit(ilk, "GTIIR", field), lo);
    }
    assert_eq!(bit(ilk, "DEIER", "Master Interrupt Control"), 31);
    assert_eq!(bit(ilk, "DEIIR", "PCH Event"), 21);
    assert_eq!(bit(ilk, "DEIIR", "Pipe A VBlank"), 7);
    assert_eq!(bit(ilk, "ILK_GDSR", "Reset Domain"), 1);
    for gone in ["IER", "IIR", "IMR", "ISR", "GDRST", "DCC", "PIPEASTAT"] {
        assert!(at(ilk, gone).is_none() && at(g45, gone).is_some(), "{gone}");
    }
    assert!(at(g45, "DEUC").is_none() && at(g45, "VDECCLK_GATE_D").is_some());
}

/// gt/intel_engine_regs.h `RING_*` at `BSD_RING_BASE`, 4000h. Fields are those of the render engine's at 2000h.
#[test]
fn the_decoders_streamer_has_the_registers_of_the_render_engines() {
    let [old, g45, ilk, ..] = GENERATIONS;
    for (bsd, render, offset) in [
        ("BSD_RING_TAIL", "PRB0_TAIL", 0x30),
        ("BSD_RING_HEAD", "PRB0_HEAD", 0x34),
        ("BSD_RING_START", "PRB0_START", 0x38),
        ("BSD_RING_CTL", "PRB0_CTL", 0x3c),
        ("BSD_IPEIR", "IPEIR", 0x64),
        ("BSD_IPEHR", "IPEHR", 0x68),
        ("BSD_INSTPS", "INSTPS", 0x70),
        ("BSD_ACTHD", "ACTHD", 0x74),
        ("BSD_DMA_FADD", "DMA_FADD", 0x78),
        ("BSD_NOPID", "NOPID", 0x94),
        ("BSD_BB_STATE", "BB_STATE", 0x110),
        ("BSD_BB_ADDR", "BB_ADDR", 0x140),
    ] {
        assert!(at(old, bsd).is_none(), "{bsd}");
        for g in [g45, ilk] {
            let (of, like) = (g.register(bsd).unwrap(), g.register(render).unwrap());
            assert_eq!(of.offset, 0x4000 + offset, "{bsd}");
            assert_eq!(like.offset, 0x2000 + offset, "{render}");
            for value in [0, 0x5a5a_5a5a, u32::MAX] {
                assert_eq!(of.write(0, 0, value), like.write(0, 0, value), "{bsd}");
                assert_eq!(of.read(0, value), like.read(0, value), "{bsd}");
            }
            assert_eq!(of.reset_dword(0), like.reset_dword(0), "{bsd}");
        }
    }
    for g in [g45, ilk] {
        assert_eq!(at(g, "BSD_INSTDONE"), Some((0x406c, 1, Access::Ro)));
        assert_eq!(at(g, "BSD_HWS_PGA"), Some((0x4080, 1, Access::Rw)));
        assert_eq!(at(g, "BSD_MI_MODE"), Some((0x409c, 1, Access::Masked)));
        assert_eq!(at(g, "BSD_ESR"), Some((0x40b8, 1, Access::Ro)));
        // MODE_IDLE, STOP_RING; the status page is at a graphics address, which has 32 bits.
        assert_eq!(bit(g, "BSD_MI_MODE", "Mode Idle"), 9);
        assert_eq!(bit(g, "BSD_MI_MODE", "Stop Ring"), 8);
        let page = g.register("BSD_HWS_PGA").unwrap();
        assert_eq!(page.write(0, 0, u32::MAX), 0xffff_f000);
    }
}

#[test]
fn neutral_names_are_the_generations_types() {
    use regs::{any, gen40, gen45, gen50};
    // The same layout everywhere is one type.
    let fence: any::UrbFence = gen50::UrbFence::new();
    assert_eq!(fence, gen40::UrbFence::new());
    let stencil = gen50::State3dStencilBuffer::new();
    assert_eq!(stencil.dwords()[0], 0x790e_0001);
    assert_eq!(any::values::surface_format::R8G8B8A8_UNORM, 0x0c7);
    assert_eq!(any::values::prim_topo_type::PRIM_TRILIST, 4);
    // Opcodes that moved, and lengths.
    assert_eq!(gen40::PipelineSelect::HEADER, 0x6104_0000);
    assert_eq!(gen45::PipelineSelect::HEADER, 0x6904_0000);
    assert_eq!(gen50::PipelineSelect::HEADER, 0x6904_0000);
    assert_eq!(gen45::WmState::LEN, 8);
    assert_eq!(gen50::WmState::LEN, 11);
}
