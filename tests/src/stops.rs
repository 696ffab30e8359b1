//! Frames with a system routine that waits for the host and obeys.
//!
//! PRM: volume 4, 3.5, 3.6, 12.3. What goes between routine and host lies in memory; m0 is the routine's (12.3-04), and
//! so is m1 here: none of the kernels keeps anything in it across an instruction.

use isa::Verx10;
use mem::GpuAddr;
use mmio_mock::Model;
use mmio_mock::intel::status::Unit;
use regs::gen40::RegId;

use crate::scene::draw::Draw;
use crate::scene::surface::Surface;
use crate::scene::{FRAME, Frame, Scene};

/// INSTPM: the global debug enable on; the upper half says which bits a write changes.
const GLOBAL: u32 = 1 << 20 | 1 << 4;
/// CR0: Breakpoint Suppress.
pub const SUPPRESS: u32 = 1 << 15;
/// CR1: status of a mask stack's overflow.
pub const MASK_STACK: u32 = 1 << 27;
/// CR1: status of an illegal opcode.
pub const ILLEGAL: u32 = 1 << 28;
/// CR1: status of a software exception.
pub const SOFTWARE: u32 = 1 << 29;
/// CR1: status of an external halt.
pub const HALT: u32 = 1 << 30;
/// CR1: status of a breakpoint.
pub const BREAKPOINT: u32 = 1 << 31;

/// A routine that waits and obeys nobody: wait n1; then CR1: breakpoints on, status clear; then CR0: suppress one breakpoint, leave the routine.
pub const WAITING: [u32; 12] = [
    0x0000_0030,
    0x3220_0084,
    0x0000_1220,
    0, //
    0x0000_0001,
    0x3004_0060,
    0,
    0x0000_8000, //
    0x0000_0001,
    0x3000_0060,
    0,
    0x0000_8000,
];

/// What a thread does when it leaves the routine.
#[derive(Clone, Copy)]
pub struct Order {
    /// Bits of CR1 that stay.
    keep: u32,
    /// CR0.
    control: u32,
    /// Bytes that it skips.
    skip: u32,
}

/// One more instruction (3.6.1): Suppress is set, the status stays.
pub const STEP: Order = Order {
    keep: u32::MAX,
    control: SUPPRESS,
    skip: 0,
};
/// On, past the breakpoint: Suppress is set, every status is cleared.
pub const GO: Order = Order {
    keep: 0xffff,
    control: SUPPRESS,
    skip: 0,
};
/// The same without Suppress.
pub const BARE: Order = Order { control: 0, ..GO };
/// Out of the routine with nothing changed: neither Suppress nor a cleared status.
pub const NOTHING: Order = Order { control: 0, ..STEP };
/// Past an instruction that has no meaning.
pub const SKIP: Order = Order { skip: 16, ..BARE };

/// A thread in the routine.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Bit of the thread, EU 0 thread 0 being bit 0.
    pub threads: u32,
    /// AIP.
    pub ip: u32,
    /// CR0 and CR1 in the routine.
    pub control: [u32; 2],
    /// First dword of r120.
    pub value: u32,
    /// Dwords 2 to 5 of r1: the subspans of a pixel shader thread.
    pub subspans: [u32; 4],
}

/// A scene whose threads can stop.
pub struct Bench {
    /// The frame.
    pub scene: Scene,
    /// What it draws on.
    pub target: Surface,
    desk: u32,
    /// Keeps the desk where it is.
    paper: driver::Object,
}

/// Assembles a text in the syntax of Mesa's disassembler.
///
/// # Panics
///
/// If the text is no kernel.
#[must_use]
pub fn assemble(text: &str) -> Vec<u32> {
    assemble_text(text).unwrap_or_else(|error| panic!("{error}"))
}

/// The same for texts that come from outside: the first error in words.
pub fn assemble_text(text: &str) -> Result<Vec<u32>, String> {
    let program = isa::parse::assemble(Verx10::GEN40, "kernel", text);
    let first = |errors: Vec<_>| match errors.first() {
        Some(error) => format!("{error}"),
        None => String::new(),
    };
    program.map(|p| p.dwords().collect()).map_err(first)
}

