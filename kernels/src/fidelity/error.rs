//! Why a fidelity report cannot be made.

use std::{ffi::OsString, io, process::ExitStatus};

use crate::{DeviceError, OpError};

/// A report that cannot be made. None of these says anything about the arithmetic.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FidelityError {
    /// No row to compare.
    #[error("there is no row to compare; widen the filter")]
    NoRows,
    /// A row whose kernel has no published inputs.
    #[error("`{row}` has no published inputs; leave it out")]
    Unpublished {
        /// Name of the row.
        row: String,
    },
    /// A row without a published error.
    #[error("`{row}` has no published mean_rel_l1 to compare with; leave it out")]
    NoFigure {
        /// Name of the row.
        row: String,
    },
    /// Inputs whose digest was never recorded.
    #[error(
        "the inputs `{input}` have no digest in kernels/registry/inputs.json; add the line that \
         `python3 kernels/registry/inputs.py --sha256 {input}` prints"
    )]
    NoDigest {
        /// Name of the inputs.
        input: String,
    },
    /// No Python.
    #[error(
        "`{}`, which draws the published inputs with numpy, cannot be started ({source}); install \
         Python 3 and numpy, or name another Python in NPUGATE_PYTHON",
        python.display()
    )]
    NoPython {
        /// The program.
        python: OsString,
        /// Why not.
        source: io::Error,
    },
    /// Python without numpy.
    #[error(
        "`{}` has no numpy, whose generators drew the published inputs; run `{} -m pip install \
         numpy`, or name another Python in NPUGATE_PYTHON",
        python.display(), python.display()
    )]
    NoNumpy {
        /// The program.
        python: OsString,
    },
    /// Python ended early.
    #[error(
        "Python ended with {status} before it had written all of the inputs `{input}`; see its own \
         message above"
    )]
    CutShort {
        /// Name of the inputs.
        input: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// Python's output could not be read.
    #[error("the inputs `{input}` cannot be read from Python: {source}")]
    Read {
        /// Name of the inputs.
        input: String,
        /// Why not.
        source: io::Error,
    },
    /// Inputs that are not the published ones.
    #[error(
        "operand `{operand}` of the inputs `{input}` has SHA-256 {found} instead of {expected}: \
         this numpy does not draw the same values as the version that drew the published inputs; \
         use numpy {numpy}"
    )]
    Digest {
        /// Name of the inputs.
        input: String,
        /// Name of the operand.
        operand: &'static str,
        /// Digest of what was drawn.
        found: String,
        /// Digest of the published values.
        expected: String,
        /// The numpy that drew those.
        numpy: String,
    },
    /// The emulated NPU refused a row.
    #[error("`{row}`: {source}")]
    Device {
        /// Name of the row.
        row: String,
        /// Why.
        source: Box<DeviceError>,
    },
    /// The reference refused a row.
    #[error("`{row}`: {source}")]
    Op {
        /// Name of the row.
        row: String,
        /// Why.
        source: Box<OpError>,
    },
    /// An output that cannot be compared with its reference.
    #[error(
        "`{row}`: the output does not have as many elements as the reference; report this as a bug"
    )]
    NotComparable {
        /// Name of the row.
        row: String,
    },
}
