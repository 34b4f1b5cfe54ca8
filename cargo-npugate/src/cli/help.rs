//! What `--help` says beyond the options.

/// After `-h`.
pub const SHORT: &str = "\
Examples:
  cargo npugate                       every test of every adapter
  cargo npugate kernel gemm           the GEMM kernels
  cargo npugate -p tiny-llama verify  one model as a whole
  cargo npugate run 'Once upon a'     generate text

`cargo npugate --help` says more; `cargo npugate COMMAND --help` is about a command.";

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

/// After `--help`.
pub const LONG: &str = "\
Examples:
  cargo npugate                              every test of every adapter
  cargo npugate kernel gemm --skip high      the GEMM kernels but the high tier
  cargo npugate -E 'op(gemm) & m >= 256'     what is known of tests, not their names
  cargo npugate --rerun failed               what did not succeed before
  cargo npugate -p tiny-llama verify --full  one model as a whole, the long set
  cargo npugate diagnosis -p smollm2-135m    where a model drifts, by layer
  cargo npugate --junit report.xml           a JUnit report for CI
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

Environment:
  NPUGATE_UPDATE       new (default): pending changes are written beside the
                       baseline; no (default where CI is set): nothing is;
                       always: the baseline itself is written
  NPUGATE_PROFILE      the profile, where -P does not say
  NPUGATE_CONFIG       the configuration, where --config does not say
  NPUGATE_WEIGHTS_DIR  where weights are looked for and put, in place of the
                       user's cache folder
  NPUGATE_FIXTURES     a folder with a folder of goldens and baselines for each
                       adapter, in place of the adapters' own
  NPUGATE_PYTHON       the Python of `fetch` and `record` [default: python3]
  CARGO, CARGO_TARGET_DIR, CARGO_TERM_COLOR, NO_COLOR  as in cargo

Exit codes:
    0  every test that ran passed, and at least one ran
    2  the command line makes no sense
    4  no test matched, or none could run
   94  an expression that cannot be read, or asks for what no test has
   96  no adapter, no weights, a gate that does not keep to the protocol
  100  a test failed or crashed
  101  the adapters did not build
  102  `cargo metadata` failed
  104  a gate could not list its tests
  110  a file could not be written
  119  no test failed, but one could not judge or could not run
  120  no test failed, but one got worse than its baseline, or is gone
  121  `review` without a terminal, and changes are pending
  123  interrupted";
