//! What executes kernels: the interpreter, or machine code that does the same.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use super::Td;
use super::wave::Ran;

/// An engine. Results, counts and time of the device are the same with each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Every instruction by the interpreter.
    Interpreter,
    /// Stretches of kernels that are run often as machine code, where the host has a compiler (`jit`).
    Compiled,
    /// Each of them by both, which are compared; the interpreter's result counts.
    Check,
}

impl Engine {
    /// All of them.
    pub const ALL: [Engine; 3] = [Engine::Interpreter, Engine::Compiled, Engine::Check];

    /// Its name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Interpreter => "interp",
            Engine::Compiled => "jit",
            Engine::Check => "check",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(name: &str) -> Result<Engine, String> {
        let mut all = Engine::ALL.into_iter();
        all.find(|engine| engine.name() == name).ok_or_else(|| {
            let names = Engine::ALL.map(Engine::name);
            format!(
                "no engine is named {name:?}; there are {}",
                names.join(", ")
            )
        })
    }
}

/// What new devices have.
static CHOSEN: OnceLock<Engine> = OnceLock::new();

/// Chooses the engine of devices that are made from now on. The first choice stands: `false` for a later one.
pub fn choose(engine: Engine) -> bool {
    CHOSEN.set(engine).is_ok()
}

/// What was chosen, or machine code.
pub(super) fn chosen() -> Engine {
    CHOSEN.get().copied().unwrap_or(Engine::Compiled)
}

/// What an engine has done for a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The engine; the interpreter where the host has no compiler.
    pub engine: Engine,
    /// Instructions that machine code did.
    pub compiled: u64,
    /// Kernels that were compiled.
    pub kernels: u64,
    /// Pixel threads by how they ran, since power-on.
    pub ran: Ran,
    /// Where machine code has first done something else than the interpreter, in `Check`.
    pub difference: Option<String>,
}

impl Td {
    /// Chooses what executes kernels from now on.
    pub fn set_engine(&mut self, engine: Engine) {
        let compiler = match engine {
            Engine::Interpreter => None,
            Engine::Compiled | Engine::Check => jit::compiler(),
        };
        self.engine = if compiler.is_some() {
            engine
        } else {
            Engine::Interpreter
        };
        self.cache.set_compiler(compiler, engine == Engine::Check);
        self.invalidate();
    }

    /// What it has done since it was chosen.
    pub fn done_by_engine(&self) -> Done {
        Done {
            engine: self.engine,
            compiled: self.cache.compiled(),
            kernels: self.cache.compiled_kernels(),
            ran: self.ran(),
            difference: self.cache.difference(),
        }
    }
}
