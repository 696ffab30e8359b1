//! Messages of a thread that runs aside: served, or kept for later.
//!
//! PRM: volume 4, 2.6. What such a thread asks for depends on its registers and on memory alone, so that threads may run side
//! by side; what they do happens afterwards, in their order. Any other message lets the thread run again, by the router.

mod ending;

use eu::{Delivery, Grf, Message, Port};
use mem::{GpuAddr, Memory};

use super::context::{ThreadContext, ThreadPixels, sfid};
use super::dataport::buffer::Lost;
use super::dataport::made::{Lit, Making};
use super::dataport::pixels;
use super::dataport::request::{WriteKind, WriteRequest};
use super::message::Request;
use super::{FUNCTIONS, SharedFunctions, binding, math, router, sampler};
use crate::intel::cc::pixel::lanes::Mixed;
use crate::intel::cc::whole::Whole;
pub use ending::{Earlier, Ending, Last};

/// Sampler messages that a wave knows at most: they are looked at one after another.
const SAMPLES: usize = 32;

/// Surfaces past whose ends a thread may read.
const LOST: usize = 2;

/// Writes of a thread before its last one: of eight targets, each in two halves.
const EARLIER: usize = 15;

/// Why a thread cannot run aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cannot {
    /// A message, or an instruction, that needs the machine.
    Message,
    /// It takes much longer than those before it.
    Time,
    /// It comes to an instruction that nobody has run yet, so that it is not decoded.
    New,
    /// It would use a surface that nobody has looked at yet: the address of its state.
    Surface(GpuAddr, Purpose),
}

/// What a thread uses a surface for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The sampler reads it.
    Sample,
    /// The data port reads it, as a buffer.
    Read,
    /// It is a render target.
    Write,
}

/// The surfaces that threads may use, by the addresses of their states.
#[derive(Debug, Default)]
pub struct Admitted([Vec<GpuAddr>; 3]);

impl Admitted {
    /// Those for a purpose.
    #[inline]
    #[must_use]
    pub fn of(&self, purpose: Purpose) -> &[GpuAddr] {
        // PANIC: one for each purpose.
        &self.0[purpose as usize]
    }

    /// One more.
    pub fn add(&mut self, at: GpuAddr, purpose: Purpose) {
        // PANIC: one for each purpose.
        self.0[purpose as usize].push(at);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }

    /// Whether one of them is that of an address.
    #[inline]
    fn ask(&self, at: GpuAddr, purpose: Purpose) -> Result<(), Cannot> {
        if self.of(purpose).contains(&at) {
            Ok(())
        } else {
            Err(Cannot::Surface(at, purpose))
        }
    }
}

/// Numbers of messages that were served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// By function ID, without the last one.
    pub messages: [u64; FUNCTIONS],
    /// Pixels that were sampled.
    pub pixels: u64,
    /// What these have read past the ends of surfaces, by index in the binding table.
    pub lost: [(u8, Lost); LOST],
}

/// Where the pixels of a thread go whose sixteen pixels are all lit.
#[derive(Debug)]
pub struct WholePixels<'a> {
    /// Upper left pixels of its subspans.
    pub origins: &'a [(u16, u16); 4],
    /// The target that they were made ready for: the address of its state, and the slice.
    pub target: Option<(GpuAddr, u32)>,
    /// The pixels as that target has them.
    pub pixels: &'a mut Whole,
}

/// A message by all that the hardware sees of it but the pixels: function, length, descriptor, end of thread.
type Key = (u8, u8, u32, bool);

/// Messages without a header that a wave knows: what serves them is the same for all of its threads.
#[derive(Debug, Default)]
pub struct Known<'s> {
    samples: Vec<(Key, sampler::Ready<'s>)>,
    /// The last kind of write to a target.
    target: Option<KnownTarget<'s>>,
}

/// A kind of write to a target, and what is the same for all threads that are alike but for their pixels.
#[derive(Debug)]
struct KnownTarget<'s> {
    key: Key,
    of: Of,
    at: GpuAddr,
    /// Without it the message is served as it comes.
    ready: Option<pixels::Ready<'s>>,
}

/// Slice and viewport of threads, whether their tests are late, and whether their pixels have an antialias alpha.
type Of = (u16, u8, bool, bool);

fn of(pixels: &ThreadPixels) -> Of {
    let &ThreadPixels {
        array_index,
        viewport,
        late_tests,
        ..
    } = pixels;
    (array_index, viewport, late_tests, pixels.alpha.is_some())
}

impl KnownTarget<'_> {
    /// Whether it is for a message of a thread with these pixels.
    #[inline]
    fn is_for(&self, key: Key, pixels: Option<&ThreadPixels>) -> bool {
        self.key == key && pixels.is_some_and(|pixels| of(pixels) == self.of)
    }
}

