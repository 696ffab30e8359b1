//! Compacted instructions: eight bytes with indices for what is common.
//!
//! PRM: Ivybridge volume 4 part 3, instruction compaction; Mesa 22.3.6 `brw_eu_compact.c`. Gen4 has
//! none. `compact` changes no bit: Mesa's rewriting of types before compaction is not done.

use crate::inst::{Opcode, Verx10};
use crate::operand::RegFile;
use crate::tables::by_generation;
use crate::tables::codes;
use crate::tables::compact::{Span, Three, spans, tables, three};
use crate::tables::layout::At;
use crate::tables::{Format, OpcodeDesc, Table};

mod stream;

pub use stream::{Stream, StreamError, StreamItem, alignment, decode_stream, instruction_at};

type Raw = [u32; 4];

/// Why two words do not expand to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum UncompactError {
    /// Gen4, and generations without tables.
    #[error("generation {} has no compacted instructions", .0)]
    UnsupportedGeneration(Verx10),
    /// The compaction bit is clear.
    #[error("the instruction is not compacted")]
    NotCompacted,
    /// Bits that the compacted form does not define: mask of the first word.
    #[error("reserved bits {0:#010x} of a compacted instruction")]
    ReservedBits(u32),
    /// The opcode number is not assigned.
    #[error("unknown opcode {0}")]
    UnknownOpcode(u8),
    /// Three sources before Gen8.
    #[error("opcode {0} has no compacted form")]
    NoCompactedForm(u8),
}

/// A run of the eight bytes and its place in the sixteen.
type Move = (Span, Span);

/// Compaction control, the same bit in both forms.
const COMPACT: u128 = 1 << 29;

/// Indices in the eight bytes.
const CONTROL: Span = (12, 8);
const DATATYPE: Span = (17, 13);
const SUBREG: Span = (22, 18);
const SOURCE0: Span = (34, 30);
const SOURCE1: Span = (39, 35);
/// Low bits of an immediate; the high ones are in `SOURCE1`.
const IMM_LOW: Span = (63, 56);

const SUBREG_SPANS: &[Span] = &[(100, 96), (68, 64), (52, 48)];
const SOURCE0_SPANS: &[Span] = &[(88, 77)];
const SOURCE1_SPANS: &[Span] = &[(120, 109)];
const IMM_SPAN: Span = (127, 96);

/// Fields that both forms have.
const OPCODE: Move = ((6, 0), (6, 0));
const COPIES: &[Move] = &[
    OPCODE,
    ((7, 7), (30, 30)),
    ((23, 23), (28, 28)),
    ((27, 24), (27, 24)),
    ((47, 40), (60, 53)),
    ((55, 48), (76, 69)),
];
const FLAG: Move = ((28, 28), (89, 89));
const SOURCE1_NR: Move = ((63, 56), (108, 101));

/// Fields of three sources.
const THREE_CONTROL: Span = (9, 8);
const THREE_SOURCE: Span = (11, 10);
const THREE_COPIES: &[Move] = &[
    OPCODE,
    ((18, 12), (62, 56)),
    ((28, 28), (64, 64)),
    ((30, 30), (30, 30)),
    ((31, 31), (31, 31)),
    ((32, 32), (85, 85)),
    ((33, 33), (106, 106)),
    ((36, 34), (75, 73)),
    ((39, 37), (96, 94)),
    ((42, 40), (117, 115)),
    ((49, 43), (82, 76)),
    ((56, 50), (103, 97)),
    ((63, 57), (124, 118)),
];
const THREE_RESERVED: u32 = 0x0ff8_0080;

const fn get(word: u128, (hi, lo): Span) -> u128 {
    word >> lo & ((1 << (hi - lo + 1)) - 1)
}

const fn set(word: u128, (hi, lo): Span, value: u128) -> u128 {
    let mask = ((1 << (hi - lo + 1)) - 1) << lo;
    word & !mask | (value << lo & mask)
}

/// The value that the spans hold together.
fn gather(word: u128, spans: &[Span]) -> u64 {
    let joined = spans.iter().fold(0, |value: u128, &span| {
        value << (span.0 - span.1 + 1) | get(word, span)
    });
    joined as u64
}