/// DebugCtrl of an instruction.
pub fn marked(kernel: &mut [u32], instruction: usize) {
    kernel[instruction * 4] |= 1 << 30;
}

/// Tells, waits, obeys. Descriptors: data port write of two OWords, stateless; read of two OWords.
fn routine(desk: u32) -> Vec<u32> {
    let order = desk + 64;
    assemble(&format!(
        "mov(8) m0<1>UD 0UD {{ align1 nomask }};
         mov(1) m0.2<1>UD {desk:#x}UD {{ align1 nomask }};
         mov(1) m1<1>UD cr0.2<0,1,0>UD {{ align1 nomask }};
         mov(1) m1.1<1>UD cr0<0,1,0>UD {{ align1 nomask }};
         mov(1) m1.2<1>UD cr0.1<0,1,0>UD {{ align1 nomask }};
         mov(1) m1.3<1>UD g120<0,1,0>UD {{ align1 nomask }};
         mov(4) m1.4<1>UD g1.2<4,4,1>UD {{ align1 nomask }};
         send(8) 0 null<1>UD null<8,8,1>UD 0x52002ff {{ align1 nomask }};
         wait(1) n1<1>UD {{ align1 }};
         mov(8) m0<1>UD 0UD {{ align1 nomask }};
         mov(1) m0.2<1>UD {order:#x}UD {{ align1 nomask }};
         send(8) 0 g127<1>UD null<8,8,1>UD 0x41102ff {{ align1 nomask }};
         add(1) cr0.2<1>UD cr0.2<0,1,0>UD g127.2<0,1,0>UD {{ align1 nomask }};
         and(1) cr0.1<1>UD cr0.1<0,1,0>UD g127<0,1,0>UD {{ align1 nomask }};
         mov(1) cr0<1>UD g127.1<0,1,0>UD {{ align1 nomask }};"
    ))
}

impl Bench {
    /// A target, the routine in STATE_SIP, global debug on.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        Self::on("gm965", width, height)
    }

    /// The same on a device by its name.
    #[must_use]
    pub fn on(device: &str, width: u32, height: u32) -> Self {
        let mut scene = Scene::on(device);
        let target = scene.target(width, height);
        let desk_object = scene.object(4096);
        let desk = desk_object.address().unwrap();
        let bench = Bench {
            scene,
            target,
            desk,
            paper: desk_object,
        };
        bench.write(RegId::Instpm, GLOBAL);
        bench
    }

    /// The routine, whose address comes back, and the frame's draw.
    pub fn draw(&mut self, draw: &Draw) -> u32 {
        let at = self.scene.state(64, &routine(self.desk));
        self.scene.commands.extend([0x6102_0000, at]);
        self.scene.draw(draw);
        at
    }

    /// Writes a register.
    pub fn write(&self, id: RegId, value: u32) {
        let device = &self.scene.rig.platform;
        device.device().write_register(id, 0, value);
    }

    /// Reads a register.
    pub fn read(&self, id: RegId) -> u32 {
        let device = &self.scene.rig.platform;
        device.device().read_register(id, 0)
    }

    /// A mux value of a unit.
    pub fn show(&self, control: RegId, mux: u32, data: RegId) -> u32 {
        let old = self.read(control) & !0xff00;
        self.write(control, old | mux << 8);
        self.read(data)
    }

    /// Lets the device work for so many ticks.
    pub fn run(&self, ticks: u64) {
        self.scene.rig.platform.run(ticks);
    }

    /// Whether nothing is at work.
    pub fn idle(&self) -> bool {
        self.scene.rig.platform.device().idle()
    }

    /// A dword of memory.
    pub fn memory(&self, address: u32) -> u32 {
        let memory = self.scene.rig.platform.memory();
        mmio_mock::core::memory::lock(memory)
            .read_u32(GpuAddr::from(address))
            .unwrap()
    }

    /// Writes a dword of memory.
    pub fn set_memory(&self, address: u32, value: u32) {
        let memory = self.scene.rig.platform.memory();
        mmio_mock::core::memory::lock(memory)
            .write_u32(GpuAddr::from(address), value)
            .unwrap();
    }

    /// Unit and kernel of the threads that have not ended.
    pub fn threads(&self) -> Vec<(Unit, u32)> {
        let running = self.scene.rig.platform.device().running();
        running
            .into_iter()
            .map(|(u, kernel, _)| (u, kernel))
            .collect()
    }

    /// Threads that were started, by unit.
    pub fn started(&self, unit: Unit) -> u64 {
        let device = self.scene.rig.platform.device();
        device.status().activity.threads[unit as usize]
    }

    /// The next thread that waits in the routine; none when the frame ends, or stands for another reason.
    pub fn stop(&self) -> Option<Stop> {
        for _ in 0..400 {
            let attention = self.read(RegId::EuAtt);
            if attention != 0 {
                let at = |n: u32| self.memory(self.desk + 4 * n);
                return Some(Stop {
                    threads: attention.reverse_bits(),
                    ip: at(0),
                    control: [at(1), at(2)],
                    value: at(3),
                    subspans: [at(4), at(5), at(6), at(7)],
                });
            }
            if self.idle() {
                return None;
            }
            self.run(500);
        }
        None
    }

    /// Lets the thread leave the routine. EU_ATT_CLR: set, then set back.
    pub fn order(&self, stop: &Stop, order: Order) {
        for (n, value) in (16..).zip([order.keep, order.control, order.skip]) {
            self.set_memory(self.desk + 4 * n, value);
        }
        self.write(RegId::EuAttClr, stop.threads);
        self.write(RegId::EuAttClr, 0);
    }

    /// The next stop, or the failure of the test.
    pub fn stopped(&self) -> Stop {
        self.stop().expect("a thread stops")
    }

    /// Orders, and waits for the next stop.
    pub fn next(&self, stop: &Stop, order: Order) -> Option<Stop> {
        self.order(stop, order);
        self.stop()
    }

    /// Submits what was drawn.
    pub fn submit(&mut self) -> Frame {
        self.scene.submit()
    }

    /// Waits for the end of a frame in which nothing stops any more.
    pub fn end(&self, frame: Frame) {
        assert!(self.stop().is_none(), "{:?}", self.stop());
        frame.wait(FRAME).expect("the frame ends");
        frame.release();
    }

    /// Runs the frame with nobody in the way.
    pub fn undisturbed(&mut self) -> Vec<u32> {
        self.scene.run();
        self.take()
    }

    /// The picture; the target is black again.
    pub fn take(&self) -> Vec<u32> {
        let words = self.target.words();
        self.target.fill(&[0; 4]);
        words
    }

    /// Ends the test with the device idle and nothing leaked.
    pub fn finish(self) {
        self.leave().finish();
    }

    /// The same for tests that had messages refused.
    pub fn finish_after_fault(self) {
        self.leave().finish_after_fault();
    }

    fn leave(self) -> Scene {
        self.write(RegId::Instpm, 1 << 20);
        drop(self.scene.rig.device.take_error_state());
        drop((self.target, self.paper));
        self.scene
    }
}

/// A triangle of one pixel shader thread: subspans (0, 0) and (2, 0) with four pixels in them.
pub fn tiny(bench: &mut Bench, kernel: Vec<u32>) -> Draw {
    let mut draw = Draw::flat(bench.target.state());
    draw.wm_kernel = kernel;
    bench.scene.vertices(&mut draw, &corner(0.0, 0.0));
    draw
}

/// The three vertices of such a triangle at a place.
pub fn corner(x: f32, y: f32) -> [[f32; 8]; 3] {
    [[0.0, 0.0], [4.0, 0.0], [0.0, 2.0]]
        .map(|[dx, dy]| [x + dx, y + dy, 0.5, 1.0, 0.2, 0.4, 0.6, 1.0])
}
