//! What the stages did in a frame: vertices, patches, objects, threads.
//!
//! Threads and instructions are the model's own counts. Invocations and primitives are those of the statistics counters, which
//! count while a batch has them enabled.

use mmio_mock::intel::status::{Activity, Statistics, Unit};

/// A stage that did something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// Threads, EU instructions and SIMD8-equivalent ones, of a stage that has threads.
    pub threads: Option<[u64; 3]>,
    /// What else it counts: names and numbers.
    pub counts: Vec<(&'static str, u64)>,
}

/// The stages in the order of the pipeline, without those that did nothing.
pub fn of(activity: &Activity, statistics: &Statistics) -> Vec<Stage> {
    let s = statistics;
    let threads = |unit: Unit| {
        let at = unit as usize;
        // PANIC: the lists have an entry for each unit.
        let all = [activity.threads, activity.instructions, activity.simd8];
        Some(all.map(|list| list[at]))
    };
    let stage = |name, threads, counts: &[(&'static str, u64)]| Stage {
        name,
        threads,
        counts: counts.to_vec(),
    };
    let te = &activity.tessellation;
    let written: u64 = s.so_prims_written.iter().sum();
    let needed: u64 = s.so_storage_needed.iter().sum();
    let all = [
        stage(
            "VF",
            None,
            &[
                ("vertices", activity.vertices),
                ("primitives", s.ia_primitives),
            ],
        ),
        stage(
            "VS",
            threads(Unit::Vs),
            &[("invocations", s.vs_invocations)],
        ),
        stage(
            "HS",
            threads(Unit::Hs),
            &[("invocations", s.hs_invocations)],
        ),
        stage(
            "TE",
            None,
            &[
                ("patches", te.patches),
                ("dropped patches", te.dropped),
                ("points", te.points),
                ("primitives", te.objects),
            ],
        ),
        stage(
            "DS",
            threads(Unit::Ds),
            &[("invocations", s.ds_invocations)],
        ),
        stage(
            "GS",
            threads(Unit::Gs),
            &[
                ("invocations", s.gs_invocations),
                ("primitives", s.gs_primitives),
            ],
        ),
        stage(
            "SO",
            None,
            &[
                ("vertices", activity.streamed),
                ("primitives", written),
                ("primitives with enough room", needed),
            ],
        ),
        stage(
            "CLIP",
            threads(Unit::Clip),
            &[
                ("invocations", s.cl_invocations),
                ("primitives", s.cl_primitives),
            ],
        ),
        stage("SF", threads(Unit::Sf), &[("objects", activity.objects)]),
        stage(
            "PS",
            threads(Unit::Wiz),
            &[
                ("invocations", s.ps_invocations),
                ("pixels", activity.pixels),
                ("samples passed", s.ps_depth_count),
            ],
        ),
        stage(
            "MEDIA",
            threads(Unit::Media),
            &[("invocations", s.cs_invocations)],
        ),
    ];
    let mut stages: Vec<_> = all.into();
    for stage in &mut stages {
        stage.counts.retain(|(_, count)| *count > 0);
        stage.threads = stage.threads.filter(|[threads, ..]| *threads > 0);
    }
    stages.retain(|stage| stage.threads.is_some() || !stage.counts.is_empty());
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_without_work_are_left_out() {
        let mut activity = Activity::default();
        activity.threads[Unit::Hs as usize] = 4;
        activity.instructions[Unit::Hs as usize] = 40;
        activity.tessellation.patches = 2;
        let statistics = Statistics {
            ds_invocations: 9,
            ..Statistics::default()
        };
        let stages = of(&activity, &statistics);
        let names: Vec<_> = stages.iter().map(|stage| stage.name).collect();
        assert_eq!(names, ["HS", "TE", "DS"]);
        assert_eq!(stages[0].threads, Some([4, 40, 0]));
        assert_eq!(stages[1].counts, [("patches", 2)]);
        assert_eq!(
            (stages[2].threads, stages[2].counts[0]),
            (None, ("invocations", 9))
        );
    }
}
