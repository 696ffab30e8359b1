//! The windower and its threads.
//! ValleyView volume 2 part 2, 3DSTATE_PS, 3DSTATE_WM, 3DSTATE_SAMPLE_MASK.
//! Does not read kernels. Of blend states and samplers it looks at the first: how many there are only kernels know.

use alloc::format;
use alloc::string::String;

use super::{Id, rule, table};
use crate::check::{Rule, View, When};

fn wm(v: &View<'_>) -> Option<table::State3dWm> {
    Some(table::State3dWm::from_dwords(v.kept(Id::State3dWm)?))
}

/// 3DSTATE_PS of a draw with threads.
fn ps(v: &View<'_>) -> Option<table::State3dPs> {
    let s = table::State3dPs::from_dwords(v.kept(Id::State3dPs)?);
    wm(v)?.thread_dispatch_enable().then_some(s)
}

/// The number of samples.
fn samples(v: &View<'_>) -> Option<u32> {
    let m = table::State3dMultisample::from_dwords(v.kept(Id::State3dMultisample)?);
    Some(1 << m.number_of_multisamples())
}

/// MSDISPMODE_PERSAMPLE.
fn per_sample(s: &table::State3dWm) -> bool {
    s.multisample_dispatch_mode() == 0
}

pub const THREADS_EVEN: Rule = rule(
    "ps-threads-even",
    "the number of PS threads is even",
    "3DSTATE_PS, Maximum Number of Threads",
    When::Draw,
    |v| {
        let maximum = ps(v)?.maximum_number_of_threads();
        (maximum % 2 == 0).then(|| format!("Maximum Number of Threads is {maximum}"))
    },
);

pub const THREADS_RANGE: Rule = rule(
    "ps-threads",
    "there are 4 to 32 PS threads",
    "3DSTATE_PS, Maximum Number of Threads",
    When::Draw,
    |v| {
        let maximum = ps(v)?.maximum_number_of_threads();
        (!(3..=31).contains(&maximum)).then(|| format!("Maximum Number of Threads is {maximum}"))
    },
);

pub const THREADS_CHANGE: Rule = rule(
    "ps-threads-change",
    "a PIPE_CONTROL with Stall at Pixel Scoreboard comes between two draws with different numbers of PS threads",
    "3DSTATE_PS, Maximum Number of Threads",
    When::Draw,
    |v| {
        let threads = |d: &[u32]| table::State3dPs::from_dwords(d).maximum_number_of_threads();
        let (old, new) = (
            threads(v.drawn(Id::State3dPs)?),
            threads(v.kept(Id::State3dPs)?),
        );
        let stalls = v.since().iter().any(|sent| {
            let c = table::PipeControl::from_dwords(&sent.words);
            sent.id == Id::PipeControl && c.stall_at_pixel_scoreboard()
        });
        (old != new && !stalls)
            .then(|| format!("Maximum Number of Threads goes from {old} to {new} without a stall"))
    },
);

pub const OFFSETS: Rule = rule(
    "ps-sample-offsets",
    "POSOFFSET_SAMPLE goes with a thread for each sample",
    "3DSTATE_PS, Position XY Offset Select",
    When::Draw,
    |v| {
        let sampled = ps(v)?.position_xy_offset_select() == 3;
        (sampled && !per_sample(&wm(v)?))
            .then(|| String::from("POSOFFSET_SAMPLE with MSDISPMODE_PERPIXEL"))
    },
);

/// The print has lost the rows of its table and kept the notes on them. A row with several widths is note D's and one with 32 pixels
/// note E's: Mesa 22.3.6 brw_fs.cpp `emit_samplepos_setup` has one width alone in MSDISPMODE_PERSAMPLE, and compiles for 32 pixels
/// when there are fewer samples.
pub const WIDTHS: Rule = rule(
    "ps-widths",
    "some width is enabled; one alone for threads of samples, and 32 pixels only with fewer than 8 of them",
    "3DSTATE_PS, 32, 16 and 8 Pixel Dispatch Enable",
    When::Draw,
    |v| {
        let s = ps(v)?;
        let enables = [
            s.n8_pixel_dispatch_enable(),
            s.n16_pixel_dispatch_enable(),
            s.n32_pixel_dispatch_enable(),
        ];
        let widths = enables.iter().filter(|on| **on).count();
        if widths == 0 {
            return Some(String::from("no width is enabled"));
        }
        let samples = samples(v)?;
        if !per_sample(&wm(v)?) || samples == 1 {
            return None;
        }
        if widths > 1 {
            return Some(format!("{widths} widths for threads of {samples} samples"));
        }
        (s.n32_pixel_dispatch_enable() && samples >= 8)
            .then(|| format!("32 pixels for threads of {samples} samples"))
    },
);

