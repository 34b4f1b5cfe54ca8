// A gate binary that follows the protocol and does nothing else. The environment
// variable `FAKE_GATE` says what its tests do, in one line each:
// `PACKAGE TEST BEHAVIOUR [COSINE [KEY=VALUE]...]`, with the test's attributes. Without
// the variable, the tests are those below. Lines `PACKAGE !TRAIT` are about the gate
// itself: `!exclusive`, `!missing`, `!silent`, `!chatty`, `!dies-at-end`,
// `!hangs-at-start`, `!double` (of a device, whose figures are never a baseline).

use std::{
    env,
    fs::OpenOptions,
    io::Write,
    path::PathBuf,
    process::{self, ExitCode},
};

const PACKAGE: &str = env!("CARGO_PKG_NAME");

const DEFAULT: &str = "
alpha kernel::gemm pass 0.9959
alpha kernel::softmax pass
alpha block::layer00::cosine pass
alpha layers::drift drift
alpha tokens::p00 pass
alpha tokens::p01 full
beta kernel::gemm pass
offside kernel::gemm pass
";

struct Test {
    name: String,
    behaviour: String,
    cosine: String,
    attributes: Vec<String>,
}

fn tests() -> Vec<Test> {
    let script = env::var("FAKE_GATE").unwrap_or_else(|_| DEFAULT.to_owned());
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    script
        .lines()
        .map(words)
        .filter(|words| words.len() >= 3 && words[0] == PACKAGE)
        .map(|words| Test {
            name: words[1].clone(),
            behaviour: words[2].clone(),
            cosine: words.get(3).cloned().unwrap_or_else(|| "0.999".to_owned()),
            attributes: words.into_iter().skip(4).collect(),
        })
        .collect()
}

fn model() -> String {
    if PACKAGE == "beta" { "beta-7b".to_owned() } else { PACKAGE.to_owned() }
}

#[derive(Default)]
struct Args {
    filters: Vec<String>,
    skip: Vec<String>,
    phases: Vec<String>,
    settings: Vec<String>,
    device: Option<String>,
    prompt: Option<String>,
    exact: bool,
    full: bool,
    smoke: bool,
    ignores_baseline: bool,
    require_weights: bool,
    include_ignored: bool,
    only_ignored: bool,
    list: bool,
    describe: bool,
}

impl Args {
    fn parse() -> Self {
        let ignores_baseline = env::var("NPUGATE_BASELINE").is_ok_and(|value| value == "ignore");
        let mut args = Self { ignores_baseline, ..Self::default() };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("a value");
            match word.as_str() {
                "--describe" => args.describe = true,
                "--list" => args.list = true,
                "--format" => assert_eq!(value(), "json"),
                "--skip" => args.skip.push(value()),
                "--exact" => args.exact = true,
                "--phase" => args.phases.push(value()),
                "--full" => args.full = true,
                "--smoke" => args.smoke = true,
                "--baseline" => args.ignores_baseline = value() == "ignore",
                "--require-weights" => args.require_weights = true,
                "--ignored" => args.only_ignored = true,
                "--include-ignored" => args.include_ignored = true,
                "--no-capture" => {}
                "--device" => args.device = Some(value()),
                "--set" | "--toolchain" => args.settings.push(value()),
                "--generate" => args.prompt = Some(value()),
                "--max-tokens" => assert!(value().parse::<usize>().is_ok()),
                flag if flag.starts_with('-') => {
                    eprintln!("error: unknown option `{flag}`");
                    process::exit(2);
                }
                _ => args.filters.push(word),
            }
        }
        args
    }

    fn admits(&self, name: &str) -> bool {
        let matches = |text: &String| if self.exact { name == text } else { name.contains(text) };
        let phase = name.split("::").next().unwrap_or_default();
        (self.filters.is_empty() || self.filters.iter().any(matches))
            && !self.skip.iter().any(matches)
            && (self.phases.is_empty() || self.phases.iter().any(|wanted| wanted == phase))
    }

    fn refuse_unknown_names(&self) {
        let known = |name: &String| tests().iter().any(|test| test.name == *name);
        if let Some(name) = self.filters.iter().find(|name| self.exact && !known(name)) {
            eprintln!("error: no test is named `{name}`");
            process::exit(4);
        }
    }

    fn device(&self) -> String {
        let device = self.device.clone().unwrap_or_else(|| "emu".to_owned());
        self.settings.iter().fold(device, |device, setting| format!("{device}+{setting}"))
    }

    /// Returns, as JSON, why a test is turned off, if it is.
    fn ignore(&self, test: &Test) -> Option<String> {
        match test.behaviour.as_str() {
            "full" if !self.full => Some(r#"{"kind":"full"}"#.to_owned()),
            "weights" if weights_path().is_none() && !self.require_weights => Some(format!(
                r#"{{"kind":"no_weights","command":"cargo npugate fetch {}"}}"#,
                model()
            )),
            _ => None,
        }
    }

    fn runs(&self, test: &Test) -> bool {
        let ignored = self.ignore(test).is_some();
        self.include_ignored || (ignored == self.only_ignored)
    }
}

