//! One message to a shared function of the model, through an EU's send.
//!
//! PRM: volume 4 4.8 (sampler messages), 5.10.6 (render target write), 13.2 (send descriptor of this family).
//! All bases are 0; state goes to fresh addresses, so that no cache of states stands in the way.

use eu::Grf;
use isa::Verx10;
use mmio_mock::intel::bench::{Step, ThreadBench};
use mmio_mock::intel::shared::ThreadContext;
use mmio_mock::intel::td::KernelState;
use regs::gen40::{ColorCalcState, SamplerState, SurfaceState};

const STATE: u32 = 0x10_0000;
const STATE_BYTES: usize = 0x8_0000;

/// Where surfaces lie.
pub const DATA: u32 = 0x100_0000;

/// An EU that sends one message at a time.
pub struct Sender {
    bench: ThreadBench,
    next: u32,
    table: u32,
    kernel: u32,
    at: u32,
}

impl Default for Sender {
    fn default() -> Self {
        Self::new()
    }
}

impl Sender {
    /// A fresh machine with 4 MiB of surfaces of zeros.
    #[must_use]
    pub fn new() -> Self {
        let mut bench = ThreadBench::new(Verx10::GEN40).expect("a device");
        bench.map(STATE, STATE_BYTES).expect("state");
        bench.map(DATA, 4 << 20).expect("data");
        Sender {
            bench,
            next: STATE,
            table: 0,
            kernel: 0,
            at: 0,
        }
    }

    /// Dwords at a fresh address of 64 bytes alignment.
    pub fn state(&mut self, dwords: &[u32]) -> u32 {
        let at = self.next;
        self.next += (dwords.len() as u32 * 4).next_multiple_of(64);
        assert!(self.next < STATE + STATE_BYTES as u32, "state is full");
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        self.load(at, &bytes);
        at
    }

    /// Binds a surface as number 0.
    pub fn bind(&mut self, surface: &SurfaceState) {
        let at = self.state(surface.dwords());
        self.table = self.state(&[at]);
    }

    /// A sampler; gives its pointer for [`Self::sample`].
    pub fn sampler(&mut self, state: SamplerState) -> u32 {
        let border = self.state(&[0; 4]);
        self.state(state.with_border_color_pointer(border).dwords())
    }

    /// Writes memory.
    pub fn load(&mut self, at: u32, bytes: &[u8]) {
        self.bench.load(at, bytes).expect("memory");
    }

    /// Reads memory.
    pub fn read(&self, at: u32, bytes: &mut [u8]) {
        let memory = self.bench.memory();
        memory
            .read_bytes(mem::GpuAddr::from(at), bytes)
            .expect("memory");
    }

    /// Sends registers to a function; `control` are the low 16 bits of the descriptor.
    pub fn send(&mut self, sfid: u32, control: u32, payload: &[Grf], response: u32) -> Vec<Grf> {
        let desc = sfid << 24 | (payload.len() as u32) << 20 | response << 16 | control;
        if self.kernel != desc {
            let to = if response == 0 { "null" } else { "g30" };
            let text = format!("send(16) 1 {to}<1>UW null<8,8,1>UD {desc:#x} {{ align1 }};\n");
            let kernel = isa::parse::assemble(Verx10::GEN40, "send", &text).expect("kernel");
            // A thread fetches its kernel anew when it starts at another address.
            let at = self.next;
            self.next += 64;
            self.load(at, &kernel.bytes());
            self.kernel = desc;
            self.at = at;
        }
        let state = KernelState {
            ip: self.at,
            grf_count: 128,
            ..KernelState::default()
        };
        let context = ThreadContext {
            binding_table_pointer: self.table,
            ..ThreadContext::default()
        };
        self.bench.start(state, context, 0xffff, &[]);
        let thread = self.bench.thread_mut().expect("a thread");
        thread.mrf_mut()[1..=payload.len()].copy_from_slice(payload);
        let step = self.bench.step();
        assert_eq!(step, Step::Ran, "{:?}", self.bench.faults());
        assert_eq!(self.bench.faults(), [], "a fault");
        let thread = self.bench.thread().expect("a thread");
        thread.grf()[30..30 + response as usize].to_vec()
    }

    fn sixteen(&mut self, control: u32, pointer: u32, parameters: &[[u32; 16]]) -> [[u32; 4]; 16] {
        let mut payload = vec![[0, 0, 0, pointer, 0, 0, 0, 0]];
        for p in parameters {
            payload.extend(p.as_chunks::<8>().0);
        }
        let g = self.send(2, control, &payload, 8);
        std::array::from_fn(|i| std::array::from_fn(|c| g[c * 2 + i / 8][i % 8]))
    }

    /// `ld` of sixteen texels by number; `integer` is the data return format (0 float, 2 UINT, 3 SINT).
    pub fn ld(&mut self, texels: [(u32, u32); 16], integer: u32) -> [[u32; 4]; 16] {
        let (x, y) = (texels.map(|t| t.0), texels.map(|t| t.1));
        self.sixteen(3 << 14 | integer << 12, 0, &[x, y])
    }

    /// `sample` at sixteen places in 0..1.
    pub fn sample(
        &mut self,
        sampler: u32,
        places: [(f32, f32); 16],
        integer: u32,
    ) -> [[u32; 4]; 16] {
        let u = places.map(|p| p.0.to_bits());
        let v = places.map(|p| p.1.to_bits());
        self.sixteen(integer << 12, sampler, &[u, v])
    }

    /// `sample_c` at sixteen places with a reference each.
    pub fn sample_c(
        &mut self,
        sampler: u32,
        places: [(f32, f32); 16],
        references: [f32; 16],
    ) -> [[u32; 4]; 16] {
        let u = places.map(|p| p.0.to_bits());
        let v = places.map(|p| p.1.to_bits());
        let parameters = [u, v, [0; 16], references.map(f32::to_bits)];
        self.sixteen(2 << 14, sampler, &parameters)
    }

    /// Render target write of a square of 4x4 pixels at (`x`, `y`); colours in the order of subspans.
    pub fn render(&mut self, cc: u32, (x, y): (u32, u32), colours: &[[u32; 4]; 16]) {
        let mut payload = vec![[0; 8]; 10];
        payload[0][0] = 0xffff;
        payload[0][1] = cc;
        for s in 0..4 {
            let (x, y) = (x + s % 2 * 2, y + s / 2 * 2);
            payload[1][2 + s as usize] = y << 16 | x;
        }
        for (i, colour) in colours.iter().enumerate() {
            for c in 0..4 {
                // First the channels of pixels 0 to 7, then those of 8 to 15.
                payload[2 + c + i / 8 * 4][i % 8] = colour[c];
            }
        }
        // Type 4, last render target, SIMD16 single source.
        self.send(5, 4 << 12 | 8 << 8, &payload, 0);
    }

    /// COLOR_CALC_STATE at a fresh address, with a viewport behind it.
    pub fn colour_calculator(&mut self, mut state: ColorCalcState) -> u32 {
        let viewport = self.state(&[0, 1f32.to_bits()]);
        state.set_cc_viewport_state_pointer(viewport);
        self.state(state.dwords())
    }
}
