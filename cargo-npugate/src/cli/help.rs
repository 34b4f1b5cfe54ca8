//! What `--help` prints beyond the options.

use npugate_schema::ExitCode;
use std::fmt::Write;

/// After `-h`.
pub const SHORT: &str = "\
Examples:
  cargo npugate                       run every test of every adapter
  cargo npugate kernel gemm           test the GEMM kernels
  cargo npugate -p tiny-llama verify  verify one model as a whole
  cargo npugate run 'Once upon a'     generate text

See `cargo npugate --help` for more, and `cargo npugate COMMAND --help` for one command.";

/// After `doctor --help`.
pub const DOCTOR: &str = "\
Runs fourteen checks, from the PCI bus to the lock. Each reports what it found and what to
do about it. A finding that needs action, or any finding with -v, comes with its evidence
and the source that explains it. In a workspace, the memory that may be locked is compared
with the weights of its models, or of the models given by -p.

Nothing is changed, loaded or computed: the device node is only opened and closed. The exit
code is 122 if there is a problem. Warnings, and checks that could not find an answer, are
not problems.

Examples:
  cargo npugate doctor
  cargo npugate doctor -v                show the evidence and sources of every check
  cargo npugate doctor --json            print an object of harness/schema/json/doctor.schema.json
  cargo npugate doctor -p smollm2-135m   check that there is memory for this model";

/// After `device --help`.
pub const DEVICE: &str = "\
Use `xrt-smi examine` for what is not shown here. The exit code is 122 if there is no NPU.";

/// After `setup xrt --help`.
pub const SETUP_XRT: &str = "\
XRT is looked for in NPUGATE_XRT_INCLUDE and NPUGATE_XRT_LIB, XILINX_XRT,
/opt/xilinx/xrt, the folders that pkg-config reports, and /usr. The library
works only with the version of XRT that was found, and is written to
npugate/xrt-VERSION-HASH in XDG_CACHE_HOME or ~/.cache. Building it needs XRT
2.20 or newer with its headers, and a C++ compiler: CXX, or else g++, c++ or
clang++. Set NPUGATE_XRT_SHIM to load another library.";

/// After `registry --help`.
pub const REGISTRY: &str = "\
Examples:
  cargo npugate registry gemm::2048           list published and own rows as a table
  cargo npugate registry show gemm::2048x2048x512::drain
  cargo npugate registry best gemm::2048x2048x512 --tier low
  cargo npugate registry rules l1-capacity    explain a rule and the reason for it
  cargo npugate registry --check              check that every launch is recorded and tested
  cargo npugate registry add -p my-model      record the kernels that pass
  cargo npugate registry --fidelity --quick   compare the emulated NPU with silicon

A `*` after a row's name marks the fastest row of its shape, output type and
tier. The rows of a workspace are in kernels/registry, or in the folder that its
Cargo.toml names:

  [workspace.metadata.npugate]
  registry = \"records\"

`--fidelity` draws the published inputs with numpy (NPUGATE_PYTHON names the
Python interpreter). --set exp2|tanh|reciprocal|rsqrt=hardware|exact|table:PATH
replaces a function of the emulated NPU; a table has 65,536 entries and may be,
for example, a sweep of a device.";

/// What `--help` prints before the exit codes.
const LONG: &str = "\
Examples:
  cargo npugate                              run every test of every adapter
  cargo npugate kernel gemm --skip high      test the GEMM kernels except the high tier
  cargo npugate -E 'op(gemm) & m >= 256'     select tests by their attributes
  cargo npugate --rerun failed               rerun the tests that did not succeed
  cargo npugate -p tiny-llama verify --full  verify one model with the long set of tests
  cargo npugate diagnosis -p smollm2-135m    show at which layers a model drifts
  cargo npugate --junit report.xml           write a JUnit report for CI
  cargo npugate --results a.jsonl            write the events of the run as JSON lines
  cargo npugate merge a.jsonl b.jsonl        join the parts of a run into one report
  cargo npugate run 'Once upon a' -n 32      generate text
  cargo npugate review                       accept or reject new baselines

Adapters:
  An adapter is a package of the workspace with this in its Cargo.toml:

    [package.metadata.npugate]
    gate = \"gate\"       # its test target, built with `harness = false`
    model = \"my-model\"  # the model's name, which -p accepts beside the package's
    default = false     # runs only with -p or --workspace

