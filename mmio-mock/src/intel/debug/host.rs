//! A debugger on the host: where threads are to stop, and which one has.
//!
//! The model's own instrument, beside the registers of chapter 3 and unseen by guests. A thread stops
//! between two instructions, and the whole device with it, until the debugger lets it go on.

use crate::intel::status::Unit;

/// What a thread works on, as its fixed function says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// One or two vertices, by index in the vertex buffers.
    Vertices([Option<u32>; 2]),
    /// The setup of an object: how many SF has had before it.
    Object(u64),
    /// Pixels of that object.
    Pixels(u64),
    /// A thread of a thread group.
    Group {
        /// The group, in X, Y and Z.
        group: [u32; 3],
        /// Which of its threads, from 0.
        thread: u32,
        /// Channels of a thread, each of which is an invocation: 8, 16 or 32.
        channels: u32,
    },
    /// A patch, for HS.
    Patch {
        /// Its number in the draw's instance.
        patch: u32,
        /// Which of its threads, from 0.
        thread: u8,
    },
    /// One or two points of a patch, for DS.
    Points {
        /// Number of the patch in the draw's instance.
        patch: u32,
        /// Numbers of the points in the patch.
        points: [Option<u16>; 2],
    },
    /// Objects of a geometry shader, or instances of one: what the halves of the thread have.
    Geometry {
        /// Numbers of the objects in their draw.
        objects: [u32; 2],
        /// Their instances.
        instances: [Option<u8>; 2],
    },
    /// Other objects of GS and clipper, media objects.
    #[default]
    Other,
}

impl Subject {
    /// Whether it is the patch, point or object of a geometry shader that a rule names.
    fn is_of(self, rule: Rule) -> bool {
        match (rule, self) {
            (
                Rule::Invocation {
                    group: wanted,
                    invocation,
                },
                Subject::Group {
                    group,
                    thread,
                    channels,
                },
            ) => group == wanted && invocation.checked_div(channels) == Some(thread),
            (Rule::Patch(wanted), Subject::Patch { patch, .. } | Subject::Points { patch, .. }) => {
                patch == wanted
            }
            (
                Rule::Point {
                    patch: wanted,
                    point,
                },
                Subject::Points { patch, points },
            ) => patch == wanted && points.contains(&Some(point)),
            (
                Rule::Geometry {
                    object,
                    instance: one,
                },
                Subject::Geometry { objects, instances },
            ) => {
                let mut halves = objects.iter().zip(instances);
                halves.any(|(other, instance)| {
                    *other == object && instance.is_some_and(|n| one.is_none_or(|one| one == n))
                })
            }
            _ => false,
        }
    }
}

/// Names a thread for as long as the device is on: the same run has the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadKey {
    /// Whose thread.
    pub unit: Unit,
    /// How many the unit has started before it.
    pub ordinal: u64,
}

/// Where a thread is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Before the instruction at a graphics address.
    Address(u32),
    /// Before an instruction with this opcode, bits 6:0.
    Opcode(u32),
    /// Before a send that ends the thread.
    EndOfThread,
    /// Before the first instruction of a unit's threads.
    Dispatch(Unit),
    /// Before the first instruction of a thread for the 2x2 pixels that hold this one.
    Subspan {
        /// Column.
        x: u16,
        /// Row.
        y: u16,
    },
    /// Before the first instruction of a thread that shades the vertex with this index.
    Vertex(u32),
    /// Before the first instruction of a thread for the object that SF has counted so, from 0: its setup and its pixels.
    Object(u64),
    /// Before the first instruction of the threads of a thread group, or of one of them.
    Group {
        /// The group, in X, Y and Z.
        group: [u32; 3],
        /// Which of its threads, from 0.
        thread: Option<u32>,
    },
    /// Before the first instruction of the thread of a group that has an invocation.
    Invocation {
        /// The group, in X, Y and Z.
        group: [u32; 3],
        /// Number of the invocation in it: invocations fill the channels of one thread after another.
        invocation: u32,
    },
    /// Before the first instruction of the threads of HS and DS for patches of this number in the draw's instance.
    Patch(u32),
    /// Before the first instruction of the thread of DS for a point of such a patch.
    Point {
        /// Number of the patch.
        patch: u32,
        /// Number of the point in it.
        point: u16,
    },
    /// Before the first instruction of the threads of a geometry shader for objects of this number in their draw, or for one
    /// instance of them.
    Geometry {
        /// Number of the object.
        object: u32,
        /// Its instance.
        instance: Option<u8>,
    },
    /// Before the instruction of a thread that has so many before it.
    Instruction {
        /// Which thread.
        key: ThreadKey,
        /// Instructions it has executed.
        count: u64,
    },
    /// After something has changed these bytes: an instruction, or a step of another unit.
    Memory {
        /// First byte, a graphics address.
        addr: u32,
        /// How many, at most [`WATCHED`].
        bytes: u32,
    },
    /// After an instruction of a thread has changed a dword of its registers.
    Register {
        /// Which thread.
        key: ThreadKey,
        /// General register.
        register: u8,
        /// Dword in it.
        dword: u8,
    },
}

