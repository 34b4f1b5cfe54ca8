//! Files that are not what they should be, and kernels that do not exist.

use std::{env, fs};

use npugate_xrt_fixtures::Template;

use crate::{
    faults::fails,
    scenario::{Form, Scenario},
};

/// Opens a file with these bytes, which must fail.
fn file_fails(bytes: &[u8], form: Form, expected: &str, advice: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    fails(Scenario::File(form), &[("NPUGATE_TEST_FILE", path)], expected, advice);
}

#[test]
fn a_missing_file_is_named() {
    for form in [Form::Elf, Form::Xclbin] {
        let file = [("NPUGATE_TEST_FILE", "/nonexistent/design.bin")];
        fails(Scenario::File(form), &file, "NoSuchFile", "/nonexistent/design.bin");
    }
}

#[test]
fn what_is_not_an_elf_for_an_npu_is_refused_for_its_own_reason() {
    file_fails(b"hello, world", Form::Elf, "NotAnElf", "aiecc");
    let machine = fs::read(env::current_exe().unwrap()).unwrap();
    file_fails(&machine, Form::Elf, "WrongPlatform", "npu2");
    let partial = Template::PartialElf.bytes().unwrap();
    file_fails(partial, Form::Elf, "PartialElf", "full ELF");
}

#[test]
fn what_is_not_an_xclbin_for_an_npu_is_refused_for_its_own_reason() {
    let whole = Template::Xclbin.bytes().unwrap();
    file_fails(&whole[..8], Form::Xclbin, "ShortXclbin", "copy it again");
    file_fails(&whole[..600], Form::Xclbin, "TruncatedXclbin", "copy it again");
    let other = Template::Elf(3).bytes().unwrap();
    file_fails(other, Form::Xclbin, "InvalidXclbin", "aiecc");
    let without = Template::XclbinWithoutPartition.bytes().unwrap();
    file_fails(without, Form::Xclbin, "NoDpuKernel", "AIE_PARTITION");
}

#[test]
fn a_missing_kernel_is_reported() {
    for form in [Form::Elf, Form::Xclbin] {
        fails(Scenario::WrongKernel(form), &[], "NoSuchKernel", "Program::kernels");
    }
}

#[test]
fn more_buffers_than_the_kernel_takes_are_refused_before_xrt_sees_them() {
    fails(Scenario::TooManyBuffers(Form::Elf), &[], "NoSuchArg", "takes 3 buffers");
    fails(Scenario::TooManyBuffers(Form::Xclbin), &[], "NoSuchArg", "takes 5 buffers");
}
