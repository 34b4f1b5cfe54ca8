//! What a child does with XRT: each scenario is one use of the crate from beginning to end.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, Instant},
};

use npugate_xrt::{Deadline, Error, Library};

use crate::{
    design,
    vectors::{Adder, kernel, program},
};

/// How long a run may take.
pub const DEADLINE: Deadline = Deadline::After(Duration::from_secs(20));

/// The kind of file that a kernel comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Elf,
    Xclbin,
    /// An xclbin whose number of instructions is in bytes.
    XclbinInBytes,
}

/// What a child plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scenario {
    /// Describes the device.
    Describe,
    /// One run that adds two vectors.
    Add(Form),
    /// Three runs, with one new input for each later run.
    Reuse(Form),
    /// A run with a short deadline.
    Deadline(Form),
    /// A run without a deadline.
    NoDeadline,
    /// As many contexts as the device has.
    Contexts,
    /// More contexts than the device has, each dropped before the next.
    ContextsInTurn,
    /// A kernel with a name that does not exist.
    WrongKernel(Form),
    /// More buffers than the kernel takes.
    TooManyBuffers(Form),
    /// Opens the file that `NPUGATE_TEST_FILE` names, and puts it on the device.
    File(Form),
    /// A program of the project in the folder `NPUGATE_TEST_FILE`, as [`crate::runs`] writes it.
    Program(Form),
    /// The same through the project's own device, with the folder as a deployment.
    Device,
}

/// The names of the forms.
const FORMS: [(Form, &str); 3] =
    [(Form::Elf, "elf"), (Form::Xclbin, "xclbin"), (Form::XclbinInBytes, "xclbin-in-bytes")];

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, form) = match *self {
            Self::Describe => ("describe", Form::Elf),
            Self::Add(form) => ("add", form),
            Self::Reuse(form) => ("reuse", form),
            Self::Deadline(form) => ("deadline", form),
            Self::NoDeadline => ("no-deadline", Form::Elf),
            Self::Contexts => ("contexts", Form::Elf),
            Self::ContextsInTurn => ("contexts-in-turn", Form::Elf),
            Self::WrongKernel(form) => ("wrong-kernel", form),
            Self::TooManyBuffers(form) => ("too-many-buffers", form),
            Self::File(form) => ("file", form),
            Self::Program(form) => ("program", form),
            Self::Device => ("device", Form::Elf),
        };
        let form = FORMS.iter().find(|known| known.0 == form).map_or("", |known| known.1);
        write!(f, "{name} {form}")
    }
}

impl FromStr for Scenario {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("`{text}` is not a scenario");
        let (name, form) = text.split_once(' ').ok_or_else(unknown)?;
        let form = FORMS.iter().find(|known| known.1 == form).ok_or_else(unknown)?.0;
        Ok(match name {
            "describe" => Self::Describe,
            "add" => Self::Add(form),
            "reuse" => Self::Reuse(form),
            "deadline" => Self::Deadline(form),
            "no-deadline" => Self::NoDeadline,
            "contexts" => Self::Contexts,
            "contexts-in-turn" => Self::ContextsInTurn,
            "wrong-kernel" => Self::WrongKernel(form),
            "too-many-buffers" => Self::TooManyBuffers(form),
            "file" => Self::File(form),
            "program" => Self::Program(form),
            "device" => Self::Device,
            _ => return Err(unknown()),
        })
    }
}

impl Scenario {
    /// Plays the scenario, and returns its result as text.
    pub fn play(self) -> Result<String, Error> {
        let library = Library::open()?;
        match self {
            Self::Describe => {
                let device = library.device(0)?;
                let (count, version) = (library.device_count()?, library.version());
                Ok(format!("{count} {version} {} {}", device.bdf(), device.name()))
            }
            Self::Add(form) => {
                let mut add = Adder::new(&kernel(&library, form)?)?;
                add.input(0, 1)?;
                add.input(1, 2)?;
                add.run.start()?;
                add.run.wait(DEADLINE)?;
                add.output()
            }
            Self::Reuse(form) => {
                let mut add = Adder::new(&kernel(&library, form)?)?;
                add.input(0, 1)?;
                let mut outputs = Vec::new();
                for factor in [2, 5, 7] {
                    add.input(1, factor)?;
                    add.run.start()?;
                    add.run.wait(DEADLINE)?;
                    outputs.push(add.output()?);
                }
                Ok(outputs.join(" "))
            }
            Self::Deadline(form) => {
                let mut add = Adder::new(&kernel(&library, form)?)?;
                let start = Instant::now();
                add.run.start()?;
                let waited = add.run.wait(Deadline::After(Duration::from_millis(300)));
                if start.elapsed() > Duration::from_secs(10) {
                    return Ok("the deadline was not kept".to_owned());
                }
                waited.map(|()| "the run has ended".to_owned())
            }
            Self::NoDeadline => {
                let mut add = Adder::new(&kernel(&library, Form::Elf)?)?;
                add.run.start()?;
                add.run.wait(Deadline::Never)?;
                Ok("the run has ended".to_owned())
            }
            Self::Contexts => {
                let device = library.device(0)?;
                let program = program(&library, Form::Elf)?;
                let mut contexts = Vec::new();
                while contexts.len() < 100 {
                    match device.context(&program) {
                        Ok(context) => contexts.push(context),
                        Err(error) => {
                            eprintln!("after {} contexts", contexts.len());
                            // A context that is returned can be taken again.
                            contexts.pop();
                            device.context(&program)?;
                            return Err(error);
                        }
                    }
                }
                Ok("contexts do not run out".to_owned())
            }
            Self::ContextsInTurn => {
                let device = library.device(0)?;
                let program = program(&library, Form::Elf)?;
                for _ in 0..20 {
                    device.context(&program)?;
                }
                Ok("20".to_owned())
            }
            Self::WrongKernel(form) => {
                let context = library.device(0)?.context(&program(&library, form)?)?;
                let name = if form == Form::Elf { "main:nope" } else { "NOPE" };
                context.kernel(name).map(|_| "there is such a kernel".to_owned())
            }
            Self::TooManyBuffers(form) => {
                let kernel = kernel(&library, form)?;
                let count = kernel.buffers().unwrap_or(0);
                let buffer = kernel.buffer(0, 4096)?;
                let mut run = kernel.run()?;
                run.set_buffer(count, &buffer).map(|()| "it was taken".to_owned())
            }
            Self::File(form) => design::open_file(&library, form),
            Self::Program(form) => design::run(&library, form),
            Self::Device => Ok(design::run_on_device(&library)),
        }
    }
}
