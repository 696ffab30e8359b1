//! Registers of the device that draws a scene, by their offsets.
//!
//! PRM: volume 4, 3.2, 3.3. Not covered: what the registers do.

use mmio_mock::Model;
use regs::gen40::reg;

use super::Scene;
use super::surface::Surface;

/// Writes a register.
pub fn write(scene: &Scene, offset: u32, value: u32) {
    scene.rig.platform.device().write32(offset, value);
}

/// Reads a register.
#[must_use]
pub fn read(scene: &Scene, offset: u32) -> u32 {
    scene.rig.platform.device().read32(offset)
}

/// Sets or clears the global debug enable: bit 4 of a register whose upper half says which bits a write changes.
pub fn debug(scene: &Scene, on: bool) {
    write(scene, reg::INSTPM.offset(), 1 << 20 | u32::from(on) << 4);
}

/// What a unit shows under a mux value, with its control register at `control` and its data at `data`; its other
/// control bits stay.
#[must_use]
pub fn show(scene: &Scene, control: u32, mux: u32, data: u32) -> u32 {
    let old = read(scene, control) & !0xff00;
    write(scene, control, old | mux << 8);
    read(scene, data)
}

/// Debugging off, nothing broken, nothing left.
pub fn finish(scene: Scene, target: Surface) {
    debug(&scene, false);
    // The driver takes a wait that a test made long for a hang.
    drop(scene.rig.device.take_error_state());
    drop(target);
    scene.finish();
}
