//! The stages of the pipeline, as the page's table has them.

use serde_json::{Value, json};

use crate::frame_map::FrameMap;
use crate::stages;

/// Name, threads with their instructions, and counts with their names.
pub fn json(map: &FrameMap) -> Value {
    let (activity, statistics) = map.counted();
    let stages = stages::of(activity, statistics);
    let rows = stages
        .iter()
        .map(|stage| json!([stage.name, stage.threads, stage.counts]));
    rows.collect()
}
