//! One program for each launch: what a port looks like before anything is
//! fused.

use npugate_kernels::{Arg, ArgIndex, Launch, Program, Role};

/// Splits a program into one for each launch. What a launch writes becomes an
/// output, and what an earlier launch wrote becomes an input, so every
/// intermediate passes through the host under its own name.
///
/// A leaf is named after its program and what it writes: `o_ffn.gate`. A program
/// with a single launch is returned as it is.
pub(super) fn split(program: &Program) -> Vec<Program> {
    if program.launches.len() == 1 {
        return vec![program.clone()];
    }
    program.launches.iter().map(|launch| leaf(program, launch)).collect()
}

fn leaf(program: &Program, launch: &Launch) -> Program {
    // The operand that is written is the last one.
    let last = launch.args.len().saturating_sub(1);
    let args: Vec<Arg> = launch
        .args
        .iter()
        .enumerate()
        .map(|(operand, index)| {
            let arg = program.args[index.0].clone();
            let role = match arg.role {
                _ if operand == last => Role::Output,
                Role::Static => Role::Static,
                Role::Input | Role::Intermediate | Role::Output => Role::Input,
            };
            Arg { role, ..arg }
        })
        .collect();
    let written = args.last().map_or("", |arg| arg.name.as_str());
    Program {
        name: format!("{}.{written}", program.name),
        launches: vec![Launch { args: (0..args.len()).map(ArgIndex).collect(), ..launch.clone() }],
        args,
    }
}