/// `FAKE_WEIGHTS` is `BYTES SHA256 SOURCE`, for the first adapter only.
fn weights() -> Option<Vec<String>> {
    let text = env::var("FAKE_WEIGHTS").ok().filter(|_| PACKAGE == "alpha")?;
    Some(text.split_whitespace().map(str::to_owned).collect())
}

fn weights_path() -> Option<PathBuf> {
    let folder = env::var_os("NPUGATE_WEIGHTS_DIR")?;
    let path = PathBuf::from(folder).join(model()).join("weights.bin");
    path.exists().then_some(path)
}

/// Returns whether the script has this line for the gate itself.
fn does(what: &str) -> bool {
    let script = env::var("FAKE_GATE").unwrap_or_default();
    script.lines().any(|line| line.trim() == format!("{PACKAGE} !{what}"))
}

/// Counts the earlier runs of a test, which are kept in the file `FAKE_STATE`.
fn ran_before(name: &str) -> usize {
    let path = env::var_os("FAKE_STATE").expect("FAKE_STATE names a file");
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let line = format!("{PACKAGE} {name}\n");
    let count = before.matches(&line).count();
    std::fs::write(path, before + &line).expect("state");
    count
}

/// Prints a mark on standard error, as a real gate does for its caller.
fn mark(word: &str, name: &str) {
    if env::var_os("NPUGATE_MARKS").is_some() {
        std::io::stdout().flush().expect("stdout");
        eprintln!("\u{1e}npugate:{word} {name}");
    }
}

fn describe(args: &Args) {
    let weights = match weights() {
        None => "null".to_owned(),
        Some(words) => {
            let path = weights_path().map_or("null".into(), |path| format!("{path:?}"));
            format!(
                r#"{{"file":"weights.bin","bytes":{},"sha256":"{}","source":"{}","path":{path}}}"#,
                words[0], words[1], words[2]
            )
        }
    };
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo's variables");
    let fixtures = PathBuf::from(folder).join("../fixtures").join(PACKAGE);
    let access = if does("exclusive") { "exclusive" } else { "shared" };
    let availability = if does("missing") {
        r#"{"kind":"missing","reason":"there is no NPU in this machine"}"#
    } else {
        r#"{"kind":"available"}"#
    };
    let baselines = if does("double") {
        r#"{"kind":"refused","reason":"the device is a double"}"#
    } else {
        r#"{"kind":"allowed"}"#
    };
    println!(
        r#"{{"model":"{}","device":"{}","configuration":"fake NPU","fixtures":{fixtures:?},"weights":{weights},"access":"{access}","availability":{availability},"baselines":{baselines}}}"#,
        model(),
        args.device()
    );
}

