//! Several samples of a pixel, and what a draw does to targets in place of drawing.
//!
//! genxml gen7 3DSTATE_MULTISAMPLE, 3DSTATE_SAMPLE_MASK, 3DSTATE_PS; modes of 3DSTATE_WM.

use regs::gen70 as table;
use regs::ids::CommandId;

use crate::intel::cc::control::Pass;
use crate::intel::ff::state::PipelineState;
use crate::intel::ff::state::windower::Samples;

fn words(state: &PipelineState, id: CommandId) -> &[u32] {
    state.kept.get(&id).map(Vec::as_slice).unwrap_or_default()
}

/// Samples of a draw, with the modes of its 3DSTATE_WM.
pub fn samples(state: &PipelineState, wm: &table::State3dWm) -> Samples {
    let m = words(state, CommandId::State3dMultisample);
    let m = table::State3dMultisample::from_dwords(m);
    let count = match m.number_of_multisamples() {
        2 => 4,
        3 => 8,
        _ => 1,
    };
    // Places stand in sixteenths of a pixel.
    let places = [
        [m.sample0_x_offset(), m.sample0_y_offset()],
        [m.sample1_x_offset(), m.sample1_y_offset()],
        [m.sample2_x_offset(), m.sample2_y_offset()],
        [m.sample3_x_offset(), m.sample3_y_offset()],
        [m.sample4_x_offset(), m.sample4_y_offset()],
        [m.sample5_x_offset(), m.sample5_y_offset()],
        [m.sample6_x_offset(), m.sample6_y_offset()],
        [m.sample7_x_offset(), m.sample7_y_offset()],
    ];
    // CAST: a field of eight bits.
    let mask = match words(state, CommandId::State3dSampleMask) {
        // None was sent: all are written.
        [] => 0xff,
        words => table::State3dSampleMask::from_dwords(words).sample_mask() as u8,
    };
    Samples {
        count,
        places,
        // MSRASTMODE_OFF_PATTERN and MSRASTMODE_ON_PATTERN.
        pattern: count > 1 && wm.multisample_rasterization_mode() & 1 != 0,
        per_sample: count > 1 && wm.multisample_dispatch_mode() == 0,
        mask,
    }
}

/// What a draw does to its targets in place of drawing.
pub fn pass(state: &PipelineState) -> Option<Pass> {
    let ps = table::State3dPs::from_dwords(words(state, CommandId::State3dPs));
    if ps.render_target_fast_clear_enable() {
        return Some(Pass::Clear);
    }
    let resolve = ps.render_target_resolve_enable();
    resolve.then_some(Pass::Resolve)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn read(multisample: [u32; 4], mask: Option<u32>, wm: [u32; 3]) -> Samples {
        let mut state = PipelineState::default();
        let id = CommandId::State3dMultisample;
        state.kept.insert(id, multisample.to_vec());
        if let Some(mask) = mask {
            let id = CommandId::State3dSampleMask;
            state.kept.insert(id, vec![0x7818_0000, mask]);
        }
        samples(&state, &table::State3dWm::from_dwords(&wm))
    }

    /// The places of four and of eight samples that Mesa 22.3.6 sends (intel_sample_positions.c,
    /// intel_sample_positions.h), packed by hand: y in the lower nibble of each byte.
    // covers: V-0120
    #[test]
    fn places_of_four_and_eight() {
        let per_sample = [0x7814_0001, 3, 0];
        let four = read([0x790d_0002, 2 << 1, 0xae2a_e662, 0], None, per_sample);
        assert_eq!((four.count, four.mask), (4, 0xff));
        assert_eq!((four.pattern, four.per_sample), (true, true));
        assert_eq!(four.places[0], [0.375, 0.125]);
        assert_eq!(four.places[3], [0.625, 0.875]);
        let per_pixel = [0x7814_0001, 2, 1 << 31];
        let eight = [
            [9, 5],
            [7, 11],
            [13, 9],
            [5, 3],
            [3, 13],
            [1, 7],
            [11, 15],
            [15, 1],
        ];
        let dword = |samples: &[[u32; 2]]| {
            let bytes = samples.iter().zip(0..);
            bytes.fold(0, |word, ([x, y], n)| word | (x << 4 | y) << (8 * n))
        };
        let words = [0x790d_0002, 3 << 1, dword(&eight[..4]), dword(&eight[4..])];
        let found = read(words, Some(0x5a), per_pixel);
        assert_eq!((found.count, found.mask), (8, 0x5a));
        assert_eq!((found.pattern, found.per_sample), (false, false));
        let want = eight.map(|place| place.map(|n| n as f32 / 16.0));
        assert_eq!(found.places, want);
        let one = read([0x790d_0002, 0, 0x88, 0], Some(1), per_sample);
        assert_eq!((one.count, one.pattern, one.per_sample), (1, false, false));
    }

    // covers: V-0048
    #[test]
    fn passes_over_targets() {
        let mut state = PipelineState::default();
        assert_eq!(pass(&state), None);
        for (bits, want) in [
            (1 << 8, Some(Pass::Clear)),
            (1 << 6, Some(Pass::Resolve)),
            (1 << 7, None),
        ] {
            let mut ps = vec![0x7820_0006, 0, 0, 0, bits, 0, 0, 0];
            ps[1] = 0x40;
            state.kept.insert(CommandId::State3dPs, ps);
            assert_eq!(pass(&state), want);
        }
    }
}
