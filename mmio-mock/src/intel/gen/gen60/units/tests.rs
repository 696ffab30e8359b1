//! Each field of the units' commands where genxml gen6 has it, alone.

use super::*;
use crate::intel::shared::context::StateBases;

/// A page for viewports, at the base of dynamic state.
const PAGE: u32 = 0x1000;

/// What a field changes in the state of a draw.
type Change = fn(&mut DrawState);

fn state(commands: &[(CommandId, &[u32])]) -> PipelineState {
    PipelineState {
        bases: StateBases {
            dynamic_state_base: Some(PAGE),
            ..StateBases::default()
        },
        kept: commands
            .iter()
            .map(|(id, words)| (*id, words.to_vec()))
            .collect(),
        ..PipelineState::default()
    }
}

fn read_draw(state: &PipelineState) -> DrawState {
    let mut mem = Memory::new(1 << 20, 512);
    mem.alloc_mapped(PAGE.into(), 4096).unwrap();
    // Sixteen structures of numbers that tell where they stood: 1.0, 2.0 and so on.
    for n in 0..128u32 {
        let at = GpuAddr::from(PAGE + 4 * n);
        mem.write_u32(at, (n as f32 + 1.0).to_bits()).unwrap();
    }
    units(&mem, state).unwrap()
}

/// The bits of a command, one field at a time, on top of `base`.
fn fields<const N: usize>(id: CommandId, base: [u32; N], rows: &[(usize, u32, Change)]) {
    let plain = read_draw(&state(&[(id, &base)]));
    for (dword, bits, change) in rows {
        let mut words = base;
        words[*dword] |= bits;
        let mut expected = plain;
        change(&mut expected);
        assert_ne!(expected, plain, "{id:?} {dword} {bits:#x}: changes nothing");
        let found = read_draw(&state(&[(id, &words)]));
        assert_eq!(found, expected, "{id:?} {dword} {bits:#x}");
    }
}

// covers: S-0013
#[test]
fn vs() {
    fields(
        CommandId::State3dVs,
        [0; 6],
        &[
            (1, 0x1234_5640, |d| d.vs.unit.kernel.ip = 0x1234_5640),
            (2, 1 << 7, |d| d.vs.unit.kernel.software_exception = true),
            (2, 1 << 13, |d| {
                d.vs.unit.kernel.illegal_opcode_exception = true;
            }),
            (2, 1 << 16, |d| d.vs.unit.kernel.alt_float = true),
            (3, 3, |d| {
                d.vs.unit.scratch_power = 3;
                d.vs.unit.context.scratch_size = 8192;
            }),
            (3, 0xabcd_e400, |d| {
                d.vs.unit.context.scratch_base = 0xabcd_e400;
            }),
            (4, 0x3f << 4, |d| d.vs.unit.read_offset = 63),
            (4, 0x3f << 11, |d| d.vs.unit.read_rows = 63),
            (4, 0x1f << 20, |d| d.vs.unit.kernel.urb_start = 31),
            (5, 1, |d| d.vs.enable = true),
            (5, 1 << 1, |d| d.vs.vertex_cache_disable = true),
            (5, 1 << 10, |d| d.vs.unit.statistics = true),
        ],
    );
}

/// 3DSTATE_GS with Enable (dword 6, bit 15), without which nothing of it is there.
const GS: [u32; 7] = [0, 0, 0, 0, 0, 0, 1 << 15];

fn gs_of(draw: &mut DrawState) -> &mut GsState {
    draw.gs.as_mut().unwrap()
}

fn stream_of(draw: &mut DrawState) -> &mut StreamState {
    gs_of(draw).stream.as_mut().unwrap()
}

