//! Several threads and several contexts on Sandy Bridge.
//!
//! Fields of messages to the gateway: PRM volume 4, 7.1.2 and 7.1.4; commands as in the file above.

use super::*;

/// Messages to the gateway: opens four registers from r40 on, and sends a dword into their second with a notification, to the
/// thread in the first slot of the first EU, as often as the answer is a mistake: its gateway may be closed yet.
const OPEN: &str = "mov(8) m1<1>UD 0UD { align1 };\n\
    mov(1) m1.4<1>UD 0x1234UD { align1 };\n\
    mov(1) m1.5<1>UD 0x05000200UD { align1 };\n\
    send(8) null<1>UD m1<8,8,1>UD 0x02000000 gateway { align1 };\n";
const FORWARD: &str = "mov(8) m1<1>UD 0xcafeUD { align1 };\n\
    mov(1) m1.4<1>UD 0x1234UD { align1 };\n\
    mov(1) m1.5<1>UD 0x00040200UD { align1 };\n\
    send(8) g20<1>UD m1<8,8,1>UD 0x0210c002 gateway { align1 };\n\
    cmp.ne.f0.0(1) null<1>UD g20<0,1,0>UD 0x30000UD { align1 };\n\
    (+f0.0) jmpi(1) -12D { align1 };\n";
const WAIT: &str = "wait(1) n0<1>UD { align1 };\n";

/// Where threads are, in order.
fn places(rig: &Rig) -> Vec<(u8, u8)> {
    let threads = rig.device.threads();
    let mut places: Vec<_> = threads.iter().map(|t| (t.id.eu, t.id.slot)).collect();
    places.sort_unstable();
    places
}

/// An object that names a descriptor.
fn object_of(rig: &mut Rig, descriptor: u32, x: u32) {
    rig.emit(&[0x7100_0004, descriptor, 0, 0, x, 0]);
}

/// Twelve EUs of five threads (i915 intel_sseu.c has no more for these parts; 60 in crocus' device info for GT2): each thread has
/// written its header through the data port before it waits.
// covers: S-0061
#[test]
fn threads_stand_on_all_eus_and_ask_shared_functions() {
    let text = place() + &write("g0") + WAIT + STOP;
    let mut rig = ready(&text, 0, NO_BOARD);
    vfe_state(&mut rig, (0, 64, 4, 60), NO_BOARD);
    for n in 0..60 {
        object(&mut rig, (n % 8, n / 8), None, &[]);
    }
    assert_eq!(rig.hang().len(), 60);
    let all: Vec<(u8, u8)> = (0..12)
        .flat_map(|eu| (0..5).map(move |t| (eu, t)))
        .collect();
    assert_eq!(places(&rig), all);
    for n in 0..60 {
        assert_eq!(rig.out(n)[1], n % 8 + ((n / 8) << 16));
    }
}

/// The thread in the first slot waits for a message. While it does, the one beside it on the same EU has its turns, and sends it.
// covers: S-0064, S-0068
#[test]
fn a_thread_that_waits_leaves_its_eu_to_another() {
    let waiting = OPEN.to_owned() + WAIT + &place() + &write("g40") + STOP;
    let sending = FORWARD.to_owned() + &place() + &write("g20") + STOP;
    let prepare = |second: u32| {
        let mut rig = ready(&waiting, 0, NO_BOARD);
        rig.code(KERNELS + 0x4000, &sending);
        descriptor(&rig, 1, KERNELS + 0x4000, 0);
        load_descriptors(&mut rig, 64);
        object_of(&mut rig, 0, 0);
        object_of(&mut rig, second, 1);
        rig
    };
    let mut rig = prepare(0);
    assert_eq!(rig.hang().len(), 2);
    assert_eq!(places(&rig), [(0, 0), (0, 1)]);
    let mut rig = prepare(1);
    rig.complete();
    assert_eq!(rig.out(0)[..3], [0, 0xcafe, 0]);
    // The gateway's answer: its number, and no mistake.
    assert_eq!(rig.out(1)[0], 3 << 16);
}

/// MI_SET_CONTEXT with the graphics space and extended state, without a restore when the image is new (i915
/// gt/intel_gpu_commands.h).
fn set_context(rig: &mut Rig, image: u32, is_new: bool) {
    rig.emit(&[
        0x18 << 23,
        image | 1 << 8 | 1 << 3 | 1 << 2 | u32::from(is_new),
    ]);
}

/// Two contexts with a front end, a kernel and constants of their own. Each finds its own again when the other has run.
#[test]
fn contexts_keep_the_state_of_the_media_pipeline() {
    const IMAGES: [u32; 2] = [0x6000, 0x7000];
    let mut rig = Rig::of(crate::intel::r#gen::find("sandybridge").unwrap());
    for n in 0..2 {
        rig.poke(IMAGES[n as usize], &[0x0500_0000]);
        rig.poke(CONSTANTS + 128 * n, &[100 * (n + 1); 32]);
        // The second adds one.
        let text = format!("add(8) g20<1>UD g1<8,8,1>UD {n}UD {{ align1 }};\n") + &place();
        let at = KERNELS + 0x4000 * n;
        rig.code(at, &(text + &write("g20") + STOP));
        descriptor(&rig, n, at, 1);
    }
    for n in 0..2 {
        set_context(&mut rig, IMAGES[n as usize], true);
        bases(&mut rig);
        vfe_state(&mut rig, (4, 16 + n, 4, 40), NO_BOARD);
        rig.emit(&[0x7001_0002, 0, 128, CONSTANTS + 128 * n]);
        rig.emit(&[0x7002_0002, 0, 32, DESCRIPTORS + 32 * n]);
        object(&mut rig, (n, 0), None, &[]);
        rig.complete();
        assert_eq!(rig.out(n)[0], [100, 201][n as usize]);
    }
    for turn in 1..3 {
        for n in 0..2 {
            set_context(&mut rig, IMAGES[n as usize], false);
            object(&mut rig, (n, turn), None, &[]);
        }
        rig.complete();
        for n in 0..2 {
            let out = rig.out(turn * COLUMNS + n);
            assert_eq!(out[0], [100, 201][n as usize], "{turn}, {n}");
        }
    }
}
