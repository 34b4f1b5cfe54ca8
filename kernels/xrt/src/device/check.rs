//! Checks before the first run: that a compiled program is the program, and is for this device.

use npugate_kernels::{Arg, ArgIndex, Program, Role};

use super::{MismatchError, bytes};
use crate::{
    Elf, Generation, KernelEntry, Xclbin,
    deployment::{ArgNote, Deployed},
};

/// A buffer that the binary takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Position {
    /// An argument of the program.
    Arg(ArgIndex),
    /// The binary's own memory, of this many bytes.
    Scratch(usize),
}

/// The buffers that the binary takes, in its order.
///
/// # Errors
/// If the notes do not list the program's arguments, or the manifest has another number of buffers.
pub(super) fn positions(
    program: &Program,
    deployed: &Deployed,
) -> Result<Vec<Position>, MismatchError> {
    let positions = match &deployed.args {
        None => (0..program.args.len()).map(|index| Position::Arg(ArgIndex(index))).collect(),
        Some(notes) => from_notes(program, notes)?,
    };
    match deployed.arg_count {
        Some(found) if found != positions.len() => {
            Err(count(program, positions.len(), found, "the manifest"))
        }
        _ => Ok(positions),
    }
}

/// Checks that the binary takes as many buffers as the program has.
///
/// # Errors
/// If it takes another number.
pub(super) fn arg_count(
    program: &Program,
    expected: usize,
    binary: Option<usize>,
) -> Result<(), MismatchError> {
    match binary {
        Some(found) if found != expected => {
            Err(count(program, expected, found, "the binary itself"))
        }
        _ => Ok(()),
    }
}

fn count(
    program: &Program,
    expected: usize,
    found: usize,
    source_of_count: &'static str,
) -> MismatchError {
    let program = program.name.clone();
    MismatchError::ArgCount { program, expected, found, source_of_count }
}

fn from_notes(program: &Program, notes: &[ArgNote]) -> Result<Vec<Position>, MismatchError> {
    let name = || program.name.clone();
    let mut positions = Vec::with_capacity(notes.len());
    for (index, note) in notes.iter().enumerate() {
        let arg = || note.name.clone();
        if notes.iter().take(index).any(|earlier| earlier.name == note.name) {
            return Err(MismatchError::ArgTwice { program: name(), arg: arg() });
        }
        positions.push(match program.arg(&note.name) {
            Some(index) => {
                let declared = program.args.get(index.0);
                declared.map_or(Ok(()), |declared| check_note(program, declared, note))?;
                Position::Arg(index)
            }
            None if note.role == Role::Intermediate => Position::Scratch(note.bytes),
            None => {
                let (program, arg, role) = (name(), arg(), note.role);
                return Err(MismatchError::ArgUnknown { program, arg, role });
            }
        });
    }
    let listed = |arg: &&Arg| !notes.iter().any(|note| note.name == arg.name);
    match program.args.iter().find(listed) {
        Some(arg) => Err(MismatchError::ArgMissing { program: name(), arg: arg.name.clone() }),
        None => Ok(positions),
    }
}

fn check_note(program: &Program, arg: &Arg, note: &ArgNote) -> Result<(), MismatchError> {
    let (name, expected) = (program.name.clone(), bytes::size(arg));
    if note.role != arg.role {
        let (arg, expected, found) = (arg.name.clone(), arg.role, note.role);
        return Err(MismatchError::ArgRole { program: name, arg, expected, found });
    }
    if note.bytes != expected {
        let (arg, found) = (arg.name.clone(), note.bytes);
        return Err(MismatchError::ArgBytes { program: name, arg, expected, found });
    }
    Ok(())
}

/// Checks that an ELF was built for the device.
///
/// # Errors
/// If it is for another generation, or takes more columns than the device has.
pub(super) fn elf(elf: &Elf, generation: Generation) -> Result<(), MismatchError> {
    let path = || elf.path().to_owned();
    if generation.platform() != Some(elf.platform()) {
        let (found, device) = (elf.platform(), MismatchError::words(generation));
        return Err(MismatchError::Platform { path: path(), found, device });
    }
    match elf.columns() {
        Some(found) if found > generation.columns() => {
            let columns = generation.columns();
            Err(MismatchError::Columns { path: path(), found, columns })
        }
        _ => Ok(()),
    }
}

/// The name by which an ELF's kernel is opened: `kernel:instance`.
///
/// The kernel that the manifest names comes first. MLIR-AIR writes `MLIR_AIE` there even if the ELF
/// has no such kernel, so otherwise the only kernel and its only instance are chosen.
///
/// # Errors
/// If there is more than one to choose from, or XRT does not report them.
pub(super) fn elf_kernel(deployed: &Deployed, elf: &Elf) -> Result<String, MismatchError> {
    if let Some(kernel) = deployed.kernel.as_ref().filter(|kernel| kernel.contains(':')) {
        return Ok(kernel.clone());
    }
    let kernels = elf.kernels();
    let named = kernels.iter().find(|kernel| Some(&kernel.name) == deployed.kernel.as_ref());
    let kernel = match (named, kernels) {
        (Some(kernel), _) | (None, [kernel]) => Some(kernel),
        _ => None,
    };
    let instances = kernel.map_or(&[][..], |kernel| &kernel.instances);
    match (&deployed.instance, kernel, instances) {
        (Some(instance), Some(kernel), instances)
            if instances.is_empty() || instances.contains(instance) =>
        {
            Ok(format!("{}:{instance}", kernel.name))
        }
        // XRT before 2.23 does not report them; MLIR-AIR calls every kernel `main`.
        (Some(instance), None, _) if kernels.is_empty() => Ok(format!("main:{instance}")),
        (None, Some(kernel), [instance]) => Ok(format!("{}:{instance}", kernel.name)),
        (wanted, ..) => Err(MismatchError::Kernel {
            path: elf.path().to_owned(),
            program: deployed.program.clone(),
            kernels: list(kernels),
            wanted: wanted.as_ref().map(|name| format!(" for `{name}`")).unwrap_or_default(),
        }),
    }
}

/// The name of an xclbin's kernel: the first whose name contains the manifest's, which is how
/// MLIR-AIR finds it.
///
/// # Errors
/// If there is no such kernel.
pub(super) fn xclbin_kernel(deployed: &Deployed, xclbin: &Xclbin) -> Result<String, MismatchError> {
    let wanted = deployed.kernel.as_deref();
    let has = |kernel: &&KernelEntry| wanted.is_some_and(|name| kernel.name.contains(name));
    let named = xclbin.kernels().iter().find(has);
    match named.or_else(|| xclbin.mlir_aie_kernel()) {
        Some(kernel) => Ok(kernel.name.clone()),
        None => Err(MismatchError::Kernel {
            path: xclbin.path().to_owned(),
            program: deployed.program.clone(),
            kernels: list(xclbin.kernels()),
            wanted: wanted.map(|name| format!(" for `{name}`")).unwrap_or_default(),
        }),
    }
}

fn list(kernels: &[KernelEntry]) -> String {
    let name = |kernel: &KernelEntry| match kernel.instances.as_slice() {
        [] => kernel.name.clone(),
        instances => format!("{}:{{{}}}", kernel.name, instances.join(",")),
    };
    match kernels {
        [] => "a binary that lists none".to_owned(),
        kernels => kernels.iter().map(name).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