#[test]
fn gs() {
    assert_eq!(
        read_draw(&state(&[(CommandId::State3dGs, &[0; 7])])).gs,
        None
    );
    fields(
        CommandId::State3dGs,
        GS,
        &[
            (1, 0x40, |d| gs_of(d).unit.kernel.ip = 0x40),
            (2, 1 << 7, |d| {
                gs_of(d).unit.kernel.software_exception = true;
            }),
            (2, 1 << 11, |d| {
                gs_of(d).unit.kernel.mask_stack_exception = true;
            }),
            (2, 1 << 13, |d| {
                gs_of(d).unit.kernel.illegal_opcode_exception = true;
            }),
            (2, 1 << 16, |d| gs_of(d).unit.kernel.alt_float = true),
            (2, 1 << 17, |d| gs_of(d).unit.kernel.high_priority = true),
            (2, 1 << 31, |d| {
                gs_of(d).unit.kernel.single_program_flow = true;
            }),
            (3, 11, |d| {
                gs_of(d).unit.scratch_power = 11;
                gs_of(d).unit.context.scratch_size = 2 << 20;
            }),
            (3, 0x400, |d| gs_of(d).unit.context.scratch_base = 0x400),
            (4, 0xf, |d| gs_of(d).unit.kernel.urb_start = 15),
            (4, 0x3f << 4, |d| gs_of(d).unit.read_offset = 63),
            (4, 0x3f << 11, |d| gs_of(d).unit.read_rows = 63),
            (5, 1 << 8, |d| gs_of(d).no_rendering = false),
            (5, 1 << 9, |d| stream_of(d).statistics = true),
            (5, 1 << 10, |d| {
                gs_of(d).unit.statistics = true;
                gs_of(d).output_statistics = true;
            }),
            (6, 1 << 27, |d| stream_of(d).increment = Some(0)),
            (6, 1 << 27 | 0x3ff << 16, |d| {
                stream_of(d).increment = Some(1023);
            }),
            (6, 1 << 28, |d| stream_of(d).payload = true),
            (6, 1 << 29, |d| gs_of(d).discard_adjacency = true),
            (6, 1 << 30, |d| gs_of(d).reorders_strips = true),
        ],
    );
}

/// Sizes are in 1024 bits, which are four rows, less one (genxml gen6 3DSTATE_URB; Mesa gen6_urb.c).
// covers: S-0097
#[test]
fn entries_of_the_urb() {
    let read = |words: &[u32]| {
        read_draw(&state(&[
            (CommandId::State3dUrb, words),
            (CommandId::State3dGs, &GS),
        ]))
    };
    let sizes = |draw: DrawState| {
        let [vs, gs] = [draw.vs.unit, draw.gs.unwrap().unit];
        [
            vs.urb_entries,
            vs.urb_entry_rows,
            gs.urb_entries,
            gs.urb_entry_rows,
        ]
    };
    assert_eq!(sizes(read(&[0, 0, 0])), [0, 4, 0, 4]);
    assert_eq!(sizes(read(&[0, 4 << 16 | 256, 0])), [256, 20, 0, 4]);
    assert_eq!(sizes(read(&[0, 0, 0x3ff << 8 | 2])), [0, 4, 1023, 12]);
}

/// Lengths are rows less one; buffer 0 is relative to dynamic state unless INSTPM says otherwise, the others are not.
// covers: S-0081
#[test]
fn constants() {
    let words = [
        0b1111 << 12,
        0x21f,
        0x4000_0000 | 1,
        0x5000_0020,
        0x6000_0040 | 7,
    ];
    let ids = [
        CommandId::State3dConstantVs,
        CommandId::State3dConstantGs,
        CommandId::State3dConstantPs,
    ];
    for id in ids {
        let of = |words: &[u32], absolute| {
            let state = PipelineState {
                constants_absolute: absolute,
                ..state(&[(id, words)])
            };
            pushed(&state, id).map(|pushed| pushed.buffers.map(|(at, rows)| (at.0, rows)))
        };
        let all = [
            (0x1200, 32),
            (0x4000_0000, 2),
            (0x5000_0020, 1),
            (0x6000_0040, 8),
        ];
        assert_eq!(of(&words, false), Some(all));
        assert_eq!(of(&words, true).unwrap()[0], (0x200, 32));
        for n in 0..4 {
            let mut one = words;
            one[0] = 1 << (12 + n);
            let rows = of(&one, false).unwrap().map(|(_, rows)| rows);
            let mut expected = [0; 4];
            expected[n] = all[n].1;
            assert_eq!(rows, expected, "buffer {n}");
        }
        let mut none = words;
        none[0] = 0;
        assert_eq!(of(&none, false), None);
    }
}

