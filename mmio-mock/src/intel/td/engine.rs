//! What executes kernels: the interpreter, loops or machine code; results agree.

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
    /// Stretches of kernels that are run often as loops over their channels, in the widest vectors of the host (`jit::loops`).
    Wave,
    /// The same as machine code, where the host has a compiler (`jit::compiler`).
    Compiled,
    /// Each of them by machine code or loops and by the interpreter, which are compared; the interpreter's result counts.
    Check,
}

impl Engine {
    /// All of them.
    pub const ALL: [Engine; 4] = [
        Engine::Interpreter,
        Engine::Wave,
        Engine::Compiled,
        Engine::Check,
    ];

    /// Its name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Interpreter => "interp",
            Engine::Wave => "wave",
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
    /// The engine; [`Engine::Wave`] where [`Engine::Compiled`] was chosen and the host runs no machine code.
    pub engine: Engine,
    /// Instructions that loops or machine code did.
    pub compiled: u64,
    /// Kernels that were compiled.
    pub kernels: u64,
    /// Pixel threads by how they ran, since power-on.
    pub ran: Ran,
    /// Where loops or machine code have first done something else than the interpreter, in `Check`.
    pub difference: Option<String>,
}

impl Td {
    /// Chooses what executes kernels from now on.
    pub fn set_engine(&mut self, engine: Engine) {
        let code = match engine {
            Engine::Interpreter | Engine::Wave => None,
            Engine::Compiled | Engine::Check => jit::compiler(),
        };
        self.engine = match engine {
            Engine::Compiled if code.is_none() => Engine::Wave,
            engine => engine,
        };
        let compiler = match engine {
            Engine::Interpreter => None,
            _ => code.or_else(|| Some(jit::loops())),
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
