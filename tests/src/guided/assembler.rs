//! The assembler: what assembles is printed, and the print assembles again.
//!
//! PRM: volume 4, 13.4. The words have to be the same. The first byte of an input chooses the generation, the rest is the text. Lines of `.dword` are
//! not printed: they need not be instructions.

use isa::parse::{self, MAX_ERRORS};
use isa::{Verx10, decode, encode, print};

const GENERATIONS: [u8; 8] = [40, 45, 50, 60, 70, 75, 80, 90];

/// Runs one input.
pub fn run(data: &[u8]) {
    let Some((first, text)) = data.split_first() else {
        return;
    };
    let Ok(text) = str::from_utf8(text) else {
        return;
    };
    let generation = Verx10::from_times_ten(GENERATIONS[usize::from(*first) % GENERATIONS.len()]);
    let program = match parse::assemble(generation, "input", text) {
        Ok(program) => program,
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() <= MAX_ERRORS);
            assert!(errors.iter().all(|e| e.to_string().starts_with("input:")));
            return;
        }
    };
    let mut offset = 0;
    for item in &program.items {
        assert_eq!(item.offset, offset);
        offset += 4 * u32::from(item.count);
        let (Some(inst), 4) = (item.inst(), item.count) else {
            continue;
        };
        assert_eq!(encode(generation, inst), Ok(item.words), "{inst:?}");
        let decoded = decode(generation, item.words);
        let decoded = decoded.unwrap_or_else(|e| panic!("{:08x?}: {e}", item.words));
        let printed = print(generation, &decoded);
        let back = parse::instruction(generation, &printed)
            .unwrap_or_else(|e| panic!("{:08x?} as {printed}: {e}", item.words));
        assert_eq!(
            encode(generation, &back),
            Ok(item.words),
            "{:08x?} as {printed}",
            item.words
        );
    }
}
