//! From a checked and placed submission to a request in the ring.
//!
//! i915 `i915_gem_execbuffer.c` (`i915_gem_do_execbuffer`). Not modelled: requests that wait for other engines behind the
//! caller's back: the caller waits.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::error::{Result, code::EFAULT, code::EINVAL, code::ENOSPC};

use super::busy::{Step, Stop};
use super::parse::{self, Submission};
use super::{copy, pin, reloc};
use crate::core::fence::Fence;
use crate::core::gem::Pin;
use crate::core::program::Program;
use crate::core::program::Wanted;
use crate::core::task::{Opening, Shared};
use crate::core::turn::Queue;
use crate::core::wait::{Patience, wait_fence, wait_until};
use crate::intel::call::Call;
use crate::intel::debug::contexts::Which;
use crate::intel::engine::Engine;
use crate::intel::observe::{Placed, Queued};
use crate::intel::prologue::Prologue;
use crate::intel::timeline::Uses;
use crate::intel::uapi::exec as uapi;

/// Byte offset of `offset` in an object of the list.
const OFFSET: u64 = 24;

/// EXECBUFFER2.
pub(crate) fn user(call: &Call<'_>, arg: &mut uapi::Execbuffer2) -> Result {
    let mut submission = parse::parse(call, arg)?;
    // Read whether or not they will be needed, which shows under the lock.
    let relocations = reloc::read(call, &submission);
    if let Some(observer) = call.device.observer() {
        observer.arrives(&mut submission.entries.iter().map(|entry| &entry.object));
    }
    let (outcome, news) = take_turn(call, &mut submission, &relocations)?;
    reloc::tell(call, &submission, &news);
    write_back(call, arg, &submission);
    let fence = outcome?;
    call.file
        .submitted(call.device.uncore().clock().now(), &fence);
    parse::signal(submission.fences, &fence);
    if arg.flags & uapi::FENCE_OUT != 0 {
        let fd = call
            .task
            .fds()
            .install(Shared::Fence(fence), Opening::default())?;
        arg.rsvd2 = arg.rsvd2 & 0xffff_ffff | u64::from(fd as u32) << 32;
    }
    Ok(())
}

/// Most times that a submission gives way because objects in its place are in use on another engine again.
const MOST_TRIES: usize = 64;

/// What has become of a submission, and the addresses that user space did not know.
type Outcome = (Result<Arc<Fence>>, Vec<reloc::News>);

/// Waits until the caller may queue one more request, in the order of those that wait, and until what the request has to wait
/// for on other engines has ended: this family's engines cannot wait for one another (i915 waits in software, too:
/// `__i915_request_await_execution` without semaphores). Then queues it.
fn take_turn(
    call: &Call<'_>,
    submission: &mut Submission,
    relocations: &Result<reloc::Lists>,
) -> Result<Outcome> {
    let (device, program) = (call.device, call.program());
    let timeline = engine(call, submission)?.timeline();
    let context = timeline.context();
    let queue = Queue {
        timeline: &**timeline,
        user: device.user(),
        clock: device.uncore().clock(),
    };
    let mut tries = 0;
    // Until it is queued.
    let mut claims = None;
    loop {
        if !is_ready(call, &program, submission, context) {
            // Outside the line: those behind do not wait for other engines with it.
            let _waits = call.waits(Wanted::Beside(context));
            wait_until(device, call.task, None, || {
                submission.has_waited(context) || program.is_banned()
            })?;
            if claims.is_none() && device.engines().len() > 1 {
                claims = Some(submission.claim(call, context)?);
            }
            wait_until(device, call.task, None, || {
                is_ready(call, &program, submission, context)
            })?;
        }
        let after = {
            let _waits = call.waits(Wanted::Of(context));
            let turn = queue.enter(program.clone());
            turn.wait(device, call.task)?;
            in_turn(call, &program, submission, relocations)?
        };
        match after {
            After::Queued(outcome) => return Ok(outcome),
            After::Again => {}
            After::Wait(Stop::Evicts(..)) if tries >= MOST_TRIES => return Err(ENOSPC),
            After::Wait(Stop::Evicts(fence, object)) => {
                tries += 1;
                if device.engines().len() > 1 {
                    let claims = match &mut claims {
                        Some(claims) => claims,
                        none => none.insert(submission.claim(call, context)?),
                    };
                    claims.add(object, context)?;
                }
                wait_fence(call, &fence, None)?;
            }
            After::Wait(Stop::Relocates(fence)) => wait_fence(call, &fence, None)?,
            After::Wait(Stop::Error(error)) => return Err(error),
        }
    }
}

/// Whether nothing on other engines has to end before the submission's request begins.
fn is_ready(call: &Call<'_>, program: &Program, submission: &Submission, context: u64) -> bool {
    let beside = call.device.engines().len() > 1;
    program.is_banned()
        || submission.has_waited(context) && (!beside || submission.is_ready(context))
}

/// What a turn has brought.
enum After {
    Queued(Outcome),
    /// The submission has to wait for another engine first: an object of it has gone there meanwhile.
    Again,
    /// The same with an object that is in its way, or an error.
    Wait(Stop),
}

