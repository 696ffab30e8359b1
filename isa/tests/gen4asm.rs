//! Instructions assembled by intel-gen4asm: decoding gives the source line back.
//!
//! PRM: volume 4, 13.2 and 13.4. The vectors are in `data/gen4asm.hex`. That assembler cannot write
//! break, cont, halt and the mask stack instructions of this generation.

use std::fmt::Write;

use isa::inst::{AccessMode, Compression, CondMod, PredCtrl, ThreadCtrl};
use isa::message::{
    DataPortReadDesc, DataPortWriteDesc, MathDesc, MessageDesc, SamplerDesc, Sfid,
    ThreadSpawnerDesc, UrbDesc,
};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode, Verx10, decode, encode};

const VECTORS: &str = include_str!("data/gen4asm.hex");

fn vectors() -> impl Iterator<Item = ([u32; 4], &'static str)> {
    VECTORS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (words, text) = line.split_once("  ").expect("two columns");
            let mut raw = [0; 4];
            for (word, hex) in raw.iter_mut().zip(words.split(' ')) {
                *word = u32::from_str_radix(hex, 16).expect("hexadecimal");
            }
            (raw, text)
        })
}

fn arf(nr: u8) -> String {
    let index = nr & 15;
    let name = match nr >> 4 {
        0 => return "null".into(),
        10 => return "ip".into(),
        1 => "a",
        2 => "acc",
        3 => "f",
        4 => "mask",
        5 => "ms",
        6 => "msd",
        7 => "sr",
        8 => "cr",
        9 => "n",
        _ => panic!("architecture register {nr:#x}"),
    };
    format!("{name}{index}")
}

/// Subregisters count bytes in this assembler, address subregisters too.
fn register(file: RegFile, addr: Addr) -> String {
    match addr {
        Addr::Direct { nr, subnr } => {
            let name = match file {
                RegFile::Grf => format!("g{nr}"),
                RegFile::Mrf => format!("m{nr}"),
                RegFile::Arf => arf(nr),
                RegFile::Imm => panic!("immediate"),
            };
            if subnr == 0 {
                name
            } else {
                format!("{name}.{subnr}")
            }
        }
        Addr::Indirect { subreg, imm } => {
            assert_eq!(file, RegFile::Grf);
            let mut text = String::from("g[a0");
            if subreg != 0 {
                write!(text, ".{}", subreg * 2).unwrap();
            }
            if imm != 0 {
                write!(text, ",{imm}").unwrap();
            }
            text + "]"
        }
    }
}

fn ty(ty: Type) -> String {
    format!("{ty:?}").to_uppercase()
}

fn dst(inst: &Inst) -> String {
    let Dst {
        file,
        ty: t,
        addr,
        hstride,
        writemask,
        ..
    } = inst.dst;
    let mut text = format!("{}<{hstride}>", register(file, addr));
    if inst.access == AccessMode::Align16 && writemask != 15 {
        text.push('.');
        text.extend(
            "xyzw"
                .chars()
                .enumerate()
                .filter(|(i, _)| writemask >> i & 1 != 0)
                .map(|c| c.1),
        );
    }
    text + &ty(t)
}

fn src(inst: &Inst, src: &Src) -> String {
    if src.file == RegFile::Imm {
        return match src.ty {
            Type::F => format!("{}F", f32::from_bits(src.imm as u32)),
            Type::D => format!("{}D", src.imm as i32),
            Type::W => format!("{}W", src.imm as i16),
            Type::Uw => format!("0x{:x}UW", src.imm as u16),
            other => format!("0x{:x}{}", src.imm, ty(other)),
        };
    }
    let mut text = String::new();
    text.push_str(if src.negate { "-" } else { "" });
    text.push_str(if src.abs { "(abs)" } else { "" });
    text.push_str(&register(src.file, src.addr));
    let Region {
        vstride,
        width,
        hstride,
    } = src.region;
    if inst.access == AccessMode::Align16 {
        write!(text, "<{vstride}>").unwrap();
        if src.swizzle != Src::XYZW {
            let [x, ..] = src.swizzle;
            let count = if src.swizzle == [x; 4] { 1 } else { 4 };
            let names = src.swizzle[..count]
                .iter()
                .map(|&c| ['x', 'y', 'z', 'w'][usize::from(c)]);
            text.push('.');
            text.extend(names);
        }
    } else if vstride == Region::VXH {
        write!(text, "<{width},{hstride}>").unwrap();
    } else {
        write!(text, "<{vstride},{width},{hstride}>").unwrap();
    }
    text + &ty(src.ty)
}

