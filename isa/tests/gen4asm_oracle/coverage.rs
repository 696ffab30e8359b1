//! What the compared instructions had: opcodes, types, regions, controls.
//! Combinations are counted, not asked for.

use std::collections::{BTreeMap, BTreeSet};

use isa::inst::{AccessMode, PredCtrl};
use isa::operand::{Addr, RegFile, Src, Type};
use isa::{Inst, Opcode, Verx10};

use super::dialect::{Shape, shape};

/// Sets of what occurred.
#[derive(Default)]
pub struct Coverage {
    pub opcodes: BTreeSet<Opcode>,
    /// Opcode, operand (0 is the destination), file, type.
    operands: BTreeSet<(Opcode, usize, u8, u8)>,
    regions: BTreeSet<(u8, u8, u8)>,
    swizzles: BTreeSet<[u8; 4]>,
    writemasks: BTreeSet<u8>,
    /// Named values of the controls.
    controls: BTreeMap<&'static str, BTreeSet<String>>,
    indirect: usize,
    immediates: usize,
}

impl Coverage {
    pub fn add(&mut self, inst: &Inst) {
        self.opcodes.insert(inst.opcode);
        let mut operand = |index, file: RegFile, ty: Type, addr: Addr| {
            self.operands
                .insert((inst.opcode, index, file as u8, ty as u8));
            self.indirect += usize::from(matches!(addr, Addr::Indirect { .. }));
            self.immediates += usize::from(file == RegFile::Imm);
        };
        operand(0, inst.dst.file, inst.dst.ty, inst.dst.addr);
        let sources = &inst.src[..usize::from(inst.num_src)];
        for (index, src) in sources.iter().enumerate() {
            operand(1 + index, src.file, src.ty, src.addr);
        }
        for src in sources.iter().filter(|src| src.file != RegFile::Imm) {
            let region = src.region;
            if inst.access == AccessMode::Align16 {
                self.swizzles.insert(src.swizzle);
            } else {
                self.regions
                    .insert((region.vstride, region.width, region.hstride));
            }
        }
        if inst.access == AccessMode::Align16 {
            self.writemasks.insert(inst.dst.writemask);
        }
        let mut control = |name, value: String| {
            self.controls.entry(name).or_default().insert(value);
        };
        control("predicates", format!("{:?}", inst.pred_ctrl));
        control("conditions", format!("{:?}", inst.cond_mod));
        control("sizes", inst.exec_size.to_string());
        control(
            "compression",
            format!("{:?} {}", inst.compression, inst.qtr_ctrl),
        );
        control("thread control", format!("{:?}", inst.thread_ctrl));
        let flags = [
            inst.no_mask,
            inst.no_dd_clr,
            inst.no_dd_chk,
            inst.debug_ctrl,
            inst.saturate,
            inst.pred_inv,
            inst.acc_wr_ctrl || inst.mask_ctrl_ex,
        ];
        control("combinations of flags", format!("{flags:?}"));
        for src in sources {
            control("source modifiers", format!("{} {}", src.negate, src.abs));
        }
        control(
            "flag registers",
            format!("{} {}", inst.flag_reg, inst.flag_subreg),
        );
    }

    /// Fails when an ordinary opcode missed a type, or a swizzle or write mask is missing.
    pub fn check(&self, generation: Verx10) {
        let types = [
            Type::Ud,
            Type::D,
            Type::Uw,
            Type::W,
            Type::Ub,
            Type::B,
            Type::F,
        ];
        let general = RegFile::Grf as u8;
        for &opcode in &self.opcodes {
            let operands = match shape(opcode) {
                Some(Shape::Unary) => 2,
                Some(Shape::Binary | Shape::BinaryAcc | Shape::Math) => 3,
                _ => 0,
            };
            for index in 0..operands {
                for ty in types {
                    let wanted = (opcode, index, general, ty as u8);
                    assert!(self.operands.contains(&wanted), "{generation:?} {wanted:?}");
                }
            }
        }
        assert_eq!(self.swizzles.len(), 256);
        assert!(self.swizzles.contains(&Src::XYZW));
        assert_eq!(
            self.writemasks.iter().filter(|&&mask| mask != 0).count(),
            15
        );
        let predicates = &self.controls["predicates"];
        assert!(predicates.contains(&format!("{:?}", PredCtrl::All16h)));
        assert_eq!(self.controls["conditions"].len(), 10);
        assert_eq!(self.controls["source modifiers"].len(), 4);
    }
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} opcodes, {} of opcode, operand, file and type, {} regions, {} swizzles, {} write \
             masks, {} indirect operands, {} immediates",
            self.opcodes.len(),
            self.operands.len(),
            self.regions.len(),
            self.swizzles.len(),
            self.writemasks.len(),
            self.indirect,
            self.immediates
        )?;
        for (name, values) in &self.controls {
            write!(f, ", {} {name}", values.len())?;
        }
        Ok(())
    }
}
