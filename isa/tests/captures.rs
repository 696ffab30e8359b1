//! Kernels of captured GM965 frames: decode, print and encode against Mesa's text.
//!
//! PRM: volume 4, 13.2. The vectors are in `data/gm965_kernels.hex`; execution is not tested here.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use isa::operand::Addr;
use isa::{Inst, Verx10, decode, encode, print};

const KERNELS: &str = include_str!("data/gm965_kernels.hex");

/// Words and text of every line that is no comment.
fn vectors(file: &str) -> impl Iterator<Item = ([u32; 4], &str)> {
    file.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (words, text) = line.split_once("  ").expect("two columns");
            let mut raw = [0; 4];
            for (word, hex) in raw.iter_mut().zip(words.split(' ')) {
                *word = u32::from_str_radix(hex, 16).expect("hexadecimal");
            }
            (raw, text)
        })
}

/// Our text with single spaces; Mesa divides the address subregister of a destination by the size of
/// the type, we do not.
fn as_mesa_prints(generation: Verx10, inst: &Inst) -> String {
    let text = print(generation, inst);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match inst.dst.addr {
        Addr::Indirect { subreg, .. } if subreg != 0 => {
            let mesa = usize::from(subreg) / inst.dst.ty.size();
            text.replacen(&format!("g[a0.{subreg}"), &format!("g[a0.{mesa}"), 1)
        }
        _ => text,
    }
}

#[test]
fn text_is_mesas() {
    let mut count = 0;
    for (raw, text) in vectors(KERNELS) {
        let inst = decode(Verx10::GEN40, raw).expect(text);
        assert_eq!(as_mesa_prints(Verx10::GEN40, &inst), text);
        count += 1;
    }
    assert!(count > 600, "{count} instructions");
}

/// A larger comparison: `ISA_VECTORS` names a file like the bundled one, `ISA_GENERATION` (40 unless
/// set) its generation. Lines that do not decode are skipped.
#[test]
#[ignore = "needs a vector file"]
fn text_of_a_vector_file() {
    let path = std::env::var("ISA_VECTORS").expect("ISA_VECTORS");
    let generation = std::env::var("ISA_GENERATION").map_or(40, |text| text.parse().unwrap());
    let generation = Verx10(generation);
    let file = std::fs::read_to_string(path).unwrap();
    let (mut same, mut skipped, mut different) = (0, 0, 0);
    for (raw, text) in vectors(&file) {
        let inst = match decode(generation, raw) {
            Ok(inst) => inst,
            Err(error) => {
                skipped += 1;
                println!("{error}\n  theirs {text}");
                continue;
            }
        };
        assert_eq!(encode(generation, &inst), Ok(raw), "{text}");
        if inst.reserved != [0; 4] {
            println!("undefined bits {:08x?} in {text}", inst.reserved);
        }
        let ours = as_mesa_prints(generation, &inst);
        if ours == text {
            same += 1;
        } else {
            different += 1;
            println!("{raw:08x?}\n  ours   {ours}\n  theirs {text}");
        }
    }
    println!("same {same}, different {different}, not decodable {skipped}");
    assert_eq!(different, 0);
}

#[test]
fn encoder_gives_the_same_words() {
    for (raw, text) in vectors(KERNELS) {
        let inst = decode(Verx10::GEN40, raw).expect(text);
        assert_eq!(encode(Verx10::GEN40, &inst), Ok(raw), "{text}");
    }
}

#[test]
fn encoder_fills_undefined_bits_as_the_driver_does() {
    for (raw, text) in vectors(KERNELS) {
        let inst = decode(Verx10::GEN40, raw).expect(text);
        assert_eq!(inst.reserved, [0; 4], "{text}");
    }
}

#[test]
fn columns_are_mesas() {
    let raw = [0x0060_0201, 0x2040_0022, 0x008d_0020, 0];
    let inst = decode(Verx10::GEN40, raw).unwrap();
    assert_eq!(
        print(Verx10::GEN40, &inst),
        "mov(8)          m2<1>UD         g1<8,8,1>UD                     { align1 nomask };"
    );
    let raw = [0x0180_0031, 0x2000_0d28, 0x008d_0000, 0x85a0_4800];
    let inst = decode(Verx10::GEN40, raw).unwrap();
    assert_eq!(
        print(Verx10::GEN40, &inst),
        "send(16) 1      null<1>UW       g0<8,8,1>UW     0x85a04800\n                            \
         write MsgDesc: RT write SIMD16 LastRT Surface = 0 mlen 10 rlen 0 { align1 EOT };"
    );
}