Expressions (-E):
  model, package, kind (the phase), test (the name) and text attributes such as
  op and tier take a pattern: op(gemm), op(=whole), op(~part), op(/regex/) or
  op(#glob*). A plain word matches a part of a model, package or test name, but
  the whole value of an attribute or phase. Numbers such as m or layer are
  compared: = != < <= > >=. Join terms with & (and), | (or), - (but not),
  ! (not) and parentheses; all() and none() match every test and no test.

Parts of a run (--partition):
  hash:M/N assigns each test by its model and name: a test stays in its shard
  when others are added or removed, but the sizes are left to chance. slice:M/N
  deals the tests out in turn: sizes are even, but a new test moves those after it.

Configuration:
  .config/npugate.toml at the workspace's root defines profiles of settings.
  -P NAME chooses one; without it `default` is used, which every other profile
  inherits. Options override the configuration.

    [profile.default]
    timeout = \"30m\"

    [[profile.default.overrides]]    # the first that sets a value wins
    filter = 'op(gemm) & m >= 2048'
    timeout = \"1h\"

    [[profile.default.waivers]]      # a failure within the limit is waived
    filter = 'test(=block::layer07::R)'
    metric = \"R_p95\"
    limit = 4.5
    reason = \"why it fails, and what will be done about it\"
    expires = 2027-01-31             # the last day

    [profile.ci]
    inherits = \"default\"
    fail-fast = false

  `cargo npugate show-config [TEST]` shows the settings in effect and where each
  comes from.

Baselines:
  A run compares its figures with the accepted ones in baseline/DEVICE.json
  beside a model's goldens. Figures that are new, better, worse or gone wait in
  DEVICE.json.new for `cargo npugate review`, `accept` or `reject`.
  `--baseline ignore` compares nothing and writes nothing. `--baseline save`
  compares nothing and accepts every figure of a test that passes, within the
  noise or not; tests that the adapter no longer has leave the baseline. Use it
  for an intended change; it is refused on CI.

  A golden that no manifest names, a file that is not a baseline of its model
  and a folder of a model that no adapter has are unreferenced. A run of every
  test warns about them, `--unreferenced reject` makes the run end with 124, and
  `cargo npugate unreferenced` lists them.

Environment:
  NPUGATE_UPDATE       new (default): write pending changes beside the baseline;
                       no (default if CI is set): write nothing;
                       always: accept changes beyond the noise at once. Unlike
                       with --baseline save, the run still compares, and ends
                       with 120 if a figure got worse
  NPUGATE_PROFILE      the profile, unless -P is given
  NPUGATE_CONFIG       the configuration, unless --config is given
  NPUGATE_WEIGHTS_DIR  where weights are looked for and stored, in place of the
                       user's cache folder
  NPUGATE_FIXTURES     a folder that contains a folder of goldens and baselines
                       for each adapter, in place of the adapters' own
  NPUGATE_PYTHON       the Python interpreter of `fetch` and `record`
                       [default: python3]
  GITHUB_ACTIONS       if true, annotate each test that did not pass, and append
                       a summary to the file that GITHUB_STEP_SUMMARY names
  CARGO, CARGO_TARGET_DIR, CARGO_TERM_COLOR  as in cargo
  NO_COLOR, CLICOLOR, CLICOLOR_FORCE  colours, unless --color is given";

/// After `completions --help`.
pub const COMPLETIONS: &str = "\
To install the completions for
  bash:
    cargo npugate completions bash > ~/.local/share/bash-completion/completions/cargo-npugate
  zsh, in a DIR of $fpath; cargo's own completion then knows `cargo npugate` too:
    cargo npugate completions zsh > DIR/_cargo-npugate
  fish:
    cargo npugate completions fish > ~/.config/fish/completions/cargo-npugate.fish
  PowerShell:
    cargo npugate completions powershell >> $PROFILE
  elvish:
    cargo npugate completions elvish >> ~/.config/elvish/rc.elv

Except in zsh, they complete `cargo-npugate`, which is the same program.";

/// After `man --help`.
pub const MAN: &str = "\
Examples:
  cargo npugate man | man -l -                show the main page
  cargo npugate man ~/.local/share/man/man1   write all pages to where `man cargo-npugate`
                                              and `cargo help npugate` find them";

/// After `--help`.
pub fn long() -> String {
    format!("{LONG}\n\nExit codes:\n{}", exit_codes().trim_end())
}

/// A line for each exit code.
fn exit_codes() -> String {
    let mut text = String::new();
    for code in ExitCode::ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:>3}  {}", code as u8, code.description());
    }
    text
}
