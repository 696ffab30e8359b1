//! Flags, messages, jumps by register, notifications, time.
//!
//! PRM: ValleyView volume 2 part 2, brc and brd; Mesa 22.3.6 `brw_fs_generator.cpp`, `brw_eu_emit.c`.

use super::{execute, with};
use crate::r#gen::GEN70;
use crate::tests::Outside;
use crate::tests::text::{self, Memory, assemble, run};
use crate::{KernelCache, Stop};

#[test]
fn each_flag_subregister_is_chosen() {
    for (n, flag) in ["f0.0", "f0.1", "f1.0", "f1.1"].iter().enumerate() {
        let text = format!(
            "cmp.l.{flag}(8) null<1>D g2<8,8,1>D g3<8,8,1>D {{ align1 1Q }};
            (+{flag}) mov(8) g10<1>UD 0x00000001UD {{ align1 1Q }};
            (-{flag}) sel(8) g11<1>UD g2<8,8,1>UD g3<8,8,1>UD {{ align1 1Q }};"
        );
        let t = execute(&text, with(&[(2, [0, 1, 2, 3, 4, 5, 6, 7]), (3, [4; 8])]));
        let view = t.view();
        let mut all = [0; 4];
        all[n] = 0x000f;
        assert_eq!([view.flag, view.second_flag].concat(), all);
        assert_eq!(t.grf()[10], [1, 1, 1, 1, 0, 0, 0, 0]);
        assert_eq!(t.grf()[11], [4, 4, 4, 4, 4, 5, 6, 7]);
    }
    let text = "mov(1) f1<1>UW 0x1234UW { align1 WE_all 1N };
        mov(1) g10<1>UW f1<0,1,0>UW { align1 WE_all 1N };
        mov(1) f0.1<1>UW 0x5678UW { align1 WE_all 1N };";
    let t = execute(text, with(&[]));
    assert_eq!(
        (t.view().flag, t.view().second_flag),
        ([0, 0x5678], [0x1234, 0])
    );
    assert_eq!(t.grf()[10][0], 0x1234);
}

/// As Mesa 22.3.6 has comparisons of 32 channels: two of sixteen name f0.0, and an `if` of all looks at f0.0 and f0.1.
#[test]
fn channels_from_sixteen_on_have_the_next_flags() {
    let mut t = text::thread(GEN70, u32::MAX);
    for nr in 0..4 {
        t.grf_mut()[2 + nr] = std::array::from_fn(|i| (8 * nr + i) as u32);
    }
    let text = "cmp.l.f0.0(16) null<1>D g2<8,8,1>D 5D { align1 1H };
        cmp.ge.f0.0(16) null<1>D g4<8,8,1>D 30D { align1 2H };
        cmp.z.f1.0(8) null<1>D g5<8,8,1>D 25D { align1 4Q };
        (+f0.0) if(32) JIP: L1 UIP: L1 { align1 };
        mov(16) g10<1>UD 0x00000001UD { align1 1H };
        mov(16) g12<1>UD 0x00000001UD { align1 2H };
        L1: endif(32) JIP: L2 { align1 };
        L2: (+f0.0) mov(8) g14<1>UD 0x00000001UD { align1 4Q };";
    let t = execute(text, t);
    assert_eq!(t.view().flag, [0x001f, 0xc000]);
    assert_eq!(t.view().second_flag, [0, 0x0200]);
    for channel in 0..32 {
        let on = !(5..30).contains(&channel);
        assert_eq!(
            t.grf()[10 + channel / 8][channel % 8],
            u32::from(on),
            "{channel}"
        );
    }
    assert_eq!(t.grf()[14], [0, 0, 0, 0, 0, 0, 1, 1]);
}

// covers: V-0007
#[test]
fn nibbles_choose_four_channels() {
    let mut t = text::thread(GEN70, 0b1010_0110);
    t.grf_mut()[2] = [1, 2, 3, 4, 5, 6, 7, 8];
    let text = "mov(4) g10<1>UD g2<4,4,1>UD { align1 1N };
        mov(4) g11<1>UD g2.4<4,4,1>UD { align1 2N };
        cmp.g.f1.1(4) null<1>UD g2.4<4,4,1>UD 0x00000005UD { align1 2N };";
    let t = execute(text, t);
    assert_eq!(t.grf()[10][..4], [0, 2, 3, 0]);
    assert_eq!(t.grf()[11][..4], [0, 6, 0, 8]);
    assert_eq!(t.view().second_flag, [0, 0b1010_0000]);
}

