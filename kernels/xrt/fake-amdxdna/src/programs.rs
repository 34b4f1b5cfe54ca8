//! What a run computes: a program of `FAKE_XDNA_PROGRAMS` on the emulated NPU, or the sum of two
//! vectors.

use std::{
    collections::HashMap,
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
};

use half::bf16;
use npugate_kernels::{
    Arg, ArgIndex, BufferSet, DType, Device, Emulator, Program, ProgramId, Role, Tensor, TensorData,
};
use npugate_xrt_fixtures::Key;
use sha2::{Digest, Sha256};

use crate::memory::Memory;

/// Elements of the vectors that a run without a key adds.
const SUM_WORDS: usize = 1024;

/// The programs that have been run, on one emulated NPU.
#[derive(Default)]
pub struct Programs {
    emulator: Emulator,
    loaded: HashMap<Key, Loaded>,
}

struct Loaded {
    program: Program,
    id: ProgramId,
    /// The emulated NPU accepts a static buffer once for each set, so each content has a set.
    sets: HashMap<[u8; 32], BufferSet>,
}

impl Programs {
    /// Runs the program of `key` on the buffers at `args`.
    ///
    /// # Errors
    /// Why it could not run, as a sentence.
    pub fn run(&mut self, key: Option<Key>, args: &[u64], memory: &Memory) -> Result<(), String> {
        let Some(key) = key else { return add(args, memory) };
        // A panic must not cross into the process that is tested.
        catch_unwind(AssertUnwindSafe(|| self.run_program(key, args, memory)))
            .unwrap_or_else(|_| Err(format!("the emulated NPU panicked in program {key}")))
    }

    fn run_program(&mut self, key: Key, args: &[u64], memory: &Memory) -> Result<(), String> {
        if !self.loaded.contains_key(&key) {
            let loaded = self.load(key)?;
            self.loaded.insert(key, loaded);
        }
        let Some(loaded) = self.loaded.get_mut(&key) else { return Err(String::new()) };
        let (program, id) = (&loaded.program, loaded.id);
        let failed = |error: &dyn std::fmt::Display| format!("program {key}: {error}");
        if args.len() < program.args.len() {
            return Err(format!(
                "program {key} (`{}`) takes {} buffers, but the fixture passes {}; make the fixture \
                 from this program",
                program.name,
                program.args.len(),
                args.len()
            ));
        }
        let buffers = || program.args.iter().zip(args).enumerate();

        let mut hash = Sha256::new();
        let mut inputs = Vec::new();
        let mut statics = Vec::new();
        for (index, (arg, &address)) in buffers() {
            let host = match arg.role {
                Role::Input => &mut inputs,
                Role::Static => &mut statics,
                Role::Intermediate | Role::Output => continue,
            };
            let bytes = memory.read(address, size(arg)).map_err(|bad| {
                format!("program {key} (`{}`), `{}`: {bad}", program.name, arg.name)
            })?;
            if arg.role == Role::Static {
                hash.update(&bytes);
            }
            host.push((index, bytes));
        }
        let digest: [u8; 32] = hash.finalize().into();
        let next = BufferSet(loaded.sets.len() as u32);
        let set = loaded.sets.get(&digest).copied();
        let first = if set.is_none() { statics } else { Vec::new() };
        for (index, bytes) in first.into_iter().chain(inputs) {
            let tensor = tensor(&program.args[index], &bytes).map_err(|error| failed(&error))?;
            self.emulator
                .write(id, set.unwrap_or(next), ArgIndex(index), tensor)
                .map_err(|error| failed(&error))?;
        }
        let set = *loaded.sets.entry(digest).or_insert(next);
        self.emulator.run(id, set).map_err(|error| failed(&error))?;
        for (index, (arg, &address)) in buffers() {
            if matches!(arg.role, Role::Output | Role::Intermediate) {
                // What no launch wrote stays unchanged, as on hardware.
                if let Ok(tensor) = self.emulator.read(id, set, ArgIndex(index)) {
                    memory.write(address, &bytes(&tensor)).map_err(|bad| {
                        format!("program {key} (`{}`), `{}`: {bad}", program.name, arg.name)
                    })?;
                }
            }
        }
        Ok(())
    }

