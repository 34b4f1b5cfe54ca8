//! A unit of dispatch as a value: several launches over a list of positional buffer arguments.

mod check;
mod tiling;

use serde::{Deserialize, Serialize};

pub use check::ProgramError;
pub(crate) use check::same_memory;
pub use tiling::TilingNote;

use crate::{Access, DType, Op, Rounding, Tiling};

/// What one ELF holds and one dispatch runs: launches, in order, over positional buffer arguments.
///
/// The emulated NPU interprets the launches; a hardware device loads the ELF of the same name and
/// checks its arguments against these.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Name of the ELF, and of the dispatch in a profile.
    pub name: String,
    /// Buffer arguments, in the order in which the device takes them.
    pub args: Vec<Arg>,
    /// Launches, in the order in which they run.
    pub launches: Vec<Launch>,
}

/// One buffer argument of a [`Program`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Arg {
    /// Name, unique within the program.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Extents, outermost first. A launch's operand may add or leave out leading ones of extent 1:
    /// a buffer is flat memory, and a single row is a vector.
    pub shape: Vec<usize>,
    /// Who writes it, and when.
    pub role: Role,
}

/// Who writes a buffer, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Written by the host before every run.
    Input,
    /// Written by the host once per buffer set (a layer's weights, a `RoPE` table).
    Static,
    /// Written by a launch and read by later ones; never written by the host.
    Intermediate,
    /// Written by a launch and read back by the host.
    Output,
}

/// Position of an argument within [`Program::args`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
pub struct ArgIndex(pub usize);

/// One kernel of a program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Launch {
    /// What it computes.
    pub op: Op,
    /// The program's arguments for [`Op::operands`], in that order.
    pub args: Vec<ArgIndex>,
    /// The narrowing mode of the core that runs it:
    /// [`Toolchain::rounding`](crate::Toolchain::rounding), unless a test injects a fault.
    pub rounding: Rounding,
    /// How it is cut into tiles; `None` leaves that to the build. [`Program::check`] refuses an
    /// illegal one.
    #[serde(default)]
    pub tiling: Option<Tiling>,
}

impl Launch {
    /// A launch of `op` on the program's arguments, its tiling left to the build.
    pub fn new(op: Op, args: impl Into<Vec<ArgIndex>>, rounding: Rounding) -> Self {
        Self { op, args: args.into(), rounding, tiling: None }
    }

    /// The same launch, cut into tiles.
    #[must_use]
    pub fn with_tiling(self, tiling: impl Into<Option<Tiling>>) -> Self {
        Self { tiling: tiling.into(), ..self }
    }
}

impl Program {
    /// A program of one launch: what it reads is input, what it writes is output.
    pub fn single(op: Op, rounding: Rounding) -> Self {
        let args: Vec<Arg> = op
            .operands()
            .into_iter()
            .map(|operand| Arg {
                name: operand.name.to_owned(),
                dtype: operand.dtype,
                shape: operand.shape,
                role: match operand.access {
                    Access::Read => Role::Input,
                    Access::Write => Role::Output,
                },
            })
            .collect();
        let tier = op.tier().map(|tier| format!("_{tier}")).unwrap_or_default();
        Self {
            name: format!("{}_{}{tier}", op.kernel(), op.shape_key()),
            launches: vec![Launch::new(
                op,
                (0..args.len()).map(ArgIndex).collect::<Vec<_>>(),
                rounding,
            )],
            args,
        }
    }

    /// The position of the argument called `name`.
    pub fn arg(&self, name: &str) -> Option<ArgIndex> {
        self.args.iter().position(|arg| arg.name == name).map(ArgIndex)
    }
}

impl Arg {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