/// Returns the attributes that the name of a kernel test gives: `kernel::OP::MxKxN::TIER`.
fn in_name(name: &str) -> Vec<String> {
    let segments: Vec<_> = name.split("::").collect();
    let ["kernel", op, rest @ ..] = segments.as_slice() else { return Vec::new() };
    let sizes = rest.first().into_iter().flat_map(|shape| shape.split('x'));
    let sizes = ["m", "k", "n"].into_iter().zip(sizes);
    let mut all = vec![format!(r#""op":"{op}""#)];
    all.extend(sizes.map(|(size, number)| format!(r#""{size}":{number}"#)));
    all.extend(rest.get(1).map(|tier| format!(r#""tier":"{tier}""#)));
    all
}

fn list(args: &Args) {
    args.refuse_unknown_names();
    let attribute = |pair: &String| {
        let (key, value) = pair.split_once('=').expect("KEY=VALUE");
        let number = value.parse::<u64>().is_ok();
        if number { format!(r#""{key}":{value}"#) } else { format!(r#""{key}":"{value}""#) }
    };
    let entry = |test: &Test| {
        let ignored = args.ignore(test).map(|ignore| format!(r#","ignored":{ignore}"#));
        let (name, ignored) = (&test.name, ignored.unwrap_or_default());
        let mut known: Vec<_> = test.attributes.iter().map(attribute).collect();
        if known.is_empty() {
            known = in_name(name);
        }
        format!(r#"{{"name":"{name}"{ignored},"attributes":{{{}}}}}"#, known.join(","))
    };
    let tests = tests();
    let tests: Vec<_> = tests.iter().filter(|test| args.admits(&test.name)).map(entry).collect();
    println!(
        r#"{{"schema":"npugate-listing/1","model":"{}","tests":[{}]}}"#,
        model(),
        tests.join(",")
    );
}

fn event(line: &str) {
    let Some(path) = env::var_os("NPUGATE_EVENTS").map(PathBuf::from) else { return };
    let open = OpenOptions::new().append(true).create(true).open(&path);
    if let Err(error) = open.and_then(|mut file| writeln!(file, "{line}")) {
        eprintln!("error: {} cannot be written: {error}", path.display());
        process::exit(110);
    }
}

/// Returns the metrics of a test as JSON.
fn metrics(test: &Test) -> String {
    let cosine = |name: &str, slice: &str, value: &str, more: &str| {
        format!(
            r#"{{"name":"{name}",{slice}"value":{value},"unit":"cosine","direction":"higher"{more}}}"#
        )
    };
    if test.behaviour != "drift" {
        return cosine("cosine", "", &test.cosine, r#","limit":0.99"#);
    }
    let layer = |(layer, value): (usize, &&str)| {
        cosine("cosine_median", &format!(r#""slice":"layer{layer:02}","#), value, "")
    };
    ["0.999", "0.99", "0.9"].iter().enumerate().map(layer).collect::<Vec<_>>().join(",")
}

/// Runs one test and returns whether it passed.
fn run_one(test: &Test, args: &Args) -> bool {
    let name = &test.name;
    event(&format!(r#"{{"event":"test_started","name":"{name}"}}"#));
    println!("test {name} ...");
    mark("begin", name);
    println!("the device is warm, said {name}");
    let outcome = match test.behaviour.as_str() {
        "fail" => r#"{"kind":"failed"}"#,
        "smoke" if !args.smoke => r#"{"kind":"failed"}"#,
        "regressed" if !args.ignores_baseline => r#"{"kind":"regressed"}"#,
        "invalid" => r#"{"kind":"invalid","reason":"no golden"}"#,
        "skipped" => r#"{"kind":"skipped","reason":"no device"}"#,
        "crash" => {
            eprintln!("about to abort in {name}");
            process::abort();
        }
        "exit" => process::exit(3),
        "flaky" if ran_before(name) < 1 => r#"{"kind":"failed"}"#,
        // Long enough to see whether two runs or two models overlap.
        "slow" => {
            std::thread::sleep(std::time::Duration::from_millis(400));
            r#"{"kind":"passed"}"#
        }
        // Longer than any test of this command waits for.
        "hang" => {
            std::thread::sleep(std::time::Duration::from_secs(60));
            r#"{"kind":"failed"}"#
        }
        "garbage" => {
            event("this is not an event");
            r#"{"kind":"passed"}"#
        }
        _ => r#"{"kind":"passed"}"#,
    };
    mark("end", name);
    event(&format!(
        r#"{{"event":"test_finished","record":{{"name":"{name}","outcome":{outcome},"verdict":"cosine {}, the limit is 0.99","metrics":[{}],"seconds":0.01}}}}"#,
        test.cosine,
        metrics(test)
    ));
    outcome.contains("passed")
}

fn generate(args: &Args, prompt: &str) {
    print!("{prompt} there was a gate.");
    event(&format!(
        r#"{{"event":"generated","text":"there was a gate.","prompt_tokens":{},"tokens":5,"time_to_first_token_ms":12.5,"tokens_per_second":80.0}}"#,
        prompt.split_whitespace().count() + args.settings.len()
    ));
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.device.as_deref() == Some("none") {
        eprintln!("error: {} does not run on device `none`; it runs on emu", model());
        return ExitCode::from(2);
    }
    if args.describe {
        if does("chatty") {
            println!("hello from a driver");
        }
        describe(&args);
        return ExitCode::SUCCESS;
    }
    if args.list {
        list(&args);
        return ExitCode::SUCCESS;
    }
    if let Some(prompt) = &args.prompt {
        match prompt.as_str() {
            "refuse" => {
                eprintln!("error: this prompt has no next token");
                return ExitCode::from(101);
            }
            "abort" => process::abort(),
            _ => {}
        }
        generate(&args, prompt);
        return ExitCode::SUCCESS;
    }
    if does("silent") {
        eprintln!("no driver");
        return ExitCode::FAILURE;
    }
    if does("hangs-at-start") {
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
    let tests = tests();
    let tests: Vec<_> =
        tests.iter().filter(|test| args.admits(&test.name) && args.runs(test)).collect();
    args.refuse_unknown_names();
    event(&format!(
        r#"{{"event":"run_started","schema":"npugate-events/1","model":"{}","device":"{}","configuration":"fake NPU","planned":{}}}"#,
        model(),
        args.device(),
        tests.len()
    ));
    let good = tests.iter().filter(|test| run_one(test, &args)).count() == tests.len();
    if does("dies-at-end") {
        process::abort();
    }
    event(
        r#"{"event":"run_finished","summary":{"passed":0,"failed":0,"regressed":0,"invalid":0,"skipped":0,"ignored":0,"waived":0},"seconds":0.1}"#,
    );
    if good { ExitCode::SUCCESS } else { ExitCode::from(101) }
}
