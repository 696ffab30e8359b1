//! Channel masks and the two mask stacks.
//!
//! PRM: volume 4, 11.3.4.7 to 11.3.4.9 and 14.1.3. The manual's text of these sections is not
//! public in full; the order of pushes follows what compilers of the time rely on.

/// Entries of each mask stack.
pub const STACK_DEPTH: usize = 16;

/// A stack operation ran past either end (PRM 12.4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackError;

/// The four mask registers and the stacks behind IMask and LMask/CMask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masks {
    /// Active mask: the dispatch mask minus halted channels.
    pub amask: u16,
    /// Branch mask of `if`.
    pub imask: u16,
    /// Loop mask: channels that have not left the loop.
    pub lmask: u16,
    /// Continue mask: channels that have not skipped the rest of the iteration.
    pub cmask: u16,
    /// Stack of IMask.
    pub ims: [u16; STACK_DEPTH],
    /// Stack of LMask.
    pub lms: [u16; STACK_DEPTH],
    /// Stack of CMask, in step with `lms`.
    pub cms: [u16; STACK_DEPTH],
    /// Entries on the IMask stack.
    pub imsd: u16,
    /// Entries on the loop stack.
    pub lmsd: u16,
}

impl Default for Masks {
    fn default() -> Masks {
        Masks {
            amask: 0xffff,
            imask: 0xffff,
            lmask: 0xffff,
            cmask: 0xffff,
            ims: [0; STACK_DEPTH],
            lms: [0; STACK_DEPTH],
            cms: [0; STACK_DEPTH],
            imsd: 0,
            lmsd: 0,
        }
    }
}

impl Masks {
    /// The execution mask of all sixteen channels.
    pub const fn emask(&self) -> u16 {
        self.amask & self.imask & self.lmask & self.cmask
    }

    /// Loads the masks at dispatch. The stacks keep what the last thread left in them, as on
    /// 965 and GM965 (PRM 11.3.4.8).
    pub fn dispatch(&mut self, dispatch_mask: u16) {
        self.amask = dispatch_mask;
        self.imask = 0xffff;
        self.lmask = 0xffff;
        self.cmask = 0xffff;
    }

    /// Pushes IMask. Past the top the stack index wraps.
    pub fn push_if(&mut self) -> Result<(), StackError> {
        self.ims[usize::from(self.imsd) % STACK_DEPTH] = self.imask;
        let full = usize::from(self.imsd) >= STACK_DEPTH;
        self.imsd = self.imsd.wrapping_add(1);
        if full { Err(StackError) } else { Ok(()) }
    }

    /// Pops IMask. Below the bottom the mask keeps its value.
    pub fn pop_if(&mut self) -> Result<(), StackError> {
        if self.imsd == 0 {
            return Err(StackError);
        }
        self.imsd -= 1;
        self.imask = self.ims[usize::from(self.imsd) % STACK_DEPTH];
        Ok(())
    }

    /// The entry that the next `pop_if` would load; all ones when there is none.
    pub fn top_if(&self) -> u16 {
        match self.imsd {
            0 => 0xffff,
            n => self.ims[usize::from(n - 1) % STACK_DEPTH],
        }
    }

    /// Pushes LMask and CMask.
    pub fn push_loop(&mut self) -> Result<(), StackError> {
        let i = usize::from(self.lmsd) % STACK_DEPTH;
        self.lms[i] = self.lmask;
        self.cms[i] = self.cmask;
        let full = usize::from(self.lmsd) >= STACK_DEPTH;
        self.lmsd = self.lmsd.wrapping_add(1);
        if full { Err(StackError) } else { Ok(()) }
    }

    /// Pops LMask and CMask. Below the bottom both become all ones.
    pub fn pop_loop(&mut self) -> Result<(), StackError> {
        if self.lmsd == 0 {
            self.lmask = 0xffff;
            self.cmask = 0xffff;
            return Err(StackError);
        }
        self.lmsd -= 1;
        let i = usize::from(self.lmsd) % STACK_DEPTH;
        self.lmask = self.lms[i];
        self.cmask = self.cms[i];
        Ok(())
    }
}
