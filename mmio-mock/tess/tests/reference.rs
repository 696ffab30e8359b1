//! Patches compared with Microsoft's reference, bit for bit.
#![allow(clippy::unwrap_used, reason = "tests")]

use tess::{Domain, Factors, Limits, MOST_POINTS, Output, Partitioning, Setting, Tessellator};

const REFERENCE: &str = include_str!("reference.txt");

/// FNV-1a over dwords, the low byte first.
struct Hash(u64);

impl Hash {
    fn add(&mut self, dword: u32) {
        for byte in dword.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

/// The indices that the reference puts out: one a point, two a line, three a triangle.
fn indices(tessellator: &Tessellator) -> Vec<u32> {
    let (points, strip) = (tessellator.points().len() as u32, tessellator.strip());
    match strip {
        0 => {
            let all = tessellator.triangles().as_flattened();
            all.iter().map(|&index| u32::from(index)).collect()
        }
        1 => (0..points).collect(),
        strip => {
            let starts_line = |at: &u32| !at.is_multiple_of(strip as u32);
            let ends = (0..points).filter(starts_line);
            ends.flat_map(|at| [at - 1, at]).collect()
        }
    }
}

fn parse(line: &str) -> (Setting, Factors, [usize; 2], u64) {
    let words: Vec<&str> = line.split(' ').collect();
    let setting = Setting {
        domain: [Domain::Quad, Domain::Triangle, Domain::Isoline]
            [words[0].parse::<usize>().unwrap()],
        partitioning: [
            Partitioning::Integer,
            Partitioning::OddFractional,
            Partitioning::EvenFractional,
        ][words[1].parse::<usize>().unwrap()],
        output: [
            Output::Points,
            Output::Lines,
            Output::Clockwise,
            Output::CounterClockwise,
        ][words[2].parse::<usize>().unwrap()],
        limits: Limits::default(),
    };
    let factor = |at: usize| f32::from_bits(u32::from_str_radix(words[at], 16).unwrap());
    let factors = Factors {
        outside: [3, 4, 5, 6].map(factor),
        inside: [7, 8].map(factor),
    };
    let counts = [9, 10].map(|at: usize| words[at].parse().unwrap());
    let hash = u64::from_str_radix(words[11], 16).unwrap();
    (setting, factors, counts, hash)
}

// covers: V-0347, V-0349, V-0351, V-0361
#[test]
fn patches_are_those_of_the_reference() {
    let mut tessellator = Tessellator::new();
    let mut count = 0;
    for line in REFERENCE.lines().filter(|line| !line.starts_with('#')) {
        let (setting, factors, counts, expected) = parse(line);
        let drawn = tessellator.patch(&setting, &factors);
        assert_eq!(drawn, counts[0] > 0, "{line}");
        let indices = indices(&tessellator);
        assert_eq!(
            [tessellator.points().len(), indices.len()],
            counts,
            "{line}"
        );
        assert!(counts[0] <= MOST_POINTS);
        let mut hash = Hash(0xcbf2_9ce4_8422_2325);
        for point in tessellator.points() {
            let [u, v] = point.uv();
            assert!((0.0..=1.0).contains(&u) && (0.0..=1.0).contains(&v));
            hash.add(u.to_bits());
            hash.add(v.to_bits());
        }
        for &index in &indices {
            hash.add(index);
        }
        assert_eq!(hash.0, expected, "{line}");
        count += 1;
    }
    assert!(count > 700);
}

/// Limits of 3DSTATE_TE bring what smaller factors would.
// covers: V-0355, V-0356
#[test]
fn limits_cut_factors() {
    let limits = Limits {
        odd: 7.0,
        not_odd: 6.0,
    };
    let (mut limited, mut small) = (Tessellator::new(), Tessellator::new());
    for (partitioning, most) in [
        (Partitioning::Integer, 6.0),
        (Partitioning::OddFractional, 7.0),
        (Partitioning::EvenFractional, 6.0),
    ] {
        for domain in [Domain::Quad, Domain::Triangle] {
            let setting = Setting {
                domain,
                partitioning,
                output: Output::Clockwise,
                limits,
            };
            let of = |factor| Factors {
                outside: [factor; 4],
                inside: [factor; 2],
            };
            assert!(limited.patch(&setting, &of(40.0)));
            let free = Setting {
                limits: Limits::default(),
                ..setting
            };
            assert!(small.patch(&free, &of(most)));
            assert_eq!(limited.points(), small.points());
            assert_eq!(limited.triangles(), small.triangles());
        }
    }
}

/// Limits that make no sense change nothing but the number of points.
#[test]
fn limits_of_any_value_are_bounded() {
    let mut tessellator = Tessellator::new();
    for limit in [f32::NAN, f32::INFINITY, -1.0, 0.0, 1.5, 1e30] {
        for partitioning in [
            Partitioning::Integer,
            Partitioning::OddFractional,
            Partitioning::EvenFractional,
        ] {
            for domain in [Domain::Quad, Domain::Triangle, Domain::Isoline] {
                let setting = Setting {
                    domain,
                    partitioning,
                    output: Output::CounterClockwise,
                    limits: Limits {
                        odd: limit,
                        not_odd: limit,
                    },
                };
                let factors = Factors {
                    outside: [9.5, 17.0, f32::INFINITY, 3.0],
                    inside: [f32::NAN, 70.0],
                };
                assert!(tessellator.patch(&setting, &factors));
                let points = tessellator.points().len();
                assert!((3..=MOST_POINTS).contains(&points) || domain == Domain::Isoline);
                let all = tessellator.triangles().as_flattened();
                assert!(all.iter().all(|&index| usize::from(index) < points));
            }
        }
    }
}

#[test]
fn a_triangle_has_a_third_coordinate() {
    let mut tessellator = Tessellator::new();
    let setting = Setting {
        domain: Domain::Triangle,
        ..Setting::default()
    };
    let factors = Factors {
        outside: [3.0; 4],
        inside: [4.0; 2],
    };
    assert!(tessellator.patch(&setting, &factors));
    for point in tessellator.points() {
        let [u, v] = point.uv();
        assert_eq!(point.w(), 1.0 - u - v);
    }
}