fn predicate(inst: &Inst) -> String {
    let ctrl = match inst.pred_ctrl {
        PredCtrl::None => return String::new(),
        PredCtrl::Normal => String::new(),
        PredCtrl::ReplX => ".x".into(),
        PredCtrl::ReplY => ".y".into(),
        PredCtrl::ReplZ => ".z".into(),
        PredCtrl::ReplW => ".w".into(),
        other => format!(".{}", format!("{other:?}").to_lowercase()),
    };
    let sign = if inst.pred_inv { '-' } else { '+' };
    format!("({sign}f0.{}{ctrl}) ", inst.flag_subreg)
}

fn options(inst: &Inst, eot: bool) -> String {
    let mut list = vec![match inst.access {
        AccessMode::Align1 => "align1",
        AccessMode::Align16 => "align16",
    }];
    let mut add = |set: bool, name| list.extend(set.then_some(name));
    add(inst.compression == Compression::SecHalf, "sechalf");
    add(inst.compression == Compression::Compressed, "compr");
    add(inst.thread_ctrl == ThreadCtrl::Switch, "switch");
    add(inst.thread_ctrl == ThreadCtrl::Atomic, "atomic");
    add(inst.no_dd_clr, "NoDDClr");
    add(inst.no_dd_chk, "NoDDChk");
    add(inst.no_mask, "nomask");
    add(inst.debug_ctrl, "breakpoint");
    add(eot, "EOT");
    format!(" {{ {} }}", list.join(" "))
}

fn target(raw: u32) -> String {
    let flags = |list: &[(bool, &str)]| {
        list.iter()
            .filter(|f| f.0)
            .fold(String::new(), |text, f| text + " " + f.1)
    };
    match MessageDesc(raw).sfid().unwrap() {
        Sfid::Null => "null".into(),
        Sfid::Math => {
            let desc = MathDesc(raw);
            let names = [
                "",
                "inv",
                "log",
                "exp",
                "sqrt",
                "rsq",
                "sin",
                "cos",
                "sincos",
                "",
                "pow",
                "intdivmod",
                "intdiv",
                "intmod",
            ];
            let name = names[desc.function() as usize];
            format!("math {name}") + &flags(&[(desc.signed(), "signed"), (desc.scalar(), "scalar")])
        }
        Sfid::Sampler => {
            let desc = SamplerDesc(raw);
            let format = ["F", "", "UD", "D"][desc.return_format() as usize];
            format!(
                "sampler ({},{},{format})",
                desc.binding_table_index(),
                desc.sampler()
            )
        }
        Sfid::Gateway => "gateway".into(),
        Sfid::DataPortRead => {
            let d = DataPortReadDesc(raw);
            let (bti, control) = (d.binding_table_index(), d.message_control());
            format!(
                "read ({bti},{},{control},{})",
                d.target_cache(),
                d.message_type()
            )
        }
        Sfid::DataPortWrite => {
            let d = DataPortWriteDesc(raw);
            let commit = u32::from(d.send_write_commit());
            let (bti, control) = (d.binding_table_index(), d.message_control());
            format!("write ({bti},{control},{},{commit})", d.message_type())
        }
        Sfid::Urb => {
            let desc = UrbDesc(raw);
            assert_eq!(desc.opcode(), 0);
            let swizzle = ["", " interleave", " transpose"][desc.swizzle() as usize];
            let rest = flags(&[
                (desc.allocate(), "allocate"),
                (desc.used(), "used"),
                (desc.complete(), "complete"),
            ]);
            format!("urb {}{swizzle}{rest}", desc.offset())
        }
        Sfid::ThreadSpawner => {
            let d = ThreadSpawnerDesc(raw);
            let [a, b, c] = [d.opcode(), d.request_type(), d.resource_select()].map(u32::from);
            format!("thread_spawner ({a},{b},{c})")
        }
    }
}

