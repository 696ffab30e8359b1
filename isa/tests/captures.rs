//! Kernels of captured GM965 frames: decode, print and encode against Mesa's text.
//!
//! PRM: volume 4, 13.2. The vectors are in `data/gm965_kernels.hex`; execution is not tested here.

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

/// The bundled file, or the one that `ISA_VECTORS` names, of generation `ISA_GENERATION` (40 unless set).
/// Lines of such a file may be beyond what is decoded; all others must give their words back and print alike.
#[test]
fn text_is_mesas() {
    let named = std::env::var("ISA_VECTORS").ok();
    let generation = std::env::var("ISA_GENERATION").map_or(40, |text| text.parse().unwrap());
    let generation = Verx10::from_times_ten(generation);
    let file = named.as_ref().map(|p| std::fs::read_to_string(p).unwrap());
    let (mut same, mut skipped) = (0, 0);
    for (raw, text) in vectors(file.as_deref().unwrap_or(KERNELS)) {
        let inst = match decode(generation, raw) {
            Ok(inst) => inst,
            Err(error) => {
                assert!(named.is_some(), "{error}: {text}");
                skipped += 1;
                continue;
            }
        };
        assert_eq!(encode(generation, &inst), Ok(raw), "{text}");
        assert_eq!(as_mesa_prints(generation, &inst), text);
        same += 1;
    }
    println!("same {same}, not decodable {skipped}");
    assert!(same > 600 || named.is_some(), "{same} instructions");
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