/// Mesa prints descriptors of `send` as numbers: lengths in 28:25 and 24:20.
#[test]
fn payloads_are_general_registers() {
    let mut t = with(&[]);
    for (nr, register) in t.grf_mut().iter_mut().enumerate() {
        *register = [nr as u32; 8];
    }
    // Three registers from g5 to the sampler, two back: into the payload, before it and behind it.
    for back in [5, 7, 3, 4, 6, 20] {
        let text = format!(
            "send(8) g{back}<1>UW g5<8,8,1>UD 0x06220001
                sampler MsgDesc: sample SIMD8 Surface = 1 Sampler = 0 mlen 3 rlen 2 {{ align1 1Q }};"
        );
        let (after, sent) = text::execute(GEN70, &text, t.clone());
        assert_eq!(sent.len(), 1);
        assert_eq!((sent[0].sfid, sent[0].eot), (2, false));
        assert_eq!(sent[0].payload, [[5; 8], [6; 8], [7; 8]]);
        // What the port answers depends on the descriptor and the first register.
        let first = 0x0622_0001u32 ^ 5;
        for n in 0..2 {
            let answer = std::array::from_fn(|i| first.rotate_left(i as u32) ^ n as u32);
            assert_eq!(after.grf()[back + n], answer);
        }
    }
    let text = "send(8) null<1>UW g125<8,8,1>UD 0x08031000
        render MsgDesc: RT write SIMD16 LastRT Surface = 0 mlen 4 rlen 0 { align1 1Q };";
    let mut memory = Memory::new(assemble(GEN70, text));
    let stop = run(&mut KernelCache::of(GEN70), &mut t, &mut memory);
    assert!(matches!(stop, Stop::Hung(_)), "{stop:?}");
}

/// Channels that the flag names go to UIP; the thread goes to JIP when none is left.
// covers: V-0649, V-0650, V-0651, V-0652, V-0653, V-0654, V-0656
#[test]
fn converging_branches_wait_for_the_last_channel() {
    let by_number = "(+f0.0) brc(8) JIP: L1 UIP: L2";
    // From the `brc` at 0: three instructions on, and five, in units of eight bytes.
    let by_register = "(+f0.0) brc(8) g3<0,1,0>D";
    for line in [by_number, by_register] {
        let text = format!(
            "{line} {{ align1 1Q switch }};
            mov(8) g10<1>UD 0x00000001UD {{ align1 1Q }};
            mov(8) g11<1>UD 0x00000001UD {{ align1 1Q }};
            L1: mov(8) g12<1>UD 0x00000001UD {{ align1 1Q }};
            mov(8) g13<1>UD 0x00000001UD {{ align1 1Q }};
            L2: mov(8) g14<1>UD 0x00000001UD {{ align1 1Q }};"
        );
        for (flags, rest) in [
            (0x0f, [0, 0, 0, 0, 1, 1, 1, 1]),
            (0xff, [0; 8]),
            (0, [1; 8]),
        ] {
            let mut t = with(&[(3, [10 << 16 | 6; 8])]);
            t.set_flag([flags, 0]);
            let t = execute(&text, t);
            for nr in 10..14 {
                assert_eq!(t.grf()[nr], rest, "{line} {flags:x} g{nr}");
            }
            assert_eq!(t.grf()[14], [1; 8], "{line} {flags:x}");
        }
    }
}

/// The thread goes with the first channel that branches, and the others wait behind the instruction.
// covers: V-0662, V-0663, V-0664, V-0665, V-0666, V-0667, V-0669, V-0670
#[test]
fn diverging_branches_go_with_the_first_channel() {
    for line in ["(+f1.1) brd(8) JIP: L1", "(+f1.1) brd(8) g3<0,1,0>D"] {
        // The channels that stay are met when the others come back.
        let text = format!(
            "{line} {{ align1 1Q switch }};
            mov(8) g10<1>UD 0x00000001UD {{ align1 1Q }};
            brd(8) JIP: L2 {{ align1 1Q switch }};
            L1: mov(8) g11<1>UD 0x00000001UD {{ align1 1Q }};
            jmpi(1) -8D {{ align1 WE_all 1N }};
            L2: mov(8) g12<1>UD 0x00000001UD {{ align1 1Q }};"
        );
        let mut t = with(&[(3, [6; 8])]);
        t.set_second_flag([0, 0x03]);
        let mut memory = Memory::new(assemble(GEN70, &text));
        let stop = run(&mut KernelCache::of(GEN70), &mut t, &mut memory);
        assert_eq!(
            stop,
            Stop::Fault(Outside(memory.words.len() as u32 * 4)),
            "{line}"
        );
        assert_eq!(t.grf()[10], [1; 8], "{line}");
        assert_eq!(t.grf()[11], [1, 1, 0, 0, 0, 0, 0, 0], "{line}");
        assert_eq!(t.grf()[12], [1; 8], "{line}");
    }
}