/// Most bytes that one rule watches.
pub const WATCHED: u32 = 4096;

/// Number of a rule; it is not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleId(pub u32);

/// Why something has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A rule says so.
    Rule(RuleId),
    /// The thread has executed as many instructions as it was let go for.
    Stepped,
    /// The thread has ended, which was waited for.
    Ended,
    /// The debugger has asked for it, wherever things stood.
    Asked,
}

/// What has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The thread and its EU and slot; none when a unit without threads has met a watch.
    pub thread: Option<(ThreadKey, u8, u8)>,
    /// Why.
    pub why: Why,
}

/// How a stopped thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// To the next rule.
    Continue,
    /// For so many instructions, or to its end or a rule before.
    Step(u64),
    /// To its end, or a rule before.
    Finish,
}

/// A watched piece of memory, and what was in it.
#[derive(Clone, Debug)]
struct Watched {
    id: RuleId,
    addr: u32,
    length: usize,
    /// As of the last look.
    bytes: Option<Vec<u8>>,
}

/// The debugger's side of a device.
#[derive(Clone, Debug, Default)]
pub struct Host {
    rules: Vec<(RuleId, Rule)>,
    next: u32,
    stopped: Option<Stopped>,
    /// The thread that was let go, and how.
    going: Option<(ThreadKey, Go)>,
    /// It must get past the instruction it stands at.
    pass: Option<ThreadKey>,
    watched: Vec<Watched>,
    registers: Vec<(RuleId, u32)>,
}

/// What the run of one thread has to watch for.
#[derive(Clone, Debug, Default)]
pub struct Orders {
    /// Addresses, opcodes (with bit 31: ends of threads) and the rules they belong to.
    addresses: Vec<(u32, RuleId)>,
    opcodes: Vec<(u32, RuleId)>,
    ends: Option<RuleId>,
    /// Instructions until a stop.
    left: Option<(u64, Why)>,
    pass: bool,
    /// Registers or memory must be looked at after each instruction.
    pub single: bool,
    /// The stop that was met.
    pub hit: Option<Why>,
}

impl Orders {
    /// Whether the thread stops before an instruction.
    pub fn before(&mut self, address: u32, opcode: u32, end: bool) -> bool {
        if std::mem::take(&mut self.pass) {
            return false;
        }
        let at = |list: &[(u32, RuleId)], value| {
            let found = list.iter().find(|(wanted, _)| *wanted == value);
            found.map(|(_, id)| Why::Rule(*id))
        };
        self.hit = at(&self.addresses, address)
            .or_else(|| at(&self.opcodes, opcode))
            .or(self.ends.filter(|_| end).map(Why::Rule))
            .or(self.left.filter(|(left, _)| *left == 0).map(|(_, why)| why));
        self.hit.is_some()
    }

    /// An instruction was executed.
    pub fn after(&mut self) {
        if let Some((left, _)) = &mut self.left {
            *left = left.saturating_sub(1);
        }
    }
}

impl Host {
    /// Adds a rule.
    pub fn add(&mut self, rule: Rule) -> RuleId {
        let id = RuleId(self.next);
        self.next = self.next.wrapping_add(1);
        if let Rule::Memory { addr, bytes } = rule {
            self.watched.push(Watched {
                id,
                addr,
                length: bytes.min(WATCHED) as usize,
                bytes: None,
            });
        }
        self.rules.push((id, rule));
        id
    }

    /// Takes a rule away; `false` when there is none of this number.
    pub fn remove(&mut self, id: RuleId) -> bool {
        let before = self.rules.len();
        self.rules.retain(|(other, _)| *other != id);
        self.watched.retain(|watched| watched.id != id);
        self.registers.retain(|(other, _)| *other != id);
        self.rules.len() != before
    }

    /// The rules, oldest first.
    pub fn rules(&self) -> &[(RuleId, Rule)] {
        &self.rules
    }

    /// What has stopped.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// Lets the device go on. Without a stopped thread every way of going on is [`Go::Continue`].
    pub fn go(&mut self, how: Go) {
        let key = self
            .stopped
            .take()
            .filter(|stopped| stopped.why != Why::Ended)
            .and_then(|stopped| stopped.thread)
            .map(|(key, ..)| key);
        self.pass = key;
        self.going = key.filter(|_| how != Go::Continue).map(|key| (key, how));
    }

    /// Forgets what has stopped, as threads that a reset ends do.
    pub fn forget(&mut self) {
        self.stopped = None;
        self.going = None;
        self.pass = None;
    }

    /// Something has stopped.
    pub fn stop(&mut self, thread: Option<(ThreadKey, u8, u8)>, why: Why) {
        self.stopped = Some(Stopped { thread, why });
        self.going = None;
    }

