//! Deployments for the mock of XRT: files that stand in for compiled programs, and the emulated
//! NPU, which computes their runs.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::{
    collections::HashMap,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    sync::{Mutex, PoisonError},
};

use half::bf16;
use npugate_kernels::{
    Arg, ArgIndex, BufferSet, DType, Device, Emulator, Program, ProgramId, Role, Tensor, TensorData,
};
use npugate_xrt_mock::{Call, Mock, ProgramFile, State};

/// Writes a kernel cache of `programs` to a folder, as ELFs, and makes the mock compute their runs.
pub fn deploy<'a>(mock: &Mock, folder: &Path, programs: impl IntoIterator<Item = &'a Program>) {
    let mut entries = serde_json::Map::new();
    for program in programs {
        let name = &program.name;
        let file = ProgramFile::elf("main", name, program.args.len());
        let path = folder.join(format!("{name}.elf"));
        fs::write(&path, file.to_text()).unwrap();
        let entry = serde_json::json!({
            "output_binary": path, "kernel": "MLIR_AIE", "insts": null, "n_args": program.args.len(),
        });
        entries.insert(name.clone(), entry);
        let compiled = Compiled::new(program);
        mock.set_compute(&path, move |call| compiled.compute(call)).unwrap();
    }
    let manifest = serde_json::json!({ "_toolchain": { "by": "a test" }, "entries": entries });
    fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
}

/// A program as the device computes it: from the bytes of its buffers to the bytes of its buffers.
pub struct Compiled {
    program: Program,
    id: ProgramId,
    state: Mutex<Emulated>,
}

struct Emulated {
    emulator: Emulator,
    /// A buffer set for each content of the static buffers.
    sets: HashMap<u64, BufferSet>,
}

impl Compiled {
    pub fn new(program: &Program) -> Self {
        let mut emulator = Emulator::default();
        let id = emulator.load(program).unwrap();
        let state = Mutex::new(Emulated { emulator, sets: HashMap::new() });
        Self { program: program.clone(), id, state }
    }

    pub fn compute(&self, call: &Call<'_>) -> State {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Emulated { emulator, sets } = &mut *state;
        let args = |role| {
            let args = self.program.args.iter().enumerate();
            args.filter(move |(_, arg)| arg.role == role)
        };
        let mut hasher = DefaultHasher::new();
        for (index, _) in args(Role::Static) {
            call.read(index).hash(&mut hasher);
        }
        let (content, next) = (hasher.finish(), BufferSet(sets.len() as u32));
        let new = !sets.contains_key(&content);
        let set = *sets.entry(content).or_insert(next);
        let statics = args(Role::Static).filter(|_| new);
        for (index, arg) in statics.chain(args(Role::Input)) {
            let tensor = tensor(arg, &call.read(index).unwrap());
            emulator.write(self.id, set, ArgIndex(index), tensor).unwrap();
        }
        emulator.run(self.id, set).unwrap();
        for (index, _) in args(Role::Intermediate).chain(args(Role::Output)) {
            let tensor = emulator.read(self.id, set, ArgIndex(index)).unwrap();
            call.write(index, &bytes(&tensor)).unwrap();
        }
        State::Completed
    }
}

fn tensor(arg: &Arg, bytes: &[u8]) -> Tensor {
    match arg.dtype {
        DType::Bf16 => {
            let values = bytes.as_chunks().0.iter().map(|value| bf16::from_le_bytes(*value));
            Tensor::bf16(arg.shape.clone(), values.collect::<Vec<_>>()).unwrap()
        }
        DType::F32 => {
            let values = bytes.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value));
            Tensor::f32(arg.shape.clone(), values.collect::<Vec<_>>()).unwrap()
        }
    }
}

/// The bytes of a tensor.
pub fn bytes(tensor: &Tensor) -> Vec<u8> {
    match tensor.data() {
        TensorData::Bf16(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        TensorData::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}
