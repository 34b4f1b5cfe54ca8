//! What an emulated NPU can be asked to do differently.

use std::{fmt, str::FromStr};

use crate::{
    datapath::{functions::Functions, vector::VectorUnit},
    op::Kernel,
};

/// How to set up an [`Emulator`](super::Emulator). The default is the hardware's arithmetic on the
/// fastest vector unit of this machine.
#[derive(Clone, Debug, Default)]
pub struct EmulatorOptions {
    /// The functions that the hardware approximates.
    pub functions: Functions,
    /// Launches to run by their f32 reference, narrowed to nearest even, instead: for bisecting.
    pub substitute: Vec<Substitution>,
    /// The vector unit to use; by default [`VectorUnit::detect`].
    pub vector_unit: Option<VectorUnit>,
}

/// Which launches to run by their f32 reference.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Substitution {
    /// Every launch of a kernel: `gemm`.
    Kernel(Kernel),
    /// One launch of a program: `o_ffn:2`.
    Launch {
        /// Program name.
        program: String,
        /// Index of the launch.
        launch: usize,
    },
}

/// Text that does not name a launch.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` does not name a launch; write a kernel (`gemm`) or a program and a launch \
     (`o_ffn:2`)"
)]
pub struct SubstitutionError(pub String);

impl FromStr for Substitution {
    type Err = SubstitutionError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let error = || SubstitutionError(s.to_owned());
        match s.rsplit_once(':') {
            None => s.parse().map(Self::Kernel).map_err(|_| error()),
            Some((program, launch)) => {
                let launch = launch.parse().map_err(|_| error())?;
                Ok(Self::Launch { program: program.to_owned(), launch })
            }
        }
    }
}

impl fmt::Display for Substitution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(kernel) => kernel.fmt(f),
            Self::Launch { program, launch } => write!(f, "{program}:{launch}"),
        }
    }
}
