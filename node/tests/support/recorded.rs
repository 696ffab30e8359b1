//! Requests of a program, as they were recorded.

/// What Mesa asked for: request and argument block.
pub fn recorded() -> Vec<(u32, Vec<u8>)> {
    let text = include_str!("../data/requests.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (request, block) = line.split_once(' ').unwrap();
            let byte = |at: usize| u8::from_str_radix(&block[at..at + 2], 16).unwrap();
            let bytes = (0..block.len()).step_by(2).map(byte).collect();
            (u32::from_str_radix(request, 16).unwrap(), bytes)
        })
        .collect()
}
