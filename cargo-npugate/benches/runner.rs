//! The cost of the command itself: listing tests, and running tests that do nothing, in a
//! generated workspace of 12 adapters with 250 tests each.
//!
//! `cargo bench -p cargo-npugate --bench runner`. The gates are real gates of this checkout's
//! `npugate`, and each kernel is a table of sixteen numbers. The command, nextest and plain
//! cargo take turns, so that a busy machine slows down all of them. With `--check`, missing a
//! target is a failure: 0.5 s for a list, 2 ms of the run for each test.

#![allow(clippy::unwrap_used, reason = "a benchmark may end if it cannot continue")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

const ADAPTERS: usize = 12;
const TESTS: usize = 250;
const ROUNDS: usize = 7;

/// Seconds for a list, milliseconds for a test.
const LIST_TARGET: f64 = 0.5;
const TEST_TARGET: f64 = 2.0;

const GATE: &str = r#"
use npugate::{Adapter, Context, DType, Draw, Gates, Kernel, KernelId, RunError, SettingsError, Tensor, Tolerance};

struct Gate;
struct Nothing(usize);

impl Adapter for Gate {
    fn name(&self) -> &str {
        env!("CARGO_PKG_NAME")
    }

    fn gates(&self, _: &Context) -> Result<Gates, SettingsError> {
        Ok((0..@TESTS@).fold(Gates::new(), |gates, index| gates.kernel(Nothing(index))))
    }
}

impl Kernel for Nothing {
    fn id(&self) -> KernelId {
        KernelId::new("nothing", self.0.to_string())
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance { rtol: 0.0, atol: 0.0 }
    }

    fn inputs(&self, draw: Draw) -> Option<Vec<Tensor>> {
        let value = |index: usize| match draw {
            Draw::Registry { .. } => index as f32 - 7.5,
            Draw::Integers { .. } => (index % 3) as f32 - 1.0,
        };
        Some(vec![Tensor::new([16], DType::Bf16, (0..16).map(value).collect()).ok()?])
    }

    fn reference(&self, inputs: &[Tensor]) -> Result<Tensor, RunError> {
        Ok(Tensor::new([16], DType::F32, inputs[0].values().to_vec())?)
    }

    fn run(&self, _: &Context, inputs: &[Tensor]) -> Result<Tensor, RunError> {
        Ok(Tensor::new([16], DType::Bf16, inputs[0].values().to_vec())?)
    }
}

