//! Fields of every generation's formats, placed by others.
//!
//! Mesa 22.3.6 `brw_inst.h` and intel-gen4asm; the vectors and how they were made are in
//! data/fields.hex. Gen4 has its own in data/gen4asm.hex.

use std::collections::BTreeSet;
use std::fmt::Write;

use isa::inst::{AccessMode, Compression, CondMod, ExDesc, PredCtrl, ThreadCtrl};
use isa::operand::{Addr, Dst, RegFile, Src};
use isa::{Inst, Verx10, decode, encode};

const VECTORS: &str = include_str!("data/fields.hex");

fn register(file: RegFile, addr: Addr) -> String {
    let letter = match file {
        RegFile::Arf => 'a',
        RegFile::Grf => 'g',
        RegFile::Mrf => 'm',
        RegFile::Imm => '#',
    };
    match addr {
        Addr::Direct { nr, subnr } => format!("{letter}{nr}.{subnr}"),
        Addr::Indirect { subreg, imm } => format!("{letter}[a{subreg}{imm:+}]"),
    }
}

fn dst(dst: &Dst) -> String {
    let mut text = register(dst.file, dst.addr);
    write!(text, "<{}>{:?}", dst.hstride, dst.ty).unwrap();
    if dst.compr4 {
        text.push_str("c4");
    }
    if dst.writemask != 0xf {
        write!(text, "/{}", dst.writemask).unwrap();
    }
    text
}

fn src(src: &Src) -> String {
    if src.file == RegFile::Imm {
        return format!("#{:08x}{:?}", src.imm, src.ty);
    }
    let region = src.region;
    let mut text = format!(
        "{}<{};{},{}>{:?}",
        register(src.file, src.addr),
        region.vstride,
        region.width,
        region.hstride,
        src.ty
    );
    if src.swizzle != Src::XYZW {
        let [x, y, z, w] = src.swizzle;
        write!(text, "@{x}{y}{z}{w}").unwrap();
    }
    if src.abs {
        text = format!("|{text}|");
    }
    if src.negate {
        text.insert(0, '-');
    }
    text
}

fn describe(inst: &Inst, has_dst: bool) -> String {
    let mut text = format!(
        "{} exec={}",
        inst.opcode.mnemonic().unwrap(),
        inst.exec_size
    );
    let mut put = |condition: bool, word: String| {
        if condition {
            write!(text, " {word}").unwrap();
        }
    };
    put(inst.access == AccessMode::Align16, "align16".into());
    put(inst.no_mask, "nomask".into());
    put(inst.saturate, "sat".into());
    put(inst.compression == Compression::Compressed, "compr".into());
    put(inst.mask_ctrl_ex, "maskex".into());
    put(inst.qtr_ctrl != 0, format!("qtr={}", inst.qtr_ctrl));
    put(inst.nib_ctrl, "nib".into());
    put(inst.acc_wr_ctrl, "acc".into());
    put(inst.branch_ctrl, "branchctrl".into());
    put(
        inst.cond_mod != CondMod::None,
        format!("cond={:?}", inst.cond_mod),
    );
    put(
        inst.pred_ctrl != PredCtrl::None,
        format!("pred={:?}", inst.pred_ctrl),
    );
    put(inst.pred_inv, "inv".into());
    let flag = (inst.flag_reg, inst.flag_subreg);
    put(flag != (0, 0), format!("flag={}.{}", flag.0, flag.1));
    put(
        inst.thread_ctrl != ThreadCtrl::Normal,
        format!("thread={:?}", inst.thread_ctrl),
    );
    put(inst.no_dd_clr, "ddclr".into());
    put(inst.no_dd_chk, "ddchk".into());
    put(inst.debug_ctrl, "debug".into());
    if let Some(function) = inst.math {
        put(true, format!("math={function}"));
    }
    if let Some(send) = inst.send {
        put(true, format!("mrf={} sfid={}", send.mrf, send.sfid));
        put(send.eot, "eot".into());
        let desc = send.imm.map_or("reg".into(), |imm| format!("{imm:08x}"));
        put(true, format!("desc={desc}"));
        match send.ex_desc {
            ExDesc::None => {}
            ExDesc::Imm(imm) => put(true, format!("exdesc={imm:08x}")),
            ExDesc::Reg(subreg) => put(true, format!("exdesc=a{subreg}")),
        }
    }
    if let Some(branch) = inst.branch {
        put(
            true,
            format!("jip={} uip={}", branch.jump, branch.pop_or_uip),
        );
    }
    put(has_dst, format!("dst={}", dst(&inst.dst)));
    for (index, operand) in inst.src[..usize::from(inst.num_src)].iter().enumerate() {
        put(true, format!("src{index}={}", src(operand)));
    }
    text
}

#[test]
fn fields_are_where_others_put_them() {
    let mut count = 0;
    let mut generations = BTreeSet::new();
    for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.splitn(6, ' ');
        let generation = Verx10::from_times_ten(parts.next().unwrap().parse().unwrap());
        let words: Vec<u32> = (0..4)
            .map(|_| u32::from_str_radix(parts.next().unwrap(), 16).unwrap())
            .collect();
        let raw: [u32; 4] = words.try_into().unwrap();
        let text = parts.next().unwrap();
        let inst = decode(generation, raw).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(
            describe(&inst, text.contains("dst=")),
            text,
            "{}",
            generation.times_ten()
        );
        assert_eq!(encode(generation, &inst), Ok(raw), "{line}");
        count += 1;
        generations.insert(generation.times_ten());
    }
    assert_eq!(count, 120);
    assert_eq!(
        generations.into_iter().collect::<Vec<_>>(),
        [45, 50, 60, 70, 75, 80, 90]
    );
}
