//! What i915 keeps of an open file: its contexts.
//!
//! i915 `i915_gem_context.c`.
use alloc::sync::Arc;

use kernel::error::{Result, code::EINVAL, code::ENOENT};
use kernel::sync::SpinLock;

use crate::core::client::Client;
use crate::core::file::File;
use crate::core::handles::Handles;
use crate::intel::context::{Context, Parameters};

/// Most contexts beside the default one. Linux has as many as there is kernel memory; Mesa has a handful.
const CONTEXTS: u32 = 1 << 14;

/// The contexts of a file.
pub(crate) struct Contexts {
    numbered: SpinLock<Handles<Arc<Context>, CONTEXTS>>,
    default: Arc<Context>,
}

impl Contexts {
    /// Those of a new file: the default one alone.
    pub(crate) fn new(client: &Arc<Client>) -> Self {
        let default = Arc::new(Context::new(client, Parameters::default()));
        default.finalize();
        Contexts {
            numbered: SpinLock::new(Handles::default()),
            default,
        }
    }
}

impl File {
    fn contexts(&self) -> Result<&Contexts> {
        self.part().ok_or(EINVAL)
    }

    /// Adds a context.
    pub(crate) fn add_context(&self, parameters: Parameters) -> Result<u32> {
        let context = Arc::new(Context::new(self.client(), parameters));
        self.contexts()?.numbered.lock().insert(context)
    }

    /// The context of a number, 0 for the default one, as it is; `ENOENT` for a number without a context.
    pub(crate) fn peek_context(&self, id: u32) -> Result<Arc<Context>> {
        if id == 0 {
            return Ok(Arc::clone(&self.contexts()?.default));
        }
        let contexts = self.contexts()?.numbered.lock();
        contexts.get(id).map(Arc::clone).ok_or(ENOENT)
    }

    /// The same for use, which makes its engine map final (i915_gem_context_lookup).
    pub(crate) fn context(&self, id: u32) -> Result<Arc<Context>> {
        let context = self.peek_context(id)?;
        context.finalize();
        Ok(context)
    }

    /// Removes a context; `ENOENT` for a number without a context, and for the default one.
    pub(crate) fn remove_context(&self, id: u32) -> Result {
        let removed = self.contexts()?.numbered.lock().remove(id);
        removed.map(drop).ok_or(ENOENT)
    }
}