fn main() -> std::process::ExitCode {
    npugate::main(Gate)
}
"#;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().collect();
    // `cargo test --benches` only checks that it builds.
    if !args.iter().any(|arg| arg == "--bench") {
        return ExitCode::SUCCESS;
    }
    let workspace = generate();
    let npugate = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-npugate"));
        command.arg("npugate").args(line.split(' ')).args(["--cargo-profile", "dev", "--offline"]);
        command.env("NPUGATE_UPDATE", "no");
        command
    };
    let cargo = |line: &str| {
        let mut command = Command::new(env!("CARGO"));
        command.args(line.split(' ')).arg("--offline");
        command
    };
    eprintln!("building {ADAPTERS} adapters with {TESTS} tests each");
    time(&workspace, npugate("list"));

    let lists = contest(
        &workspace,
        &[
            ("cargo npugate list", &|| npugate("list")),
            ("cargo nextest list", &|| cargo("nextest list")),
            ("cargo test --no-run", &|| cargo("test --no-run")),
        ],
    );
    let runs = contest(
        &workspace,
        &[
            ("cargo npugate -j1", &|| npugate("-j1")),
            ("cargo npugate -j2", &|| npugate("-j2")),
            ("cargo test", &|| cargo("test --no-fail-fast")),
        ],
    );
    // A process for each test is slow, so this runs once and for one adapter.
    let nextest = time(&workspace, cargo("nextest run -p adapter00"));
    println!("\n{:<22} {:>8}", "listing 3,000 tests", "best");
    print(&lists, |seconds| format!("{seconds:>7.3}s"));
    println!("\n{:<22} {:>8}  each test", "running 3,000 tests", "best");
    let each = |seconds: f64, tests: usize| seconds * 1e3 / tests as f64;
    print(&runs, |seconds| format!("{seconds:>7.3}s  {:.3} ms", each(seconds, ADAPTERS * TESTS)));
    let line = nextest.map_or_else(
        || "not here".to_owned(),
        |seconds| format!("{seconds:>7.3}s  {:.3} ms ({TESTS} tests)", each(seconds, TESTS)),
    );
    println!("{:<22} {line}", "cargo nextest run");

    let list = lists[0].1.unwrap_or(f64::INFINITY);
    let test = each(runs[0].1.unwrap_or(f64::INFINITY), ADAPTERS * TESTS);
    println!(
        "\ntargets: list {list:.3} s of {LIST_TARGET} s, a test {test:.3} ms of {TEST_TARGET} ms"
    );
    let met = list < LIST_TARGET && test < TEST_TARGET;
    if met || !args.iter().any(|arg| arg == "--check") {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

type Contestant<'a> = (&'static str, &'a dyn Fn() -> Command);

/// The fastest of several turns of each contestant, which was disturbed least. `None` for a
/// contestant that cannot run here.
fn contest(workspace: &Path, contestants: &[Contestant<'_>]) -> Vec<(&'static str, Option<f64>)> {
    let mut best: Vec<_> = contestants.iter().map(|(name, _)| (*name, None::<f64>)).collect();
    for round in 0..=ROUNDS {
        for (at, (_, command)) in contestants.iter().enumerate() {
            let seconds = time(workspace, command());
            // The first turn warms caches.
            if round > 0
                && let Some(seconds) = seconds
            {
                best[at].1 = Some(best[at].1.map_or(seconds, |best| best.min(seconds)));
            }
        }
    }
    best
}

fn print(rates: &[(&'static str, Option<f64>)], show: impl Fn(f64) -> String) {
    for (name, seconds) in rates {
        println!("{name:<22} {}", seconds.map_or_else(|| "not here".to_owned(), &show));
    }
}

/// Seconds for a command that succeeds.
fn time(workspace: &Path, mut command: Command) -> Option<f64> {
    command.current_dir(workspace).env("CARGO_TARGET_DIR", workspace.join("target"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let output = command.output().unwrap();
    let elapsed: Duration = start.elapsed();
    if output.status.success() {
        return Some(elapsed.as_secs_f64());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    eprintln!("{command:?}: {}\n{stderr}", output.status);
    None
}

/// The workspace, kept between runs of this benchmark so that it is built once.
fn generate() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("twelve-adapters");
    let write = |path: PathBuf, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // A file that is already the same keeps its time.
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            fs::write(path, text).unwrap();
        }
    };
    write(
        folder.join("Cargo.toml"),
        "[workspace]\nresolver = \"3\"\nmembers = [\"adapter*\"]\n[profile.dev]\ndebug = false\n",
    );
    for index in 0..ADAPTERS {
        let package = folder.join(format!("adapter{index:02}"));
        let manifest = format!(
            "[package]\nname = \"adapter{index:02}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             [dependencies]\nnpugate = {{ path = \"{}\" }}\n\
             [[test]]\nname = \"gate\"\nharness = false\n\
             [package.metadata.npugate]\ngate = \"gate\"\n",
            here.join("../harness").display()
        );
        write(package.join("Cargo.toml"), &manifest);
        write(package.join("src/lib.rs"), "");
        write(package.join("tests/gate.rs"), &GATE.replace("@TESTS@", &TESTS.to_string()));
    }
    // The versions of this checkout, so that no version has to be looked up.
    if !folder.join("Cargo.lock").exists() {
        fs::copy(here.join("../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    }
    folder
}