/// The pointers to sampler states are dwords 1 to 3; binding tables are VS, GS, CLIP, SF and PS.
#[test]
fn tables_of_each_unit() {
    let state = PipelineState {
        binding_tables: [0x20, 0x40, 0x60, 0x80, 0xa0],
        ..state(&[(
            CommandId::State3dSamplerStatePointers,
            &[0, 0x2000, 0x3000, 0x4000],
        )])
    };
    let of = |slot, unit| {
        let context = context(&state, (slot, unit), (0, 0));
        (context.binding_table_pointer, context.sampler_state_pointer)
    };
    assert_eq!(of(Slot::Vs, Unit::Vs), (0x20, 0x2000));
    assert_eq!(of(Slot::Gs, Unit::Gs), (0x40, 0x3000));
    assert_eq!(of(Slot::Ps, Unit::Wiz), (0xa0, 0x4000));
}

#[test]
fn clip() {
    fields(
        CommandId::State3dClip,
        [0; 4],
        &[
            (1, 0xff, |d| d.clipper.cull_distances = 0xff),
            (1, 1 << 10, |d| d.clipper.statistics = true),
            (2, 1 << 9, |d| d.clipper.divide_disable = true),
            (2, 3 << 13, |d| d.clipper.mode = ClipMode::RejectAll),
            (2, 4 << 13, |d| d.clipper.mode = ClipMode::AcceptAll),
            (2, 0xff << 16, |d| d.clipper.clip_distances = 0xff),
            (2, 1 << 27, |d| d.clipper.test_z = true),
            (2, 1 << 28, |d| d.clipper.test_xy = true),
            (2, 1 << 30, |d| d.clipper.api = ApiMode::Direct3d),
            (2, 1 << 31, |d| d.clipper.enable = true),
            (3, 15, |d| d.clipper.maximum_viewport = 15),
            (3, 1 << 5, |d| d.clipper.force_zero_array_index = true),
            // Eighths of a pixel.
            (3, 0x7ff << 6, |d| d.clipper.point_width.1 = 255.875),
            (3, 1 << 17, |d| d.clipper.point_width.0 = 0.125),
        ],
    );
}

/// CLIP_VIEWPORT: left, right, lower and upper bound, sixteen bytes apart; as many as Maximum VP Index says.
#[test]
fn guard_bands() {
    let clip = [0, 0, 1 << 31 | 1 << 26, 1];
    let pointers = [0, 0x20, 0, 0];
    let draw = read_draw(&state(&[
        (CommandId::State3dClip, &clip),
        (CommandId::State3dViewportStatePointers, &pointers),
    ]));
    let bands = draw.clipper.guardbands.unwrap();
    // The pointer passes eight of the page's numbers.
    assert_eq!((bands[0].x, bands[0].y), ((9.0, 10.0), (11.0, 12.0)));
    assert_eq!((bands[1].x, bands[1].y), ((13.0, 14.0), (15.0, 16.0)));
    assert_eq!(bands[2], Bounds::default());
}

#[test]
fn sf() {
    fields(
        CommandId::State3dSf,
        [0; 20],
        &[
            (1, 0x3f << 4, |d| d.setup.read_offset = 63),
            (1, 1 << 20, |d| d.setup.sprite_origin_lower = true),
            (1, 0x3f << 22, |d| d.setup.attributes = 63),
            (2, 1, |d| d.setup.front_counter_clockwise = true),
            (2, 1 << 3, |d| d.setup.fill[1] = FillMode::Wireframe),
            (2, 2 << 3, |d| d.setup.fill[1] = FillMode::Point),
            (2, 1 << 5, |d| d.setup.fill[0] = FillMode::Wireframe),
            (2, 2 << 5, |d| d.setup.fill[0] = FillMode::Point),
            (2, 1 << 7, |d| d.setup.offset.point = true),
            (2, 1 << 8, |d| d.setup.offset.wireframe = true),
            (2, 1 << 9, |d| d.setup.offset.solid = true),
            // 128th parts of a pixel.
            (3, 0x3ff << 18, |d| d.setup.line_width = 7.992_187_5),
            (3, 1 << 29, |d| d.setup.cull = CullMode::Neither),
            (3, 2 << 29, |d| d.setup.cull = CullMode::Front),
            (3, 3 << 29, |d| d.setup.cull = CullMode::Back),
            (4, 1 << 11, |d| d.setup.point_width = Some(0.0)),
            (4, 1 << 11 | 0x7ff, |d| {
                d.setup.point_width = Some(255.875);
            }),
            (4, 2 << 25, |d| d.setup.provoking_fan = 2),
            (4, 1 << 27, |d| d.setup.provoking_line = 1),
            (4, 2 << 29, |d| d.setup.provoking_triangle = 2),
            (16, 0x8000_0001, |d| d.setup.sprites = 0x8000_0001),
            (17, 0x8000_0001, |d| d.setup.constant = 0x8000_0001),
        ],
    );
}