    fn load(&mut self, key: Key) -> Result<Loaded, String> {
        let folder = env::var_os("FAKE_XDNA_PROGRAMS").ok_or_else(|| {
            format!(
                "program {key} is unknown; set FAKE_XDNA_PROGRAMS to the folder with {key}.json"
            )
        })?;
        let path = PathBuf::from(folder).join(format!("{key}.json"));
        let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        if Key::of(&text) != key {
            return Err(format!(
                "{}: its SHA-256 does not begin with its name; make the fixture again",
                path.display()
            ));
        }
        let program: Program = serde_json::from_slice(&text)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let id =
            self.emulator.load(&program).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Loaded { program, id, sets: HashMap::new() })
    }
}

fn size(arg: &Arg) -> usize {
    arg.len() * arg.dtype.size()
}

fn tensor(arg: &Arg, bytes: &[u8]) -> Result<Tensor, npugate_kernels::DeviceError> {
    let failed = |error: npugate_kernels::TensorError| npugate_kernels::DeviceError::Backend {
        device: "fake-amdxdna".into(),
        message: error.to_string(),
        source: None,
    };
    match arg.dtype {
        DType::Bf16 => {
            let value = |b: &[u8; 2]| bf16::from_le_bytes(*b);
            let values: Vec<bf16> = bytes.as_chunks().0.iter().map(value).collect();
            Tensor::bf16(arg.shape.clone(), values).map_err(failed)
        }
        DType::F32 => {
            let value = |b: &[u8; 4]| f32::from_le_bytes(*b);
            let values: Vec<f32> = bytes.as_chunks().0.iter().map(value).collect();
            Tensor::f32(arg.shape.clone(), values).map_err(failed)
        }
    }
}

fn bytes(tensor: &Tensor) -> Vec<u8> {
    match tensor.data() {
        TensorData::Bf16(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        TensorData::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}

/// The third buffer becomes the sum of the first two, as 32-bit integers.
fn add(args: &[u64], memory: &Memory) -> Result<(), String> {
    let &[a, b, c, ..] = args else {
        return Err(format!(
            "a run without a program adds two vectors into a third; it has {} buffers",
            args.len()
        ));
    };
    let read = |address| {
        memory
            .read(address, SUM_WORDS * 4)
            .map(|bytes| crate::memory::words(&bytes))
            .map_err(|bad| bad.to_string())
    };
    let sum: Vec<u8> = read(a)?
        .into_iter()
        .zip(read(b)?)
        .flat_map(|(a, b)| a.wrapping_add(b).to_le_bytes())
        .collect();
    memory.write(c, &sum).map_err(|bad| bad.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffers::{BufferKind, HEAP_BASE};

    /// Device memory with three buffers of a page each.
    fn memory() -> (Memory, [u64; 3]) {
        let mut memory = Memory::new().unwrap();
        memory.buffers.create(BufferKind::Heap, 64 << 20, None).unwrap();
        let mut address = || {
            let handle = memory.buffers.create(BufferKind::Device, 4096, None).unwrap();
            memory.buffers.get(handle).unwrap().device_address(memory.buffers.heap())
        };
        let addresses = [address(), address(), address()];
        (memory, addresses)
    }

    #[test]
    fn without_a_key_a_run_adds_two_vectors() {
        let (memory, args) = memory();
        memory.write(args[0], &[1, 0, 0, 0, 255, 255, 255, 255]).unwrap();
        memory.write(args[1], &[2, 0, 0, 0, 2, 0, 0, 0]).unwrap();
        Programs::default().run(None, &args, &memory).unwrap();
        assert_eq!(memory.read(args[2], 8).unwrap(), [3, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn a_run_on_too_few_or_absent_buffers_says_so() {
        let (memory, args) = memory();
        let mut programs = Programs::default();
        let error = programs.run(None, &args[..2], &memory).unwrap_err();
        assert!(error.contains("it has 2 buffers"), "{error}");
        let error = programs.run(None, &[args[0], args[1], HEAP_BASE - 4096], &memory).unwrap_err();
        assert!(error.contains("no buffer"), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let (memory, args) = memory();
        let error = Programs::default().run(Some(Key::of(b"")), &args, &memory).unwrap_err();
        assert!(error.contains("e3b0c442"), "{error}");
    }
}
