//! What `--help` says beyond the options.

use npugate_schema::ExitCode;
use std::fmt::Write;

/// After `-h`.
pub const SHORT: &str = "\
Examples:
  cargo npugate                       every test of every adapter
  cargo npugate kernel gemm           the GEMM kernels
  cargo npugate -p tiny-llama verify  one model as a whole
  cargo npugate run 'Once upon a'     generate text

`cargo npugate --help` says more; `cargo npugate COMMAND --help` is about a command.";

/// After `doctor --help`.
pub const DOCTOR: &str = "\
Fourteen checks, from the PCI bus to the lock: each says what it found and what to do.
Where there is something to do it says what it saw, with -v always, and where the
finding is known from. In a workspace the memory that may be locked is compared with
the weights of its models, or of those of -p.

Nothing is changed, no library is loaded and nothing is computed; the device node is
opened and closed. It ends with 122 if it found a problem; warnings and what could not
be found out are none.

Examples:
  cargo npugate doctor
  cargo npugate doctor -v                with evidence and sources of every check
  cargo npugate doctor --json            as one object: harness/schema/json/doctor.schema.json
  cargo npugate doctor -p smollm2-135m   is there memory for this model?";

/// After `device --help`.
pub const DEVICE: &str = "\
What is not known here is left to `xrt-smi examine`. Without an NPU it ends with 122.";

/// After `setup xrt --help`.
pub const SETUP_XRT: &str = "\
XRT is searched in NPUGATE_XRT_INCLUDE and NPUGATE_XRT_LIB, XILINX_XRT,
/opt/xilinx/xrt, what pkg-config knows, and /usr. The library is for that
version of XRT alone, and goes to npugate/xrt-VERSION-HASH in XDG_CACHE_HOME or
~/.cache. It needs XRT 2.20 or newer with its headers, and a C++ compiler: CXX,
else g++, c++ or clang++. NPUGATE_XRT_SHIM names another library to load.";

/// After `registry --help`.
pub const REGISTRY: &str = "\
Examples:
  cargo npugate registry gemm::2048           published and own rows, as a table
  cargo npugate registry show gemm::2048x2048x512::drain
  cargo npugate registry best gemm::2048x2048x512 --tier low
  cargo npugate registry rules l1-capacity    what a tiling must keep, and why
  cargo npugate registry --check              is every launch recorded and tested?
  cargo npugate registry add -p my-model      record the kernels that pass
  cargo npugate registry --fidelity --quick   the emulated NPU against silicon

A `*` after a row's name marks the fastest of its shape, output type and tier.
Rows of a workspace are in kernels/registry, or where its Cargo.toml says:

  [workspace.metadata.npugate]
  registry = \"records\"

`--fidelity` draws the published inputs with numpy (NPUGATE_PYTHON names the
Python); --set exp2|tanh|reciprocal|rsqrt=hardware|exact|table:PATH puts a
function of 65,536 entries, such as a sweep of a device, in place of the
emulated NPU's own.";

/// What `--help` says before the exit codes.
const LONG: &str = "\
Examples:
  cargo npugate                              every test of every adapter
  cargo npugate kernel gemm --skip high      the GEMM kernels but the high tier
  cargo npugate -E 'op(gemm) & m >= 256'     what is known of tests, not their names
  cargo npugate --rerun failed               what did not succeed before
  cargo npugate -p tiny-llama verify --full  one model as a whole, the long set
  cargo npugate diagnosis -p smollm2-135m    where a model drifts, by layer
  cargo npugate --junit report.xml           a JUnit report for CI
  cargo npugate --results a.jsonl            what happens, as JSON lines
  cargo npugate merge a.jsonl b.jsonl        the parts of a run as one
  cargo npugate run 'Once upon a' -n 32      generate text
  cargo npugate review                       accept or reject new baselines

Adapters:
  An adapter is a package of the workspace with this in its Cargo.toml:

    [package.metadata.npugate]
    gate = \"gate\"       # its test target, built with `harness = false`
    model = \"my-model\"  # what -p may call it too, if not the package's name
    default = false     # runs only with -p or --workspace