/// The way out of the EU of a thread that runs aside.
pub struct Aside<'a, 's> {
    /// Graphics memory.
    pub mem: &'a Memory,
    /// The shared functions.
    pub shared: &'s SharedFunctions,
    /// What the hardware knows of the thread.
    pub ctx: &'s ThreadContext,
    /// Messages that others of the wave have sent.
    pub known: &'a mut Known<'s>,
    /// Surfaces that the thread may use.
    pub admitted: &'a Admitted,
    /// The pixels of the thread, where it may read what its target holds before those in front of it have ended.
    pub early: Option<Lit>,
    /// The thread may write more than once, as no write can meet a fault.
    pub several: bool,
    /// Messages that were served.
    pub served: Served,
    /// The pixels of a thread whose render target writes need no header.
    pub pixels: Option<&'a ThreadPixels>,
    /// The thread is one of a run: nothing but its pixels is wanted.
    pub whole: Option<WholePixels<'a>>,
    /// What has ended the thread.
    pub ending: &'a mut Ending,
    /// Ticks of messages that are still to be charged, that of the last one among them.
    pub owed: u64,
}

impl Aside<'_, '_> {
    /// Serves a message that the wave knows; `None` for any other.
    #[inline]
    fn serve_known(
        &mut self,
        key: Key,
        msg: &Message<'_>,
        response: &mut [Grf],
    ) -> Option<Result<(), Cannot>> {
        let mut samples = self.known.samples.iter();
        if let Some((_, ready)) = samples.find(|(known, _)| *known == key) {
            let pixels = ready.serve(msg, self.mem, response);
            return Some(
                pixels
                    .map(|pixels| self.sampled(msg, pixels))
                    .ok_or(Cannot::Message),
            );
        }
        let known = self.known.target.as_ref()?;
        if !known.is_for(key, self.pixels) || !self.ending.earlier.is_empty() {
            return None;
        }
        let (at, ready) = (&known.at, known.ready.as_ref()?);
        if let Some(whole) = &mut self.whole {
            *whole.pixels = ready.whole(msg, whole.origins, self.early.map(|_| self.mem))?;
            whole.target = Some((*at, ready.slice()));
        } else {
            let mut making = Making {
                early: self.early.map(|lit| (self.mem, lit)),
                mixed: &mut self.ending.mixed,
            };
            let packed = ready.packed(msg, self.pixels?, &mut making)?;
            self.ending.packed = Some((*at, packed));
        }
        self.ending.is_there = true;
        Some(Ok(()))
    }

    fn count(&mut self, msg: &Message<'_>) {
        if let Some(count) = self.served.messages.get_mut(usize::from(msg.sfid)) {
            *count += 1;
        }
    }

    fn sampled(&mut self, msg: &Message<'_>, pixels: u32) {
        self.count(msg);
        self.served.pixels += u64::from(pixels);
    }

    /// Bytes past the end of the surface of an index.
    #[cold]
    fn lose(&mut self, index: u8, more: Lost) -> Result<(), Cannot> {
        let mut places = self.served.lost.iter_mut();
        let fits = |(known, lost): &&mut (u8, Lost)| *known == index || *lost == Lost::default();
        let (known, lost) = places.find(fits).ok_or(Cannot::Message)?;
        *known = index;
        lost.0 = lost.0.saturating_add(more.0);
        Ok(())
    }

    /// The last message of a thread of sixteen lit pixels, whose header has to name the same pixels.
    fn ends_whole(
        &mut self,
        (request, at): (WriteRequest, GpuAddr),
        msg: &Message<'_>,
    ) -> Result<(), Cannot> {
        let whole = self.whole.as_mut().ok_or(Cannot::Message)?;
        let (port, backend) = (&self.shared.dataport, &self.shared.pixel);
        let around = (self.pixels, self.early.map(|_| self.mem));
        let made = port.whole((request, at), msg, self.ctx, backend, around);
        let block = made.filter(|block| block.origins == *whole.origins);
        let block = block.ok_or(Cannot::Message)?;
        *whole.pixels = block.pixels;
        whole.target = Some((at, block.slice));
        self.ending.is_there = true;
        Ok(())
    }