/// Places and queues a submission in its turn. It waits for its own engine here: those behind it in the line could only
/// queue behind what it waits for, and since it has the turn they do not use the objects again.
fn in_turn(
    call: &Call<'_>,
    program: &Program,
    submission: &mut Submission,
    relocations: &Result<reloc::Lists>,
) -> Result<After> {
    let (device, engine) = (call.device, engine(call, submission)?);
    let (clock, context) = (device.uncore().clock(), engine.timeline().context());
    let account = program.account();
    // Nothing of such a program is queued: it is told so without room.
    let context_of = Arc::clone(&submission.context);
    let has_room = || engine.has_room() || account.is_banned() || context_of.is_banned();
    loop {
        wait_until(device, call.task, None, has_room)?;
        let stop = {
            let _lock = device.user().exec.lock(clock);
            if !is_ready(call, program, submission, context) {
                return Ok(After::Again);
            }
            account.note_queued(clock.outside());
            // What user space believes of the addresses must stay as it is when relocations are not done.
            match place(call, submission, relocations) {
                Ok(news) => {
                    let fence = submit(call, submission);
                    // The request keeps its objects where they are (i915 `eb_release_vmas`). Pins would hinder others for
                    // as long as the caller's memory takes to answer what is written there next.
                    submission.let_go();
                    return Ok(After::Queued((fence, news)));
                }
                Err(stop) => {
                    submission.let_go();
                    stop
                }
            }
        };
        match stop {
            Stop::Evicts(fence, _) | Stop::Relocates(fence) if fence.is_before(context) => {
                wait_fence(call, &fence, None)?;
            }
            stop => return Ok(After::Wait(stop)),
        }
    }
}

/// The engine of a submission.
fn engine<'a>(call: &Call<'a>, submission: &Submission) -> Result<&'a Engine> {
    call.device.engines().get(submission.engine).ok_or(EINVAL)
}

/// Addresses and relocations, and what the batch may do with them.
fn place(
    call: &Call<'_>,
    submission: &mut Submission,
    relocations: &Result<reloc::Lists>,
) -> Step<Vec<reloc::News>> {
    pin::pin(call, submission)?;
    let mut news = Vec::new();
    if submission.relocate || submission.entries.iter().any(|entry| entry.moved) {
        let lists = relocations.as_ref().map_err(|error| *error)?;
        news = reloc::relocate(call, submission, lists)?;
    }
    copy::look(call, submission)?;
    Ok(news)
}

/// Queues the batch and marks all objects as used by it (eb_move_to_gpu).
fn submit(call: &Call<'_>, submission: &mut Submission) -> Result<Arc<Fence>> {
    let checked = submission.checked.take().transpose()?;
    let submission = &*submission;
    let engine = engine(call, submission)?;
    if submission.resets_offsets && engine.info().emit.reset_offsets.is_none() {
        // They are registers of generation 7 (i915 `i915_reset_gen7_sol_offsets`).
        return Err(EINVAL);
    }
    let batch = submission.entries.get(submission.batch).ok_or(EFAULT)?;
    let address = batch.pin.as_ref().ok_or(EFAULT)?.address();
    let objects = submission.entries.iter();
    let wanted = |entry: &&parse::Entry| entry.exec.flags & uapi::OBJECT_CAPTURE != 0;
    let mut uses = Uses {
        objects: objects.clone().map(|entry| entry.object.clone()).collect(),
        capture: objects
            .clone()
            .filter(wanted)
            .map(|entry| entry.object.clone())
            .collect::<Vec<_>>(),
        context: Some(Arc::clone(&submission.context)),
        account: Some(call.program().account()),
        image: submission.image.clone(),
        prologue: Prologue::default(),
        copy: None,
        original: None,
    };
    let observer = call.device.observer();
    if let Some(observer) = &observer {
        show(submission, |queued| observer.before(queued));
    }
    let mut start = address.wrapping_add(submission.batch_start);
    let hook = call.device.debug_hook();
    let context = Which::of(uses.image.as_deref());
    // Threads, and so the debugger's routine, are the render engine's.
    if engine.info().has_images {
        uses.prologue = hook.prepare(call.device, &mut uses.objects, context, start)?;
    }
    uses.prologue.trusted = submission.privileged;
    uses.prologue.resets_offsets = submission.resets_offsets;
    if let Some(checked) = &checked {
        start = checked.run(&mut uses);
    }
    let patience = Patience::of(call.task, None);
    let fence = super::queue((call.device, engine), &patience, &uses, start)?;
    if let Some(checked) = &checked {
        checked.queued(call.device, &fence);
    }
    for entry in objects {
        let write = entry.exec.flags & uapi::OBJECT_WRITE != 0;
        entry.object.state(|state| state.mark_active(&fence, write));
        if write {
            entry.object.mark_rendered();
        }
    }
    if let Some(observer) = &observer {
        show(submission, |queued| observer.after(queued));
    }
    Ok(fence)
}

/// Shows a submission to somebody.
fn show(submission: &Submission, look: impl FnOnce(&Queued<'_>)) {
    let objects: Vec<_> = submission
        .entries
        .iter()
        .map(|entry| Placed {
            object: &entry.object,
            address: entry.pin.as_ref().map_or(0, Pin::address),
            write: entry.exec.flags & uapi::OBJECT_WRITE != 0,
        })
        .collect();
    look(&Queued {
        objects: &objects,
        batch: submission.batch,
        start: submission.batch_start,
        len: submission.batch_len,
    });
}

/// Tells user space where objects have gone. Errors are too late to matter: the batch runs.
fn write_back(call: &Call<'_>, arg: &uapi::Execbuffer2, submission: &Submission) {
    let count = u64::from(arg.buffer_count);
    let Ok(list) = call.array::<uapi::Object>(arg.buffers_ptr, count) else {
        return;
    };
    for (entry, index) in submission.entries.iter().zip(0u64..) {
        let at = index * size_of::<uapi::Object>() as u64 + OFFSET;
        if entry.moved && list.write(at, &entry.exec.offset).is_err() {
            return;
        }
    }
}
