//! Kind `draw`: primitives in screen coordinates, and the picture in letters.
//!
//! PRM: volume 2 (strips and fans, windower). Statements: `size: WIDTH HEIGHT`, `topology: NAME`, `v X Y` for each vertex,
//! `cull: none both front back`, `rectangle: XMIN YMIN XMAX YMAX` (inclusive). Vertices are called a, b, c ... and colours are
//! flat, so that a pixel names the provoking vertex of the primitive that covers it; `.` is a pixel that none covers. Through the
//! driver. Option `gen`: 40, or 60, whose state is commands; there `set COMMAND: FIELD = VALUE, ..` changes 3DSTATE_CLIP,
//! 3DSTATE_SF or 3DSTATE_WM by the manual's names. Not modelled: depth, textures, blending; those have tests of their own.

use super::Kind;
use super::file::{Case, File, Line, Problem};
use super::message::fields;
use crate::scene::draw::Draw;
use crate::scene::{Scene, kernels, sandybridge};
use regs::gen60::{State3dClip, State3dSf, State3dWm, SurfaceState};
use regs::platform::GEN60;

/// The kind.
pub struct DrawPicture;

/// Name, code of 3DPRIMITIVE (genxml gen4, 3D_Prim_Topo_Type).
const TOPOLOGIES: [(&str, u32); 10] = [
    ("pointlist", 1),
    ("linelist", 2),
    ("linestrip", 3),
    ("trilist", 4),
    ("tristrip", 5),
    ("trifan", 6),
    ("quadlist", 7),
    ("quadstrip", 8),
    ("polygon", 14),
    ("rectlist", 15),
];

/// Red of vertex `a`; the next ones follow in the same steps.
const STEP: u32 = 8;
const MAX_VERTICES: usize = 26;
const MAX_SIZE: u32 = 64;

struct Setup {
    size: [u32; 2],
    topology: (&'static str, u32),
    cull: u32,
    rectangle: Option<[u32; 4]>,
    vertices: Vec<[f32; 8]>,
    /// `set`: a command and the fields that it changes.
    changes: Vec<(Line, String, String)>,
}

impl Kind for DrawPicture {
    fn name(&self) -> &'static str {
        "draw"
    }

    fn options(&self) -> &'static [&'static str] {
        &["gen"]
    }

    fn run(&self, file: &File, case: &Case) -> Result<Vec<String>, Problem> {
        let generation = file.generation()?.times_ten();
        let mut setup = Setup {
            size: [8, 8],
            topology: TOPOLOGIES[3],
            cull: 1,
            rectangle: None,
            vertices: Vec::new(),
            changes: Vec::new(),
        };
        for line in &case.input {
            setup.statement(line).map_err(|what| line.problem(what))?;
        }
        let [width, height] = setup.size;
        let mut scene = match generation {
            40 => Scene::new(),
            60 => Scene::on("sandybridge"),
            other => return Err(case.problem(format!("no scenes of generation {other}"))),
        };
        let target = scene.target(width, height);
        target.fill(&[0; 4]);
        let count = setup.vertices.len() as u32;
        if generation == 60 {
            let state = SurfaceState::from_dwords(target.state().dwords());
            let mut draw = sandybridge::Draw::new(&state, setup.size);
            setup.change(&mut draw)?;
            scene.vertices_of(&mut draw, &setup.vertices);
            draw.topology(setup.topology.1, count);
            scene.draw_of(&draw);
        } else {
            if let Some((line, ..)) = setup.changes.first() {
                return Err(line.problem("`set` is of generation 60"));
            }
            let mut draw = Draw::flat(target.state());
            setup.apply(&mut draw);
            scene.vertices(&mut draw, &setup.vertices);
            draw.topology(setup.topology.1, count);
            scene.draw(&draw);
        }
        scene.run();
        let words = target.words();
        drop(target);
        scene.finish();
        Ok(words
            .chunks(width as usize)
            .map(|row| row.iter().map(|&word| letter(word)).collect())
            .collect())
    }
}