    /// A write of a thread that writes more than once: its pixels are made ready, so that nothing is left that could be refused at its
    /// turn, when others have been written.
    fn one_of_several(
        &mut self,
        (mut request, at): (WriteRequest, GpuAddr),
        msg: &Message<'_>,
    ) -> Result<(), Cannot> {
        let full = self.ending.earlier.len() >= EARLIER;
        if !self.several || self.whole.is_some() || full {
            return Err(Cannot::Message);
        }
        let mut pixels = self.pixels;
        let upper;
        if let WriteKind::Pixels(write) = &mut request.kind
            && write.upper
        {
            let whole = pixels.filter(|pixels| pixels.alpha.is_none());
            upper = whole.ok_or(Cannot::Message)?.upper();
            pixels = Some(&upper);
            write.upper = false;
        }
        let mut mixed = Mixed::default();
        // Its target may be that of another write of the same thread: it is not read before its turn.
        let mut making = Making {
            early: None,
            mixed: &mut mixed,
        };
        let (port, backend) = (&self.shared.dataport, &self.shared.pixel);
        let packed = port.packed((request, at), msg, self.ctx, backend, (pixels, &mut making));
        let packed = packed.ok_or(Cannot::Message)?;
        if msg.eot {
            self.ending.mixed = mixed;
            self.ending.packed = Some(packed);
            self.ending.is_there = true;
        } else {
            self.ending.earlier.push(Earlier { packed, mixed });
            self.count(msg);
        }
        Ok(())
    }

    fn ends(&mut self, key: Key, request: WriteRequest, msg: &Message<'_>) -> Result<(), Cannot> {
        let target = matches!(
            request.kind,
            WriteKind::RenderTarget { .. } | WriteKind::Pixels(_)
        );
        if !target || msg.response_length != 0 {
            return Err(Cannot::Message);
        }
        let at = binding::surface_address(self.mem, self.ctx, request.surface);
        let at = at.map_err(|_| Cannot::Message)?;
        self.admitted.ask(at, Purpose::Write)?;
        if !msg.eot || !self.ending.earlier.is_empty() {
            return self.one_of_several((request, at), msg);
        }
        let (port, backend) = (&self.shared.dataport, &self.shared.pixel);
        let known = self.known.target.as_ref();
        let is_asked = known.is_some_and(|known| known.is_for(key, self.pixels));
        if !is_asked && let Some(kept) = self.pixels {
            self.known.target = Some(KnownTarget {
                key,
                of: of(kept),
                at,
                ready: port.ready((request, at), self.ctx, backend, kept),
            });
        }
        if self.whole.is_some() {
            // Without a header it has just become known.
            if let Some(served) = self.serve_known(key, msg, &mut []) {
                return served;
            }
            return self.ends_whole((request, at), msg);
        }
        let mut making = Making {
            early: self.early.map(|lit| (self.mem, lit)),
            mixed: &mut self.ending.mixed,
        };
        let around = (self.pixels, &mut making);
        let packed = port.packed((request, at), msg, self.ctx, backend, around);
        if packed.is_none() {
            self.ending.message.set(request, msg);
        }
        self.ending.packed = packed;
        self.ending.is_there = true;
        Ok(())
    }
}

impl Port for Aside<'_, '_> {
    type Fault = Cannot;

    fn fetch(&mut self, _ip: u32) -> Result<[u32; 4], Cannot> {
        Err(Cannot::Message)
    }

    fn send(&mut self, msg: &Message<'_>, response: &mut [Grf]) -> Result<Delivery, Cannot> {
        // CAST: fifteen registers at most.
        let key = (msg.sfid, msg.payload.len() as u8, msg.desc, msg.eot);
        if let Some(served) = self.serve_known(key, msg, response) {
            served?;
            self.owed += router::ticks_of(msg);
            return Ok(Delivery::Done);
        }
        if !router::fits(msg) {
            return Err(Cannot::Message);
        }
        let request = self.shared.requests.look(msg.into());
        match request.map_err(|_| Cannot::Message)? {
            Request::Math(request) => {
                let served = math::execute(request, msg, response);
                served.map_err(|_| Cannot::Message)?;
                self.count(msg);
            }
            Request::Sampler(request) if !msg.eot => {
                let ready = self.shared.sampler.ready(&request, msg, self.mem, self.ctx);
                let ready = ready.ok_or(Cannot::Message)?;
                let pixels = ready.serve(msg, self.mem, response);
                self.admitted.ask(ready.surface(), Purpose::Sample)?;
                self.sampled(msg, pixels.ok_or(Cannot::Message)?);
                if !ready.has_header() && self.known.samples.len() < SAMPLES {
                    self.known.samples.push((key, ready));
                }
            }
            Request::Read(request) => {
                let port = &self.shared.dataport;
                let read = port.read_kept(request, msg, response, self.mem, self.ctx);
                let (at, lost) = read.ok_or(Cannot::Message)?;
                self.admitted.ask(at, Purpose::Read)?;
                self.count(msg);
                if lost != Lost::default() {
                    self.lose(request.surface, lost)?;
                }
            }
            Request::Write(request) if msg.sfid == sfid::DATAPORT_WRITE => {
                self.ends(key, request, msg)?;
            }
            _ => return Err(Cannot::Message),
        }
        self.owed += router::ticks_of(msg);
        Ok(Delivery::Done)
    }

    #[inline]
    fn charge(&mut self, most: u64) -> u64 {
        let now = self.owed.min(most);
        self.owed -= now;
        now
    }
}