/// A value spread over the spans.
fn scatter(word: u128, spans: &[Span], value: u64) -> u128 {
    let (word, _) = spans
        .iter()
        .rev()
        .fold((word, u128::from(value)), |(word, value), &span| {
            (set(word, span, value), value >> (span.0 - span.1 + 1))
        });
    word
}

fn join(raw: &[u32]) -> u128 {
    raw.iter()
        .rev()
        .fold(0, |word, &dword| word << 32 | u128::from(dword))
}

fn split(word: u128) -> Raw {
    core::array::from_fn(|index| (word >> (32 * index)) as u32)
}

/// Whether words begin a compacted instruction of the generation.
pub const fn is_compacted(generation: Verx10, first: u32) -> bool {
    generation.has().compacted && first as u128 & COMPACT != 0
}

/// The eight-byte form, if the instruction has one: `uncompact` gives the same sixteen bytes.
pub fn compact(generation: Verx10, raw: Raw) -> Option<[u32; 2]> {
    by_generation!(generation, compact_words(raw), None)
}

/// The sixteen-byte form of a compacted instruction.
///
/// # Errors
/// The generation has no compacted form, the words are not compacted, or reserved bits are set.
pub fn uncompact(generation: Verx10, raw: [u32; 2]) -> Result<Raw, UncompactError> {
    let unsupported = Err(UncompactError::UnsupportedGeneration(generation));
    by_generation!(generation, expand(raw), unsupported)
}

fn opcode<const V: u8>(first: u32) -> Option<&'static OpcodeDesc> {
    Table::of(At::<V>::GENERATION)?.by_hw((first & 0x7f) as u8)
}

/// Whether an operand of the expanded instruction is an immediate.
fn immediate<const V: u8>(word: u128) -> bool {
    let raw = split(word);
    At::<V>::L
        .src
        .iter()
        .any(|src| codes::file(src.file.get(&raw)) == RegFile::Imm)
}

fn expand<const V: u8>(raw: [u32; 2]) -> Result<Raw, UncompactError> {
    if !At::<V>::F.compacted {
        return Err(UncompactError::UnsupportedGeneration(At::<V>::GENERATION));
    }
    let from = join(&raw);
    if from & COMPACT == 0 {
        return Err(UncompactError::NotCompacted);
    }
    let hw = (raw[0] & 0x7f) as u8;
    let row = opcode::<V>(raw[0]).ok_or(UncompactError::UnknownOpcode(hw))?;
    let three = match row.format {
        Format::Three => Some(three::<V>().ok_or(UncompactError::NoCompactedForm(hw))?),
        _ => None,
    };
    let reserved = match (three.is_some(), At::<V>::F.compacted_flag) {
        (true, _) => THREE_RESERVED,
        (false, true) => 1 << 28,
        _ => 0,
    };
    if raw[0] & reserved != 0 {
        return Err(UncompactError::ReservedBits(raw[0] & reserved));
    }
    Ok(split(match three {
        Some(three) => expand_three::<V>(three, from),
        None => expand_two::<V>(from),
    }))
}

fn expand_three<const V: u8>(three: &Three, from: u128) -> u128 {
    let spans = spans::<V>();
    let control = three.control[index(from, THREE_CONTROL) & 3];
    let source = three.source[index(from, THREE_SOURCE) & 3];
    let word = scatter(0, spans.three_control, u64::from(control));
    let word = scatter(word, spans.three_source, source);
    copy(from, word, THREE_COPIES)
}

/// An index of at most five bits.
fn index(from: u128, span: Span) -> usize {
    get(from, span) as usize & 31
}

fn copy(from: u128, to: u128, copies: &[Move]) -> u128 {
    copies.iter().fold(to, |to, &(source, target)| {
        set(to, target, get(from, source))
    })
}

