//! Which tests run: expressions, tests that are turned off, shards, tests that failed before.

mod support;

use support::Scene;

const TESTS: &str = "alpha kernel::gemm pass
alpha kernel::softmax fail
alpha tokens::p00 full
beta kernel::gemm pass
beta tokens::p00 pass";

#[test]
fn an_expression_selects_tests() {
    let scene = Scene::with_tests(TESTS);
    let run = scene.run_words(["-E", "kind(kernel) - test(softmax)", "-v"]);
    run.expect(0, &["kernel::gemm", "Summary 2 tests run in"]).expect_none(&["softmax", "p00"]);
    let run = scene.run_words(["list", "-E", "model(beta)", "-E", "test(=kernel::softmax)"]);
    assert_eq!(
        run.stdout, "alpha    kernel::softmax\nbeta-7b  kernel::gemm\nbeta-7b  tokens::p00\n",
        "{run}"
    );
    // Filters and expressions must both match.
    let run = scene.run_words(["list", "softmax", "-E", "kind(kernel)"]);
    assert_eq!(run.stdout, "alpha    kernel::softmax\n", "{run}");
}

#[test]
fn an_expression_can_use_attributes_of_tests() {
    let scene = Scene::with_tests(
        "alpha kernel::a pass 0.999 op=gemm m=256
alpha kernel::b fail 0.999 op=gemm m=64
alpha kernel::c fail 0.999 op=softmax
beta kernel::a pass 0.999 op=gemm m=2048",
    );
    let run = scene.run_words(["-E", "op(gemm) & m >= 256"]);
    run.expect(0, &["Summary 2 tests run in", "2 passed"]);
    let run = scene.run_words(["list", "-E", "op(gemm) & mm >= 256"]);
    run.expect(94, &["error: no test here has `mm`; did you mean `m`?\n    op(gemm) & mm >= 256\n               ^^\n"]);
    let run = scene.run_words(["list", "-E", "op(gem)"]);
    run.expect(94, &["error: no test here has `op(gem)`; op is gemm or softmax\n"]);
}

#[test]
fn a_typo_in_an_expression_is_pointed_at() {
    let scene = Scene::with_tests(TESTS);
    let run = scene.run_words(["-E", "kind(kernle)"]);
    run.expect(
        94,
        &["error: `kernle` is not a phase; did you mean `kernel`?\n    kind(kernle)\n         ^^^^^^\n"],
    );
    run.expect_none(&["Compiling"]);
    let run = scene.run_words(["-E", "kind(kernel) & mdel(alpha)"]);
    run.expect(94, &["error: no test here has `mdel`; did you mean `model`?\n", "^^^^\n"]);
    let run = scene.run_words(["list", "-E", "model(gamma)"]);
    run.expect(94, &["error: no test here has `model(gamma)`; model is ", "alpha", "beta-7b"]);
    assert_eq!(run.stdout, "");
    let run = scene.run_words(["-E", "model(beta) & test(softmax)"]);
    run.expect(4, &["error: no test matches `model(beta) & test(softmax)`; "]);
}

#[test]
fn tests_that_are_turned_off_run_as_in_nextest() {
    let scene = Scene::with_tests(TESTS);
    let beside = |which| scene.run(&format!("tokens -p alpha -p beta --run-ignored {which}"));
    beside("default").expect(0, &["1 passed, 1 ignored"]);
    beside("only").expect(0, &["Summary 1 test run", "1 passed\n"]);
    beside("all").expect(0, &["Summary 2 tests run", "2 passed"]);
    let run = scene.run("--ignored verify --run-ignored all");
    run.expect(2, &["error: --ignored, --include-ignored and --run-ignored contradict each other: give only one\n"]);
    scene.run("--ignored --run-ignored only tokens").expect(0, &["Summary 1 test run"]);
}

#[test]
fn shards_run_every_test_once() {
    let scene = Scene::with_tests(TESTS);
    for kind in ["hash", "slice"] {
        let shard = |number| scene.run(&format!("list --partition {kind}:{number}/2"));
        let both = shard(1).stdout + &shard(2).stdout;
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut both: Vec<_> = both.lines().map(words).collect();
        let mut all: Vec<_> = scene.run("list").stdout.lines().map(words).collect();
        both.sort_unstable();
        all.sort_unstable();
        assert_eq!(both, all, "{kind}");
    }
    // gemm of both models, but the tokens of neither: tests that are turned off are dealt out
    // separately.
    scene.run("--partition slice:1/2 -v").expect(0, &["Summary 2 tests run", "1 ignored"]);
    scene.run("--partition slice:2/2").expect(100, &["kernel::softmax", "Summary 2 tests run"]);
    scene.run("--partition slice:9/9").expect(4, &["error: slice:9/9 has none of the 5 tests"]);
    scene.run("--partition hash:0/4").expect(2, &["there is no shard 0 of 4"]);
}

#[test]
fn a_failed_test_is_rerun_until_it_passes() {
    let mut scene = Scene::with_tests(TESTS);
    scene.set("CARGO_TARGET_DIR", scene.path("target").display().to_string());
    scene.run("--rerun failed").expect(4, &["error: no test is known to have failed"]);
    scene.run("").expect(100, &["Summary 4 tests run", "1 failed"]);
    let run = scene.run("list --rerun failed");
    assert_eq!(run.stdout, "alpha    kernel::softmax\n", "{run}");
    scene.run("--rerun failed").expect(100, &["Summary 1 test run", "1 failed"]);
    scene.run("--rerun failed tokens").expect(4, &["error: none of the tests that failed before"]);
    // A run of other tests does not change which ones failed.
    scene.run("gemm").expect(0, &["2 passed"]);
    scene.set("FAKE_GATE", "alpha kernel::softmax pass\nbeta kernel::gemm pass");
    scene.run("--rerun failed").expect(0, &["Summary 1 test run", "1 passed"]);
    scene.run("--rerun failed").expect(4, &["error: no test is known to have failed"]);
}

#[test]
fn a_failed_test_that_is_gone_is_reported_once() {
    let mut scene = Scene::with_tests(TESTS);
    scene.set("CARGO_TARGET_DIR", scene.path("target").display().to_string());
    scene.run("kernel").expect(100, &["1 failed"]);
    scene.set("FAKE_GATE", "alpha kernel::gemm pass\nbeta kernel::gemm pass");
    let gone = "warning: kernel::softmax of alpha failed before and no longer exists\n";
    scene.run("--rerun failed").expect(4, &[gone]);
    scene.run("--rerun failed").expect(4, &["no test is known"]).expect_none(&["warning"]);
}
