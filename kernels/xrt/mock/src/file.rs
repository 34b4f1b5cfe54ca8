//! Programs for the mock: a magic word, then lines of text.

use std::fmt::Write as _;

/// The kind of file that a program pretends to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// An ELF: each kernel with its instances.
    Elf,
    /// An xclbin: its kernels take an opcode, instructions and their number before the buffers.
    Xclbin,
}

impl Format {
    /// The first bytes of such a file.
    pub(crate) const fn magic(self) -> &'static str {
        match self {
            Self::Elf => "\u{7f}ELF\n",
            Self::Xclbin => "xclbin2\n",
        }
    }
}

/// A program that the mock can load.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramFile {
    /// The kind of file that it pretends to be.
    pub format: Format,
    /// For an ELF, the OS/ABI byte; 69 is npu2's.
    pub platform: i32,
    /// For an ELF, the number of columns that it takes.
    pub columns: i32,
    /// For an ELF, 1 if it is a full one, 0 if it contains only instructions.
    pub full: i32,
    /// Name, number of arguments and instances of each kernel.
    pub kernels: Vec<(String, i32, Vec<String>)>,
}

impl ProgramFile {
    /// A full ELF for all columns of npu2, with one kernel, which is opened as `kernel:instance`.
    pub fn elf(kernel: &str, instance: &str, buffers: usize) -> Self {
        let args = i32::try_from(buffers).unwrap_or(i32::MAX);
        Self {
            format: Format::Elf,
            platform: 69,
            columns: 8,
            full: 1,
            kernels: vec![(kernel.to_owned(), args, vec![instance.to_owned()])],
        }
    }

    /// An xclbin with one kernel.
    pub fn xclbin(kernel: &str, buffers: usize) -> Self {
        let args = i32::try_from(buffers).unwrap_or(i32::MAX).saturating_add(3);
        Self {
            format: Format::Xclbin,
            kernels: vec![(kernel.to_owned(), args, Vec::new())],
            ..Self::elf("", "", 0)
        }
    }

    /// The content of the file.
    pub fn to_text(&self) -> String {
        let Self { format, platform, columns, full, kernels } = self;
        let mut text =
            format!("{}platform {platform}\ncolumns {columns}\nfull {full}\n", format.magic());
        for (name, args, instances) in kernels {
            let _ = writeln!(text, "kernel {name} {args} {}", instances.join(" "));
        }
        text
    }

    /// The program in the text of a file, if the text has this format.
    pub(crate) fn parse(format: Format, text: &str) -> Option<Self> {
        let mut file = Self { format, platform: -1, columns: -1, full: -1, kernels: Vec::new() };
        for line in text.strip_prefix(format.magic())?.lines() {
            let mut words = line.split_whitespace();
            match words.next()? {
                "platform" => file.platform = words.next()?.parse().ok()?,
                "columns" => file.columns = words.next()?.parse().ok()?,
                "full" => file.full = words.next()?.parse().ok()?,
                "kernel" => {
                    let name = words.next()?.to_owned();
                    let args = words.next()?.parse().ok()?;
                    file.kernels.push((name, args, words.map(str::to_owned).collect()));
                }
                _ => return None,
            }
        }
        Some(file)
    }

    /// `npg_elf_kernels`' lines.
    pub(crate) fn lines(&self) -> String {
        let mut lines = String::new();
        for (name, args, instances) in &self.kernels {
            let _ = write!(lines, "{name}\t{args}");
            for instance in instances {
                let _ = write!(lines, "\t{instance}");
            }
            lines.push('\n');
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_program_is_read_back() {
        for file in [ProgramFile::elf("main", "design", 3), ProgramFile::xclbin("MLIR_AIE", 5)] {
            assert_eq!(ProgramFile::parse(file.format, &file.to_text()), Some(file));
        }
        let elf = ProgramFile::elf("main", "design", 3).to_text();
        assert_eq!(ProgramFile::parse(Format::Xclbin, &elf), None);
        assert_eq!(ProgramFile::parse(Format::Elf, "\u{7f}ELF\nnonsense\n"), None);
    }
}