    /// The rule that stops a thread before its first instruction.
    pub fn at_dispatch(
        &self,
        unit: Unit,
        subject: Subject,
        subspans: impl Iterator<Item = (u16, u16)>,
    ) -> Option<RuleId> {
        let at: Vec<(u16, u16)> = subspans.collect();
        let holds = |rule: &Rule| match *rule {
            Rule::Dispatch(wanted) => wanted == unit,
            Rule::Subspan { x, y } => at.contains(&(x & !1, y & !1)),
            Rule::Vertex(index) => {
                matches!(subject, Subject::Vertices(both) if both.contains(&Some(index)))
            }
            Rule::Object(ordinal) => {
                subject == Subject::Object(ordinal) || subject == Subject::Pixels(ordinal)
            }
            Rule::Group {
                group: wanted,
                thread: one,
            } => {
                let is_one = |thread| one.is_none_or(|one| one == thread);
                matches!(subject, Subject::Group { group, thread, .. } if group == wanted && is_one(thread))
            }
            rule => subject.is_of(rule),
        };
        let found = self.rules.iter().find(|(_, rule)| holds(rule));
        found.map(|(id, _)| *id)
    }

    /// What a thread that is about to run has to watch for; `executed` are its instructions so far, `first` the rule
    /// that stops it before the first, `again` says that its instruction was begun before.
    pub fn orders(
        &mut self,
        key: ThreadKey,
        executed: u64,
        first: Option<RuleId>,
        again: bool,
    ) -> Orders {
        let mut orders = Orders {
            single: !self.watched.is_empty(),
            ..Orders::default()
        };
        for &(id, rule) in &self.rules {
            match rule {
                Rule::Address(address) => orders.addresses.push((address & !15, id)),
                Rule::Opcode(opcode) => orders.opcodes.push((opcode, id)),
                Rule::EndOfThread => orders.ends = Some(id),
                Rule::Instruction { key: wanted, count } if wanted == key && count >= executed => {
                    orders.until(count - executed, Why::Rule(id));
                }
                Rule::Register { key: wanted, .. } if wanted == key => orders.single = true,
                _ => {}
            }
        }
        if let Some(id) = first {
            orders.until(0, Why::Rule(id));
        }
        match self.going {
            Some((going, Go::Step(count))) if going == key => orders.until(count, Why::Stepped),
            _ => {}
        }
        orders.pass = again || self.pass == Some(key);
        self.pass = self.pass.filter(|pass| *pass != key);
        orders
    }

    /// A thread has run for `executed` instructions since it got its orders.
    pub fn ran(&mut self, key: ThreadKey, executed: u64) {
        if let Some((going, Go::Step(count))) = &mut self.going
            && *going == key
        {
            *count = count.saturating_sub(executed);
        }
    }

    /// Whether the end of a thread is waited for.
    pub fn awaits_end(&self, key: ThreadKey) -> bool {
        self.going.is_some_and(|(going, _)| going == key)
    }

    /// Whether a rule watches memory.
    pub fn watches_memory(&self) -> bool {
        !self.watched.is_empty()
    }

    /// Looks at memory that is watched since a moment ago, before anything can change it.
    pub fn look_first(&mut self, memory: &mut mem::Memory) {
        let new = |watched: &Watched| watched.bytes.is_none();
        if self.watched.iter().any(new) {
            // The changes of the others are for the next look.
            let seen: Vec<_> = self.watched.iter().map(|w| w.bytes.clone()).collect();
            self.look(memory);
            for (watched, seen) in self.watched.iter_mut().zip(seen) {
                watched.bytes = seen.or_else(|| watched.bytes.take());
            }
        }
    }

    /// Looks at the watched memory: the rule whose bytes have changed since the last look.
    pub fn look(&mut self, memory: &mut mem::Memory) -> Option<RuleId> {
        let mut found = None;
        for watched in &mut self.watched {
            let mut now = vec![0; watched.length];
            // What is not mapped reads as zero, and changes when it is.
            let _ = memory.read_bytes(mem::GpuAddr::from(watched.addr), &mut now);
            match &mut watched.bytes {
                Some(old) if *old != now => {
                    *old = now;
                    found = found.or(Some(watched.id));
                }
                Some(_) => {}
                none => *none = Some(now),
            }
        }
        found
    }

    /// Looks at the watched registers of a thread: the rule whose dword has changed since the last look.
    pub fn look_at_registers(&mut self, key: ThreadKey, grf: &[[u32; 8]]) -> Option<RuleId> {
        let mut found = None;
        for &(id, rule) in &self.rules {
            let Rule::Register {
                key: wanted,
                register,
                dword,
            } = rule
            else {
                continue;
            };
            if wanted != key {
                continue;
            }
            let row = grf.get(usize::from(register));
            let now = row.and_then(|row| row.get(usize::from(dword)));
            let now = now.copied().unwrap_or(0);
            match self.registers.iter_mut().find(|(other, _)| *other == id) {
                Some((_, old)) if *old != now => {
                    *old = now;
                    found = found.or(Some(id));
                }
                Some(_) => {}
                None => self.registers.push((id, now)),
            }
        }
        found
    }
}

impl Orders {
    /// The nearer of two counts.
    fn until(&mut self, count: u64, why: Why) {
        if self.left.is_none_or(|(left, _)| count < left) {
            self.left = Some((count, why));
        }
    }
}
