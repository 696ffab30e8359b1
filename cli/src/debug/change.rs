//! `set`: registers, memory and instructions of what is stopped.
//!
//! PRM: volume 4, 3.6 (instruction stream modification). Changes are remembered for steps backwards.

use isa::operand::Type;

use super::command::Words;
use super::gate::State;
use super::history::Change;
use super::place::Place;
use super::session::Debugger;
use super::{Answer, Refusal, value};

/// `0x1000` or `0x1000:f`.
pub fn typed_address(text: &str) -> Answer<(u32, Type)> {
    match text.split_once(':') {
        Some((address, ty)) => Ok((value::number(address)?, value::element_type(ty)?)),
        None => Ok((value::number(text)?, Type::Ud)),
    }
}

impl Debugger {
    pub(super) fn do_set(&mut self, words: &Words) -> Answer {
        if self.target.state() == State::Ended {
            return Err(format!("{} has ended", self.target.name()).into());
        }
        let list = words.list();
        if let ["inst", address, text @ ..] = list.as_slice() {
            return self.set_instruction(address, &text.join(" "));
        }
        let shape = "what? `set r5.3:f = 1.5`, `set mem ADDR = 1`, `set inst ADDR \"TEXT\"`";
        let (before, after) = words.split_at("=").ok_or(shape)?;
        let values = after.joined();
        match before.list().as_slice() {
            ["mem", address] => {
                let (address, ty) = typed_address(address)?;
                let values = value::list(ty, &values)?;
                let bytes: Vec<u8> = values
                    .iter()
                    .flat_map(|bits| bits.to_le_bytes().into_iter().take(ty.size()))
                    .collect();
                self.change_memory(address, bytes)?;
                Ok(String::new())
            }
            [name] => {
                let place: Place = name.parse()?;
                self.set_register(&place, &values)
            }
            _ => Err(shape.into()),
        }
    }

    fn change_memory(&mut self, address: u32, bytes: Vec<u8>) -> Answer<()> {
        let now = self.now()?;
        self.write_bytes(address, &bytes)?;
        self.record(now, Change::Memory(address, bytes));
        Ok(())
    }

    fn set_register(&mut self, place: &Place, values: &str) -> Answer {
        let (key, slot) = self.alive()?;
        let mut registers = self.backend.read(slot)?;
        let mut list = if place.name() == "f0" && !values.contains(',') {
            // f0 as one dword: f0.0 is its lower half.
            let bits = value::bits(Type::Ud, values.trim())?;
            vec![bits & 0xffff, bits >> 16]
        } else {
            value::list(place.ty(), values)?
        };
        let width = place.read(&registers).len();
        if place.sub.is_none() && place.bank.has_rows() && list.len() == 1 {
            // One value for a whole register goes to every element.
            list = vec![list[0]; width];
        }
        place.write(&mut registers, &list)?;
        if place.name() == "ip"
            && let Some(info) = self.info(key)
        {
            // A thread that goes where nothing is never comes back.
            let base = info.context.bases.kernels();
            self.instruction(base.wrapping_add(registers.ip))?;
        }
        let now = self.now()?;
        self.backend.write(slot, &registers)?;
        self.record(now, Change::Registers(Box::new(registers)));
        if let Some(seen) = &mut self.seen {
            // What the debugger changes is no difference of the next step.
            seen.registers = self.backend.read(slot)?;
        }
        if place.name() == "ip" {
            return self.current_line();
        }
        Ok(String::new())
    }

    fn set_instruction(&mut self, address: &str, text: &str) -> Answer {
        let address = value::number(address)?;
        self.check_alignment(address)?;
        if text.is_empty() {
            return Err(
                "which instruction? `set inst ADDR \"mov (8) r2<1>F 1F { align1 }\"`".into(),
            );
        }
        let inst = isa::parse::instruction(self.isa, text).map_err(Refusal::of)?;
        let words = isa::encode(self.isa, &inst).map_err(|error| Refusal(format!("{error:?}")))?;
        let words = self.fitting(address, text, &words)?;
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.change_memory(address, bytes)?;
        Ok(String::new())
    }

    /// The words of an instruction in as many bytes as the one that it replaces has: the next one stays where it is.
    fn fitting(&self, address: u32, text: &str, words: &[u32; 4]) -> Answer<Vec<u32>> {
        if self.instruction(address)?.compacted() {
            let short = isa::compact(self.isa, *words).ok_or_else(|| {
                Refusal(format!(
                    "{address:#010x} is a compacted instruction of 8 bytes, `{text}` takes 16"
                ))
            })?;
            return Ok(short.to_vec());
        }
        if wants_compacted(self.isa, text)? {
            return Err(Refusal(format!(
                "{address:#010x} is an instruction of 16 bytes, `{text}` takes 8: leave `compacted` out"
            )));
        }
        Ok(words.to_vec())
    }
}

/// Whether the text of an instruction has the option `compacted`; a refusal when there is no such form of it.
fn wants_compacted(isa: isa::Verx10, text: &str) -> Answer<bool> {
    let end = if text.ends_with(';') { "" } else { "\n;" };
    let whole = isa::parse::assemble(isa, "input", &format!("{text}{end}"));
    let items = whole
        .map_err(|errors| {
            let first = errors.into_iter().next();
            first.map_or_else(|| Refusal::of("it does not assemble"), Refusal::of)
        })?
        .items;
    Ok(items.first().is_some_and(|item| item.count == 2))
}
