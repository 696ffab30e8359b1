//! Frames between the register accesses of a `debug` case.
//!
//! PRM: volume 4, 3.3. `frame: CELLS [apart] [vs] [gs] [clip]` draws triangles in cells of a grid, eight in a row, of 8 by
//! 8 pixels, as one 3DPRIMITIVE or one each; behind MI_FLUSH with Global Snapshot Count Reset. `read drawn` has a bit for each
//! cell of the last frame that was drawn. Not modelled: mixtures with `ring` and `mem`, for the driver has the ring here.

use super::super::bench::offset;
use super::super::file::{Case, File, Problem};
use super::super::value::number;
use super::line;
use crate::scene::Scene;
use crate::scene::draw::Draw;
use crate::scene::grid;
use crate::scene::surface::Surface;
use mmio_mock::Model;

/// Cells that a result has bits for.
const MOST: usize = 32;

/// Whether a case draws frames.
pub fn wanted(case: &Case) -> bool {
    case.input.iter().any(|line| line.text.starts_with("frame"))
}

/// Carries a case out.
pub fn run(file: &File, case: &Case) -> Result<Vec<String>, Problem> {
    let device = super::device(file).map_err(|what| case.problem(what))?;
    let mut scene = Scene::on(device);
    let target = scene.target(64, 64);
    let mut out = Vec::new();
    for statement in &case.input {
        let text = statement.text.as_str();
        let result = if let Some(what) = text.strip_prefix("read ") {
            read(&scene, &target, what).map(|value| {
                let before = case.expect.get(out.len()).map_or("", |l| l.text.as_str());
                out.push(line(what, value, before));
            })
        } else if let Some(what) = text.strip_prefix("write ") {
            write(&scene, what)
        } else if let Some(what) = text.strip_prefix("frame:") {
            frame(&mut scene, &target, what)
        } else {
            Err(format!("`{text}` is no statement of a case with frames"))
        };
        result.map_err(|what| statement.problem(what))?;
    }
    let device = scene.rig.platform.device();
    let faults = device.status().faults().iter();
    out.extend(faults.map(|r| format!("fault: {}: {}", r.place, r.fault)));
    drop(device);
    drop(target);
    scene.finish_after_fault();
    Ok(out)
}

fn read(scene: &Scene, target: &Surface, what: &str) -> Result<u32, String> {
    let (name, mask) = what.split_once('&').unwrap_or((what, "0xffffffff"));
    let value = match name.trim() {
        "drawn" => drawn(target),
        name => scene.rig.platform.device().read32(offset(name)?),
    };
    Ok(value & number(mask.trim())?)
}

fn write(scene: &Scene, what: &str) -> Result<(), String> {
    let (name, value) = what.split_once(' ').ok_or("write REGISTER VALUE")?;
    let (offset, value) = (offset(name)?, number(value.trim())?);
    scene.rig.platform.device().write32(offset, value);
    Ok(())
}

fn frame(scene: &mut Scene, target: &Surface, what: &str) -> Result<(), String> {
    let mut words = what.split_whitespace();
    let count = number(words.next().ok_or("frame: CELLS")?)? as usize;
    if count > MOST {
        return Err(format!("at most {MOST} cells"));
    }
    let mut apart = false;
    let mut draw = Draw::flat(target.state());
    for word in words {
        match word {
            "apart" => apart = true,
            "vs" => grid::with_vs(&mut draw),
            "gs" => grid::with_gs(&mut draw),
            "clip" => grid::with_clipper(&mut draw),
            _ => return Err(format!("unknown unit `{word}`")),
        }
    }
    target.fill(&[0; 4]);
    // MI_FLUSH, bit 3.
    scene.commands.push(0x0200_0008);
    let lists: Vec<_> = if apart {
        (0..count).map(|n| grid::cell(n).to_vec()).collect()
    } else {
        vec![grid::cells(count)]
    };
    for list in lists {
        scene.vertices(&mut draw, &list);
        scene.draw(&draw);
    }
    scene.run();
    Ok(())
}

/// A bit for each cell whose triangle is there.
fn drawn(target: &Surface) -> u32 {
    (0..MOST).fold(0, |all, cell| {
        let (x, y) = grid::corner(cell);
        all | u32::from(target.word(x + 1, y + 1) != 0) << cell
    })
}