Expressions (-E):
  model, package, kind (the phase), test (the name) and text attributes such
  as op and tier take op(gemm), op(=whole), op(~part), op(/regex/), op(#glob*);
  a plain word is a part of a model, package or name, and else the whole value.
  Numbers such as m or layer are compared: = != < <= > >=. Join them with
  & (and), | (or), - (but not), ! (not), parentheses, all() and none().

Parts of a run (--partition):
  hash:M/N goes by each test's model and name: a test stays in its shard when
  others come and go, sizes differ by chance. slice:M/N deals tests out in
  turn: even sizes, and a new test moves those after it.

Configuration:
  .config/npugate.toml at the workspace's root has profiles of settings: -P NAME
  chooses one, `default` holds otherwise and is inherited. Options win over it.

    [profile.default]
    timeout = \"30m\"

    [[profile.default.overrides]]    # the first that sets something holds
    filter = 'op(gemm) & m >= 2048'
    timeout = \"1h\"

    [[profile.default.waivers]]      # a failure within the limit is waived
    filter = 'test(=block::layer07::R)'
    metric = \"R_p95\"
    limit = 4.5
    reason = \"why, and what is to come of it\"
    expires = 2027-01-31             # the last day

    [profile.ci]
    inherits = \"default\"
    fail-fast = false

  `cargo npugate show-config [TEST]` shows what holds and where it comes from.

Baselines:
  A run compares its figures with the accepted ones in baseline/DEVICE.json
  beside a model's goldens. What is new, better, worse or gone waits in
  DEVICE.json.new until `cargo npugate review`, `accept` or `reject`.
  `--baseline ignore` compares and writes nothing. `--baseline save` compares
  nothing and accepts every figure of a test that passes, within the noise or
  not; a test that the adapter no longer has leaves the baseline. It is for a
  change that is meant, and refused on CI.

  Goldens that no manifest names, files that are no baseline of their model and
  folders of models that no adapter has are unreferenced: a run of every test
  warns of them, `--unreferenced reject` ends it with 124, and `cargo npugate
  unreferenced` lists them.

Environment:
  NPUGATE_UPDATE       new (default): pending changes are written beside the
                       baseline; no (default where CI is set): nothing is;
                       always: what changed beyond the noise enters the
                       baseline at once. The run has still compared, and ends
                       with 120 where it got worse: --baseline save does not
  NPUGATE_PROFILE      the profile, where -P does not say
  NPUGATE_CONFIG       the configuration, where --config does not say
  NPUGATE_WEIGHTS_DIR  where weights are looked for and put, in place of the
                       user's cache folder
  NPUGATE_FIXTURES     a folder with a folder of goldens and baselines for each
                       adapter, in place of the adapters' own
  NPUGATE_PYTHON       the Python of `fetch` and `record` [default: python3]
  GITHUB_ACTIONS       true: an annotation for each test that did not pass, and
                       a summary appended to the file of GITHUB_STEP_SUMMARY
  CARGO, CARGO_TARGET_DIR, CARGO_TERM_COLOR  as in cargo
  NO_COLOR, CLICOLOR, CLICOLOR_FORCE  colours, where --color says nothing";

/// After `completions --help`.
pub const COMPLETIONS: &str = "\
To install them, for
  bash:
    cargo npugate completions bash > ~/.local/share/bash-completion/completions/cargo-npugate
  zsh, in a DIR of $fpath; cargo's own completion then has `cargo npugate` too:
    cargo npugate completions zsh > DIR/_cargo-npugate
  fish:
    cargo npugate completions fish > ~/.config/fish/completions/cargo-npugate.fish
  PowerShell:
    cargo npugate completions powershell >> $PROFILE
  elvish:
    cargo npugate completions elvish >> ~/.config/elvish/rc.elv

Except in zsh they complete `cargo-npugate`, which is the same program.";

/// After `man --help`.
pub const MAN: &str = "\
Examples:
  cargo npugate man | man -l -                the main page
  cargo npugate man ~/.local/share/man/man1   all pages, where `man cargo-npugate` and
                                              `cargo help npugate` find them";

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