pub const SAMPLE_MASK: Rule = rule(
    "sample-mask",
    "the mask has no samples that there are not",
    "3DSTATE_SAMPLE_MASK, programming notes",
    When::Draw,
    |v| {
        let mask = table::State3dSampleMask::from_dwords(v.kept(Id::State3dSampleMask)?);
        let (mask, samples) = (mask.sample_mask(), samples(v)?);
        (samples < 8 && mask >> samples != 0)
            .then(|| format!("Sample Mask is {mask:#x}, samples are {samples}"))
    },
);

pub const NO_THREADS: Rule = rule(
    "wm-no-threads",
    "without threads no pixel shader kills pixels or computes depth",
    "3DSTATE_WM, Thread Dispatch Enable",
    When::Draw,
    |v| {
        let s = wm(v)?;
        if s.thread_dispatch_enable() {
            return None;
        }
        if s.pixel_shader_kills_pixel() {
            return Some(String::from("Pixel Shader Kill Pixel without threads"));
        }
        let mode = s.pixel_shader_computed_depth_mode();
        (mode != 0).then(|| format!("Pixel Shader Computed Depth Mode {mode} without threads"))
    },
);

pub const KILLS: Rule = rule(
    "wm-kills",
    "Pixel Shader Kill Pixel is set for alpha tests, alpha to coverage, oMask and chroma keys that kill",
    "3DSTATE_WM, Pixel Shader Kill Pixel",
    When::Draw,
    |v| {
        let s = ps(v)?;
        if wm(v)?.pixel_shader_kills_pixel() {
            return None;
        }
        if s.omask_present_to_rendertarget() {
            return Some(String::from("oMask Present to RenderTarget"));
        }
        if s.sampler_count() > 0
            && let Some(d) = v.kept(Id::State3dSamplerStatePointersPs)
        {
            let at = table::State3dSamplerStatePointersPs::from_dwords(d);
            let words: [u32; table::SamplerState::LEN] =
                v.dynamic(at.pointer_to_ps_sampler_state())?;
            let sampler = table::SamplerState::from_dwords(&words);
            if sampler.chromakey_enable() && sampler.chromakey_mode() == 0 {
                return Some(String::from("ChromaKey Mode kills on a match"));
            }
        }
        let at =
            table::State3dBlendStatePointers::from_dwords(v.kept(Id::State3dBlendStatePointers)?);
        let words: [u32; table::BlendStateEntry::LEN] = v.dynamic(at.blend_state_pointer())?;
        let blend = table::BlendStateEntry::from_dwords(&words);
        let alpha = (blend.alpha_test_enable(), blend.alphatocoverage_enable());
        (alpha != (false, false)).then(|| {
            let what = if alpha.0 {
                "Alpha Test"
            } else {
                "AlphaToCoverage"
            };
            format!("{what} Enable without Pixel Shader Kill Pixel")
        })
    },
);

pub const EXECUTES: Rule = rule(
    "wm-psexec",
    "EDSC_PSEXEC goes with threads",
    "3DSTATE_WM, Early Depth/Stencil Control",
    When::Draw,
    |v| {
        let s = wm(v)?;
        (s.early_depth_stencil_control() == 1 && !s.thread_dispatch_enable())
            .then(|| String::from("EDSC_PSEXEC without Thread Dispatch Enable"))
    },
);

pub const SAMPLES: Rule = rule(
    "wm-sample-weights",
    "weights of samples go with a thread for each sample",
    "3DSTATE_WM, Barycentric Interpolation Mode",
    When::Draw,
    |v| {
        let s = wm(v)?;
        let modes = s.barycentric_interpolation_mode();
        // Bits 2 and 5: sample positions with and without perspective.
        (s.thread_dispatch_enable() && modes & 0b10_0100 != 0 && !per_sample(&s))
            .then(|| format!("Barycentric Interpolation Mode {modes:#x} with MSDISPMODE_PERPIXEL"))
    },
);