fn expand_two<const V: u8>(from: u128) -> u128 {
    let (tables, spans) = (tables::<V>(), spans::<V>());
    let control = tables.control[index(from, CONTROL)];
    let datatype = tables.datatype[index(from, DATATYPE)];
    let subreg = tables.subreg[index(from, SUBREG)];
    let source0 = tables.source[index(from, SOURCE0)];
    let mut word = scatter(0, spans.control, u64::from(control));
    word = scatter(word, spans.datatype, u64::from(datatype));
    word = scatter(word, SUBREG_SPANS, u64::from(subreg));
    word = scatter(word, SOURCE0_SPANS, u64::from(source0));
    if immediate::<V>(word) {
        let bits = get(from, SOURCE1) << 8 | get(from, IMM_LOW);
        // The thirteenth bit is the sign.
        let imm = ((bits as u32) << 19) as i32 >> 19;
        word = set(word, IMM_SPAN, u128::from(imm as u32));
    } else {
        let source1 = tables.source[index(from, SOURCE1)];
        word = scatter(word, SOURCE1_SPANS, u64::from(source1));
        word = copy(from, word, &[SOURCE1_NR]);
    }
    word = copy(from, word, COPIES);
    if !At::<V>::F.compacted_flag {
        word = copy(from, word, &[FLAG]);
    }
    word
}

fn compact_words<const V: u8>(raw: Raw) -> Option<[u32; 2]> {
    if !At::<V>::F.compacted {
        return None;
    }
    let row = opcode::<V>(raw[0])?;
    let from = join(&raw);
    // The end of thread of a message has no place.
    if matches!(row.opcode, Opcode::Send | Opcode::Sendc)
        && At::<V>::F.send_target
        && raw[3] >> 31 != 0
    {
        return None;
    }
    let word = if row.format == Format::Three {
        compact_three::<V>(from)?
    } else {
        compact_two::<V>(from)?
    } | COMPACT;
    let [first, second, _, _] = split(word);
    // What the form has no place for got lost on the way.
    (expand::<V>([first, second]) == Ok(raw)).then_some([first, second])
}

/// Copies the other way.
fn copy_back(from: u128, to: u128, copies: &[Move]) -> u128 {
    copies.iter().fold(to, |to, &(target, source)| {
        set(to, target, get(from, source))
    })
}

fn find<T: Copy>(table: &[T], value: u64) -> Option<u128>
where
    u64: From<T>,
{
    let place = table.iter().position(|&entry| u64::from(entry) == value)?;
    Some(place as u128)
}

fn compact_three<const V: u8>(from: u128) -> Option<u128> {
    let (three, spans) = (three::<V>()?, spans::<V>());
    let control = find(three.control, gather(from, spans.three_control))?;
    let source = find(three.source, gather(from, spans.three_source))?;
    let word = copy_back(from, 0, THREE_COPIES);
    let word = set(word, THREE_CONTROL, control);
    Some(set(word, THREE_SOURCE, source))
}

fn compact_two<const V: u8>(from: u128) -> Option<u128> {
    let (tables, spans) = (tables::<V>(), spans::<V>());
    let imm = immediate::<V>(from);
    if imm && !At::<V>::F.compacted_immediate {
        return None;
    }
    // An immediate lies over the third subregister.
    let registers = if imm { set(from, IMM_SPAN, 0) } else { from };
    let mut word = copy_back(from, 0, COPIES);
    if !At::<V>::F.compacted_flag {
        word = copy_back(from, word, &[FLAG]);
    }
    word = set(
        word,
        CONTROL,
        find(&tables.control, gather(from, spans.control))?,
    );
    word = set(
        word,
        DATATYPE,
        find(&tables.datatype, gather(from, spans.datatype))?,
    );
    word = set(
        word,
        SUBREG,
        find(&tables.subreg, gather(registers, SUBREG_SPANS))?,
    );
    word = set(
        word,
        SOURCE0,
        find(&tables.source, gather(from, SOURCE0_SPANS))?,
    );
    if imm {
        let bits = get(from, IMM_SPAN);
        word = set(word, SOURCE1, bits >> 8);
        Some(set(word, IMM_LOW, bits))
    } else {
        let source = find(&tables.source, gather(from, SOURCE1_SPANS))?;
        Some(copy_back(from, set(word, SOURCE1, source), &[SOURCE1_NR]))
    }
}
