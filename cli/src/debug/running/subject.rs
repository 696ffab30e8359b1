//! What a thread works on, in words.
//!
//! The fixed functions say it; numbers are those that `crestline why` shows.

use mmio_mock::intel::debug::host::Subject;
use mmio_mock::intel::td::debugger::Info;

/// What a thread works on.
pub(super) fn subject(info: &Info) -> String {
    match info.subject {
        Subject::Vertices(both) => {
            let list: Vec<String> = both.iter().flatten().map(u32::to_string).collect();
            match list.len() {
                0 => String::new(),
                1 => format!(", vertex {}", list.join("")),
                _ => format!(", vertices {}", list.join(" and ")),
            }
        }
        Subject::Object(n) => format!(", setup of object {n}"),
        Subject::Pixels(n) => {
            let mut list: Vec<String> = Vec::new();
            for xy in info.pixels.places() {
                let span = format!("{},{}", xy & 0xffff, xy >> 16);
                if !list.contains(&span) {
                    list.push(span);
                }
            }
            // Where nobody has kept where they are.
            let at = if list.is_empty() { "" } else { " at " };
            format!(", pixels of object {n}{at}{}", list.join(" "))
        }
        Subject::Group { group, thread, .. } => {
            let [x, y, z] = group;
            format!(", thread {thread} of group {x},{y},{z}")
        }
        Subject::Patch { patch, thread } => format!(", instance {thread} of patch {patch}"),
        Subject::Points { patch, points } => {
            let list: Vec<String> = points.iter().flatten().map(u16::to_string).collect();
            let points = if list.len() == 1 { "point" } else { "points" };
            format!(", {points} {} of patch {patch}", list.join(" and "))
        }
        Subject::Geometry { objects, instances } => {
            let halves = objects.iter().zip(instances);
            let halves = halves.filter_map(|(object, instance)| Some((object, instance?)));
            let list = halves.map(|(object, n)| format!("instance {n} of object {object}"));
            format!(", {} of the draw", list.collect::<Vec<_>>().join(" and "))
        }
        Subject::Other => String::new(),
    }
}

/// Which channel of a thread an invocation of its group is.
pub(super) fn invocation(info: &Info, invocation: u32) -> Option<String> {
    let Subject::Group { channels, .. } = info.subject else {
        return None;
    };
    let channel = invocation.checked_rem(channels)?;
    Some(format!(
        "; invocation {invocation} is channel {channel} of {channels}"
    ))
}