impl Setup {
    fn statement(&mut self, line: &Line) -> Result<(), String> {
        let (verb, rest) = line.text.split_once([' ', ':']).unwrap_or((&line.text, ""));
        let rest = rest.trim();
        let numbers = |count: usize| -> Result<Vec<u32>, String> {
            let all: Result<Vec<u32>, _> = rest.split_whitespace().map(str::parse).collect();
            let all = all.ok().filter(|n| n.len() == count);
            all.ok_or_else(|| format!("`{verb}` has {count} numbers"))
        };
        match verb {
            "size" => {
                let n = numbers(2)?;
                if n.iter().any(|n| !(1..=MAX_SIZE).contains(n)) {
                    return Err(format!("sizes are 1 to {MAX_SIZE}"));
                }
                self.size = [n[0], n[1]];
            }
            "rectangle" => {
                let n = numbers(4)?;
                self.rectangle = Some([n[0], n[1], n[2], n[3]]);
            }
            "topology" => {
                let mut all = TOPOLOGIES.into_iter();
                let found = all.find(|t| t.0 == rest);
                self.topology = found.ok_or_else(|| format!("unknown topology `{rest}`"))?;
            }
            "cull" => {
                let mut all = ["both", "none", "front", "back"].iter();
                let found = all.position(|c| *c == rest);
                self.cull = found.ok_or_else(|| format!("unknown cull mode `{rest}`"))? as u32;
            }
            "v" => {
                let place = rest
                    .split_once(' ')
                    .and_then(|(x, y)| Some((x.parse().ok()?, y.trim().parse().ok()?)));
                let (x, y) = place.ok_or("v X Y")?;
                if self.vertices.len() == MAX_VERTICES {
                    return Err("more vertices than letters".to_owned());
                }
                let red = (self.vertices.len() as u32 + 1) * STEP;
                let red = red as f32 / 255.0;
                self.vertices.push([x, y, 0.5, 1.0, red, 0.0, 0.0, 1.0]);
            }
            "set" => {
                let (command, fields) = rest.split_once(':').ok_or("set COMMAND: FIELD = VALUE")?;
                let change = (line.clone(), command.to_owned(), fields.to_owned());
                self.changes.push(change);
            }
            _ => return Err(format!("unknown statement `{verb}`")),
        }
        Ok(())
    }

    /// State of generation 60: no viewport, no divide and no clipping, as vertices are on the screen.
    fn change(&self, draw: &mut sandybridge::Draw) -> Result<(), Problem> {
        draw.clip
            .set_clip_enable(false)
            .set_perspective_divide_disable(true);
        draw.sf
            .set_viewport_transform_enable(false)
            .set_constant_interpolation_enable(1)
            .set_cull_mode(self.cull);
        if let Some([x0, y0, x1, y1]) = self.rectangle {
            draw.rectangle
                .set_clipped_drawing_rectangle_x_min(x0)
                .set_clipped_drawing_rectangle_y_min(y0)
                .set_clipped_drawing_rectangle_x_max(x1)
                .set_clipped_drawing_rectangle_y_max(y1);
        }
        for (line, name, text) in &self.changes {
            let mut commands = GEN60.commands.iter();
            let command = commands.find(|c| c.name == name.as_str());
            let known = command.ok_or_else(|| line.problem(format!("no command `{name}`")))?;
            let mut words = match name.as_str() {
                "3DSTATE_CLIP" => draw.clip.dwords().to_vec(),
                "3DSTATE_SF" => draw.sf.dwords().to_vec(),
                "3DSTATE_WM" => draw.wm.dwords().to_vec(),
                _ => return Err(line.problem(format!("`{name}` cannot be set"))),
            };
            fields(known.fields, &mut words, text).map_err(|what| line.problem(what))?;
            match name.as_str() {
                "3DSTATE_CLIP" => draw.clip = State3dClip::from_dwords(&words),
                "3DSTATE_SF" => draw.sf = State3dSf::from_dwords(&words),
                _ => draw.wm = State3dWm::from_dwords(&words),
            }
        }
        Ok(())
    }

    fn apply(&self, draw: &mut Draw) {
        draw.sf.set_cull_mode(self.cull);
        match self.topology.0 {
            "pointlist" => draw.sf_kernel = kernels::sf_point(),
            "linelist" | "linestrip" => draw.sf_kernel = kernels::sf_flat_line(),
            // Geometry threads make polygons of quads (PRM volume 2, primitive topologies).
            "quadlist" => draw.gs_kernel = Some(kernels::gs_quads()),
            "quadstrip" => draw.gs_kernel = Some(kernels::gs_quad_strip()),
            _ => {}
        }
        if let Some([x0, y0, x1, y1]) = self.rectangle {
            draw.rectangle
                .set_clipped_drawing_rectangle_x_min(x0)
                .set_clipped_drawing_rectangle_y_min(y0)
                .set_clipped_drawing_rectangle_x_max(x1)
                .set_clipped_drawing_rectangle_y_max(y1);
        }
    }
}

/// A pixel of B8G8R8A8 as the letter of its vertex; `?` for a colour that is none's.
fn letter(word: u32) -> char {
    let red = word >> 16 & 0xff;
    match red / STEP {
        0 if word == 0 => '.',
        n @ 1..=26 if red.is_multiple_of(STEP) => char::from(b'a' + (n - 1) as u8),
        _ => '?',
    }
}