/// Four bits for each of sixteen attributes, from dword 18 on.
#[test]
fn ways_round_a_circle() {
    for n in 0..16 {
        let mut words = [0; 20];
        words[18 + n / 8] = 0b1010 << (n % 8 * 4);
        let draw = read_draw(&state(&[(CommandId::State3dSf, &words)]));
        let mut expected = [0; SWIZZLES];
        expected[n] = 0b1010;
        assert_eq!(draw.setup.wrap_shortest, expected);
    }
}

/// SF_OUTPUT_ATTRIBUTE_DETAIL: two in each dword from dword 8 on, when Attribute Swizzle Enable is set.
#[test]
fn sources_of_attributes() {
    for n in 0..16 {
        let detail = |half: u32| {
            let mut words = [0; 20];
            words[8 + n / 2] = half << (n % 2 * 16);
            assert_eq!(
                read_draw(&state(&[(CommandId::State3dSf, &words)]))
                    .setup
                    .sources,
                None
            );
            words[1] = 1 << 21;
            let draw = read_draw(&state(&[(CommandId::State3dSf, &words)]));
            let sources = draw.setup.sources.unwrap();
            for (other, source) in sources.iter().enumerate() {
                assert!(other == n || *source == AttributeSource::default());
            }
            sources[n]
        };
        let plain = AttributeSource::default();
        assert_eq!(
            detail(31),
            AttributeSource {
                source: 31,
                ..plain
            }
        );
        // Swizzle Select: 1 by facing, 2 the fourth component, 3 both.
        let facing = AttributeSource {
            facing: true,
            ..plain
        };
        let fourth = AttributeSource {
            replicate_w: true,
            ..plain
        };
        assert_eq!(detail(1 << 6), facing);
        assert_eq!(detail(2 << 6), fourth);
        assert_eq!(
            detail(3 << 6),
            AttributeSource {
                facing: true,
                ..fourth
            }
        );
        let constants = [
            ConstantSource::Zeros,
            ConstantSource::ZeroZeroZeroOne,
            ConstantSource::Ones,
            ConstantSource::PrimitiveId,
        ];
        for (code, constant) in (0..).zip(constants) {
            assert_eq!(detail(code << 9).constant, constant);
        }
        for component in 0..4 {
            assert_eq!(detail(1 << (12 + component)).overrides, 1 << component);
        }
    }
}

/// SF_VIEWPORT: m00, m11, m22, m30, m31 and m32, 32 bytes apart; only with Viewport Transform Enable.
#[test]
fn viewports_of_strips_and_fans() {
    let mut sf = [0; 20];
    let pointers = [0, 0, 0x20, 0];
    let read = |sf: &[u32]| {
        read_draw(&state(&[
            (CommandId::State3dSf, sf),
            (CommandId::State3dClip, &[0, 0, 0, 1]),
            (CommandId::State3dViewportStatePointers, &pointers),
        ]))
        .setup
        .viewports
    };
    assert_eq!(read(&sf), None);
    sf[2] = 1 << 1;
    let viewports = read(&sf).unwrap();
    assert_eq!(viewports[0].scale, [9.0, 10.0, 11.0]);
    assert_eq!(viewports[0].offset, [12.0, 13.0, 14.0]);
    assert_eq!(viewports[1].scale, [17.0, 18.0, 19.0]);
    assert_eq!(viewports[1].offset, [20.0, 21.0, 22.0]);
    assert_eq!(viewports[2], Viewport::default());
}
