fn main() -> std::process::ExitCode {
    npugate::main(axpy_npu::AxpyAdapter)
}
