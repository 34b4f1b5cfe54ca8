//! Builds a program launch by launch.

use npugate_kernels::{Arg, ArgIndex, DType, Launch, Op, Program, Role, Tiling, Toolchain};

/// A program under construction. Every buffer is bf16.
pub(super) struct Builder {
    program: Program,
    toolchain: Toolchain,
}

impl Builder {
    pub(super) fn new(name: impl Into<String>, toolchain: Toolchain) -> Self {
        let program = Program { name: name.into(), args: Vec::new(), launches: Vec::new() };
        Self { program, toolchain }
    }

    /// Adds an argument that the host writes.
    pub(super) fn arg(&mut self, role: Role, name: &str, shape: impl Into<Vec<usize>>) -> ArgIndex {
        let (name, shape) = (name.to_owned(), shape.into());
        self.program.args.push(Arg { name, dtype: DType::Bf16, shape, role });
        ArgIndex(self.program.args.len() - 1)
    }

    /// Adds a launch and the argument that it writes, which is its last
    /// operand.
    pub(super) fn launch(
        &mut self,
        op: Op,
        reads: &[ArgIndex],
        role: Role,
        name: &str,
        shape: impl Into<Vec<usize>>,
    ) -> ArgIndex {
        let written = self.arg(role, name, shape);
        let args: Vec<_> = reads.iter().copied().chain([written]).collect();
        let rounding = self.toolchain.rounding(&op);
        // If no tiling was measured, one is proposed. There is no proposal for a
        // GEMM with a single row, which is left to the build.
        let launch = Launch::new(op, args, rounding).with_tiling(Tiling::choose(&op));
        self.program.launches.push(launch);
        written
    }

    pub(super) fn finish(self) -> Program {
        self.program
    }
}
