//! Which command a header starts: a list by the bits that come first.

use crate::desc::CommandDesc;

/// Commands of a generation, ordered by the first bits of their headers.
pub(crate) struct CommandIndex {
    /// Bits of a header behind the first ones.
    pub shift: u32,
    /// Where in `commands` those begin that a value of the first bits may start; the next entry is where they end.
    pub first: &'static [u16],
    /// Descriptors; one stands in as many places as its opcode leaves first bits open.
    pub commands: &'static [&'static CommandDesc],
}

impl CommandIndex {
    /// The command that a header dword starts.
    #[inline]
    pub(crate) fn find(&self, header: u32) -> Option<&'static CommandDesc> {
        // CAST: nine bits.
        let kind = (header >> self.shift) as usize;
        let &[first, end] = self.first.get(kind..)?.first_chunk()?;
        let commands = self.commands.get(usize::from(first)..usize::from(end))?;
        commands
            .iter()
            .copied()
            .find(|c| header & c.mask == c.value)
    }
}

#[cfg(test)]
mod tests {
    use crate::r#gen::platform::GENERATIONS;

    /// The list that leaves nothing out: the first command in the order of the table that fits.
    #[test]
    fn every_header_starts_the_command_that_the_whole_table_has_for_it() {
        let mut random = fastrand::Rng::with_seed(1);
        for generation in GENERATIONS {
            let plain = |header: u32| {
                let mut all = generation.commands.iter();
                all.find(|c| header & c.mask == c.value).map(|c| c.id)
            };
            let mut found = 0;
            for step in 0..200_000 {
                let noise = random.u32(..);
                let command = generation.commands[random.usize(..generation.commands.len())];
                // Commands with other bits changed, with one bit of the opcode wrong, and any words.
                let header = match step % 3 {
                    0 => command.value | noise & !command.mask,
                    1 => command.value ^ 1 << (noise % 32),
                    _ => noise,
                };
                let known = (generation.command)(header).map(|c| c.id);
                assert_eq!(known, plain(header), "{header:#010x}");
                found += u32::from(known.is_some());
            }
            assert!(found > 66_666);
        }
    }
}
