//! The sum of two vectors, which a fixture without a key computes.

use std::{fs, path::Path};

use npugate_xrt::{
    Buffer, Device, Error, InstructionUnit, Instructions, Kernel, Library, Program, Run,
};
use npugate_xrt_fixtures::{ELF_INSTANCE, ELF_KERNEL, Template, XCLBIN_KERNEL};

use crate::scenario::Form;

/// The number of words of a vector.
const WORDS: u32 = 1024;

/// A kernel that adds two vectors, with its buffers.
pub struct Adder {
    pub run: Run,
    buffers: [Buffer; 3],
}

impl Adder {
    pub fn new(kernel: &Kernel) -> Result<Self, Error> {
        let buffer = |index| kernel.buffer(index, WORDS as usize * 4);
        let buffers = [buffer(0)?, buffer(1)?, buffer(2)?];
        let mut run = kernel.run()?;
        for (index, buffer) in buffers.iter().enumerate() {
            run.set_buffer(index, buffer)?;
        }
        // The xclbin's kernel takes two more.
        for index in buffers.len()..kernel.buffers().unwrap_or(0) {
            run.set_buffer(index, &kernel.buffer(index, 4096)?)?;
        }
        Ok(Self { run, buffers })
    }

    /// Fills an input with the multiples of a number.
    pub fn input(&self, index: usize, factor: u32) -> Result<(), Error> {
        let bytes: Vec<u8> = (1..=WORDS).flat_map(|i| (i * factor).to_le_bytes()).collect();
        self.buffers[index].write(0, &bytes)?;
        self.buffers[index].sync_to_device()
    }

    /// The number whose multiples the output contains.
    pub fn output(&self) -> Result<String, Error> {
        let output = &self.buffers[2];
        output.sync_from_device()?;
        let mut bytes = vec![0; WORDS as usize * 4];
        output.read(0, &mut bytes)?;
        let words: Vec<u32> =
            bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let factor = words[0];
        let wrong = words.iter().zip(1..).position(|(&word, i)| word != i * factor);
        Ok(wrong.map_or_else(|| format!("x{factor}"), |at| format!("word {at} is wrong")))
    }
}

/// The program that adds two vectors.
pub fn program(library: &Library, form: Form) -> Result<Program, Error> {
    let template = match form {
        Form::Elf => Template::Elf(3),
        Form::Xclbin | Form::XclbinInBytes => Template::Xclbin,
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("add");
    fs::write(&path, template.bytes().unwrap()).unwrap();
    open(library, &path, form)
}

/// Opens a file; an xclbin gets the instructions that all of ours use.
pub fn open(library: &Library, path: &Path, form: Form) -> Result<Program, Error> {
    let unit = match form {
        Form::Elf => return Ok(Program::Elf(library.elf(path)?)),
        Form::Xclbin => InstructionUnit::Words,
        Form::XclbinInBytes => InstructionUnit::Bytes,
    };
    let instructions = Instructions { bytes: Template::INSTRUCTIONS.to_vec(), unit };
    Ok(Program::Xclbin { xclbin: library.xclbin(path)?, instructions })
}

/// The kernel of a program, on the device.
pub fn kernel_of(device: &Device, program: &Program) -> Result<Kernel, Error> {
    let context = device.context(program)?;
    match program {
        Program::Elf(_) => context.kernel(&format!("{ELF_KERNEL}:{ELF_INSTANCE}")),
        Program::Xclbin { .. } => context.kernel(XCLBIN_KERNEL),
    }
}

/// The kernel that adds two vectors, on the first device.
pub fn kernel(library: &Library, form: Form) -> Result<Kernel, Error> {
    kernel_of(&library.device(0)?, &program(library, form)?)
}