#[test]
fn a_thread_waits_for_its_notification() {
    for wait in [
        "wait(1) n0<1>UD { align1 WE_all 1N };",
        "wait(1) n0<1>.xUD { align16 WE_all 1N };",
    ] {
        let mut t = with(&[]);
        let mut memory = Memory::new(assemble(GEN70, wait));
        let mut cache = KernelCache::of(GEN70);
        assert_eq!(
            run(&mut cache, &mut t, &mut memory),
            Stop::Wait(0),
            "{wait}"
        );
        t.notify(0);
        assert_eq!(
            run(&mut cache, &mut t, &mut memory),
            Stop::Fault(Outside(16))
        );
    }
}

#[test]
fn the_timestamp_register_tells_the_ports_time() {
    let text = "mov(4) g10<1>UD tm0<4,4,1>UD { align1 WE_all 1N };
        add(8) g11<1>UD g11<8,8,1>UD 0x00000001UD { align1 1Q };
        mov(4) g12<1>UD tm0<4,4,1>UD { align1 WE_all 1N };";
    let t = execute(text, with(&[]));
    let [first, second] = [10, 12].map(|nr| t.grf()[nr]);
    // The port of the test counts how often it is asked, from 2^33 on.
    assert_eq!((first[0], first[1], second[0], second[1]), (1, 2, 2, 2));
}

/// beignet 1.3.2 gen_encoder.cpp, `patchJMPI`: a way back has the low word of its index alone (here -6, of eight bytes each), with a zero
/// in the place of UIP.
#[test]
fn an_immediate_index_of_jmpi_is_a_word() {
    let text = "jmpi(1) 4D { align1 WE_all 1N };
        mov(1) g10<1>UD 0x00000001UD { align1 WE_all 1N };
        jmpi(1) 4D { align1 WE_all 1N };
        jmpi(1) 65530D { align1 WE_all 1N };
        mov(1) g11<1>UD 0x00000001UD { align1 WE_all 1N };
        mov(1) g12<1>UD 0x00000001UD { align1 WE_all 1N };";
    let t = execute(text, with(&[]));
    let marks = [10, 11, 12].map(|nr| t.grf()[nr][0]);
    assert_eq!(marks, [1, 0, 1]);
}

/// A move between equal types moves bits (PRM vol4 10.3.1.2), whatever the accumulator was written as: beignet moves products of dwords so.
#[test]
fn an_integer_of_the_accumulator_is_moved_as_bits() {
    let text = "mul(8) acc0<1>D g2<8,8,1>D g3<0,1,0>D { align1 1Q };
        mach(8) null<1>D g2<8,8,1>D g3<0,1,0>D { align1 1Q AccWrEnable };
        mov(8) g10<1>F acc0<8,8,1>F { align1 1Q };";
    let factors = [0, 1, 2, 3, 70000, 0x7f80_0001, 5, 0xffff_fffb];
    let t = execute(text, with(&[(2, factors), (3, [14; 8])]));
    assert_eq!(t.grf()[10], factors.map(|x| x.wrapping_mul(14)));
}

/// Dwords of both quarters have acc0 (beignet 1.3.2 gen_context.cpp, sums of longs: `addc` for each quarter, and its carry out of acc0).
#[test]
fn carries_of_both_quarters_come_out_of_acc0() {
    let text = "addc(8) g10<1>UD g2<8,8,1>UD g4<0,1,0>UD { align1 1Q AccWrEnable };
        mov(8) g12<1>UD acc0<8,8,1>D { align1 1Q };
        addc(8) g11<1>UD g3<8,8,1>UD g4<0,1,0>UD { align1 2Q AccWrEnable };
        mov(8) g13<1>UD acc0<8,8,1>D { align1 2Q };";
    let [low, high] = [
        [0, u32::MAX, 2, 3, 4, u32::MAX, 6, 7],
        [u32::MAX, 1, 2, 3, 4, 5, u32::MAX - 1, 7],
    ];
    let t = execute(text, with(&[(2, low), (3, high), (4, [2; 8])]));
    let carry = |x: u32| u32::from(x.checked_add(2).is_none());
    assert_eq!(t.grf()[12], low.map(carry));
    assert_eq!(t.grf()[13], high.map(carry));
}