/// The assembler's source line.
fn source(inst: &Inst) -> String {
    let name = inst.opcode.mnemonic().unwrap();
    let head = format!("{}{name} ({})", predicate(inst), inst.exec_size);
    if inst.is_flow_control() && inst.opcode != Opcode::Jmpi && inst.opcode != Opcode::Do {
        assert_eq!(
            inst.thread_ctrl,
            ThreadCtrl::Switch,
            "the assembler adds it"
        );
    }
    match inst.opcode {
        Opcode::Nop | Opcode::Do | Opcode::Endif => return format!("{name};"),
        Opcode::Wait => return format!("wait {};", register(inst.dst.file, inst.dst.addr)),
        // Distances of jmpi count from the instruction in the source, from the next one encoded.
        Opcode::Jmpi => return format!("{head} {};", inst.branch.unwrap().jump + 1),
        Opcode::If | Opcode::Iff | Opcode::While | Opcode::Else => {
            let branch = inst.branch.unwrap();
            assert_eq!(branch.pop_or_uip, i32::from(inst.opcode == Opcode::Else));
            return format!("{head} {};", branch.jump);
        }
        Opcode::Send => {
            let send = inst.send.unwrap();
            let raw = send.imm.unwrap();
            let desc = MessageDesc(raw);
            return format!(
                "{head} {} {} {} {} mlen {} rlen {}{};",
                send.mrf,
                dst(inst),
                src(inst, &inst.src[0]),
                target(raw),
                desc.message_length(),
                desc.response_length(),
                options(inst, desc.eot())
            );
        }
        _ => {}
    }
    let mut text = predicate(inst) + name;
    if inst.cond_mod != CondMod::None {
        let cond = format!("{:?}", inst.cond_mod).to_lowercase();
        write!(text, ".{cond}.f0.{}", inst.flag_subreg).unwrap();
    }
    text.push_str(if inst.saturate { ".sat" } else { "" });
    write!(text, " ({}) {}", inst.exec_size, dst(inst)).unwrap();
    for operand in &inst.src[..usize::from(inst.num_src)] {
        write!(text, " {}", src(inst, operand)).unwrap();
    }
    text + &options(inst, false) + ";"
}

// covers: 13.2.3-01, 13.2.3-02, 13.2.3-03, 13.2.4-01, 13.2.4-02, 13.2.5-01, 13.2.5-04, 13.3-01, 13.3-05, 13.3-06, 13.4-01, 11.3.1-01, 13.2.3-06, 11.3.6-03, 11.3.4.1-01
#[test]
fn decoding_gives_the_source_back() {
    let mut opcodes = std::collections::BTreeSet::new();
    for (raw, text) in vectors() {
        let inst = decode(Verx10::GEN40, raw).expect(text);
        assert_eq!(source(&inst), text);
        assert_eq!(encode(Verx10::GEN40, &inst), Ok(raw), "{text}");
        opcodes.insert(inst.opcode);
    }
    // What the assembler cannot write, and the illegal opcode.
    let missing: Vec<_> = isa::tables::gen40::TABLE
        .rows()
        .map(|row| row.opcode)
        .filter(|opcode| !opcodes.contains(opcode))
        .collect();
    assert_eq!(
        missing,
        [
            Opcode::Illegal,
            Opcode::Iff,
            Opcode::Break,
            Opcode::Cont,
            Opcode::Halt,
            Opcode::Msave,
            Opcode::Mrest,
            Opcode::Push,
            Opcode::Pop,
        ]
    );
}
