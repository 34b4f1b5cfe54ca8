//! Files that the parent wrote: whether they open, and what they compute.

use std::{env, fs, path::PathBuf};

use half::bf16;
use npugate_kernels::{
    ArgIndex, BufferSet, Device as _, DeviceError, Program as Design, Role, Tensor,
};
use npugate_xrt::{Error, Library, RunDeadline, XrtDevice, XrtOptions, deployment::Deployment};
use npugate_xrt_fixtures::{Key, Template};

use crate::{
    scenario::{DEADLINE, Form},
    vectors::{kernel_of, open},
};

/// The path that the parent passes.
fn path() -> PathBuf {
    env::var_os("NPUGATE_TEST_FILE").unwrap().into()
}

/// Opens the file, and puts it on the device.
pub fn open_file(library: &Library, form: Form) -> Result<String, Error> {
    let device = library.device(0)?;
    kernel_of(&device, &open(library, &path(), form)?).map(|kernel| kernel.name().to_owned())
}

/// Runs the design in the folder twice on its inputs, and writes the outputs beside them.
pub fn run(library: &Library, form: Form) -> Result<String, Error> {
    let folder = path();
    let json = fs::read(folder.join("design.json")).unwrap();
    let design: Design = serde_json::from_slice(&json).unwrap();
    let template = match form {
        Form::Elf => Template::Elf(design.args.len()),
        Form::Xclbin | Form::XclbinInBytes => Template::Xclbin,
    };
    let file = folder.join("design.bin");
    fs::write(&file, template.with_key(Key::of(&json)).unwrap()).unwrap();
    let kernel = kernel_of(&library.device(0)?, &open(library, &file, form)?)?;
    let mut run = kernel.run()?;
    let mut buffers = Vec::new();
    for (index, arg) in design.args.iter().enumerate() {
        let buffer = kernel.buffer(index, arg.len() * arg.dtype.size())?;
        run.set_buffer(index, &buffer)?;
        buffers.push(buffer);
    }
    for index in design.args.len()..kernel.buffers().unwrap_or(0) {
        run.set_buffer(index, &kernel.buffer(index, 4096)?)?;
    }
    for turn in 0..2 {
        for (arg, buffer) in design.args.iter().zip(&buffers) {
            let input = folder.join(format!("{}.{turn}.in", arg.name));
            if let Ok(bytes) = fs::read(input) {
                buffer.write(0, &bytes)?;
                buffer.sync_to_device()?;
            }
        }
        run.start()?;
        run.wait(DEADLINE)?;
        for (arg, buffer) in design.args.iter().zip(&buffers) {
            buffer.sync_from_device()?;
            let mut bytes = vec![0; buffer.size()];
            buffer.read(0, &mut bytes)?;
            fs::write(folder.join(format!("{}.{turn}.out", arg.name)), bytes).unwrap();
        }
    }
    Ok(design.name)
}

/// Runs the design on the project's own device, twice for each of two sets, whose static buffers
/// differ only in their set. Returns the device's error as text, if there is one.
pub fn run_on_device(library: &Library) -> String {
    let folder = path();
    let json = fs::read(folder.join("design.json")).unwrap();
    let design: Design = serde_json::from_slice(&json).unwrap();
    let run = || -> Result<String, DeviceError> {
        let deployment = Deployment::open(&folder).unwrap();
        let deadline = RunDeadline::from_env().unwrap();
        let options = XrtOptions { deadline, ..XrtOptions::default() };
        let mut device = XrtDevice::open(library, deployment, options)?;
        let id = device.load(&design)?;
        for set in [BufferSet(0), BufferSet(1)] {
            for turn in 0..2 {
                for (index, arg) in design.args.iter().enumerate() {
                    if let Ok(bytes) = fs::read(folder.join(format!("{}.{turn}.in", arg.name))) {
                        let values = bytes.as_chunks().0.iter().map(|&b| bf16::from_le_bytes(b));
                        let tensor = Tensor::bf16(arg.shape.clone(), values.collect::<Vec<_>>());
                        device.write(id, set, ArgIndex(index), tensor.unwrap())?;
                    }
                }
                device.run(id, set)?;
                for (index, arg) in design.args.iter().enumerate() {
                    if arg.role == Role::Output {
                        let tensor = device.read(id, set, ArgIndex(index))?;
                        let values = tensor.as_bf16().unwrap().iter();
                        let bytes: Vec<u8> = values.flat_map(|value| value.to_le_bytes()).collect();
                        fs::write(folder.join(format!("{}.{turn}.out", arg.name)), bytes).unwrap();
                    }
                }
            }
        }
        Ok(format!("{}, {} dispatches", device.info().name, device.counters().dispatches))
    };
    run().unwrap_or_else(|error| error.to_string())
}
