use super::super::Expression;
use super::*;

/// The error as it is shown: the message, the expression, the marks.
fn shown(text: &str) -> String {
    text.parse::<Expression>().unwrap_err().to_string()
}

#[test]
fn an_error_points_at_what_is_wrong() {
    for (text, message, marks) in [
        ("kind(kernle) & m >= 2", "`kernle` is not a phase; did you mean `kernel`?", "     ^^^^^^"),
        ("(op(gemm) & m = 1", "this parenthesis is not closed", "^"),
        ("op(gemm", "this parenthesis is not closed", "  ^"),
        ("op(gemm))", "this parenthesis was not opened", "        ^"),
        ("m >=", "expected a whole number, as in `m >= 256`, found the end", "    ^"),
        (
            "op = gemm",
            "expected a whole number, as in `op = 256`, found `gemm`; to match text, write `op(gemm)`",
            "     ^^^^",
        ),
        ("m >= 2k", "expected a whole number, as in `m >= 256`", "     ^^"),
        ("m >= 1.5", "expected a whole number, as in `m >= 256`", "     ^"),
        (
            "m < 99999999999999999999",
            "`99999999999999999999` is too large: expected a whole number, as in `m < 256`",
            "    ^^^^^^^^^^^^^^^^^^^^",
        ),
        ("model = tiny", "`model` is text: write `model(=TEXT)`", "^^^^^"),
        ("m", "expected `(` or a comparison such as `>=` after `m`, found the end", " ^"),
        ("op(a) op(b)", "expected `&`, `|`, `-` or the end, found `op`", "      ^^"),
        (
            "op(a) &",
            "expected `op(gemm)`, `m >= 256`, `!` or a parenthesis, found the end",
            "       ^",
        ),
        ("", "expected `op(gemm)`, `m >= 256`, `!` or a parenthesis, found the end", "^"),
        ("op()", "expected text in the parentheses, as in `op(TEXT)`", "  ^^"),
        ("op(= )", "expected text in the parentheses, as in `op(TEXT)`", "  ^^^^"),
        ("test(/a", "this regular expression has no `/` at its end", "     ^"),
        ("test(/a/ b)", "expected `)` after the regular expression, found `b`", "         ^"),
        ("all(1)", "expected `)`, found `1`", "    ^"),
    ] {
        assert_eq!(shown(text), format!("{message}\n    {text}\n    {marks}"), "{text}");
    }
}

#[test]
fn an_invalid_regular_expression_is_shown_whole() {
    let shown = shown("test(/(a/)");
    assert!(shown.starts_with("this is not a valid regular expression: "), "{shown}");
    assert!(shown.ends_with("\n    test(/(a/)\n         ^^^^"), "{shown}");
}

#[test]
fn nesting_without_end_is_refused() {
    for text in ["(".repeat(100_000), "!".repeat(100_000), "not ".repeat(100_000)] {
        let error = text.parse::<Expression>().unwrap_err();
        assert_eq!(error.message, "nested deeper than 64 levels");
    }
}

#[test]
fn words_that_begin_like_an_operator_are_names() {
    for text in ["order(a)", "note(a)", "and_more = 1", "android(a) or nothing(b)"] {
        assert!(text.parse::<Expression>().is_ok(), "{text}");
    }
}

#[test]
fn the_operators_of_programming_languages_are_understood() {
    for (typed, meant) in [
        ("m == 4", "m = 4"),
        ("m=4&&layer<2", "m = 4 & layer < 2"),
        ("m = 4 || layer < 2", "m = 4 | layer < 2"),
        ("m = 4 - layer < 2", "m = 4 & !layer < 2"),
        ("model( smollm2 )", "model(~smollm2)"),
    ] {
        assert_eq!(tree(typed).unwrap().to_string(), meant);
        assert_eq!(tree(typed), tree(meant), "{typed}");
    }
}

#[test]
fn the_text_of_a_tree_is_parsed_as_that_tree() {
    let at = || Place(0..0);
    let text = |field, matcher| Tree::Predicate(Predicate::Text { field, matcher }, at());
    let number = |comparison, number| {
        Tree::Predicate(Predicate::Number { attribute: "m".into(), comparison, number }, at())
    };
    let model = || text(Field::Model, Matcher::Equal("a".into()));
    let odd = || text(Field::Test, Matcher::Contains(r" ((a\) ".into()));
    let regex = || text(Field::Kind, Matcher::regex(r"a/b\\/\d\)").unwrap());
    let glob = || text(Field::Attribute("op".into()), Matcher::glob("g?m*)").unwrap());
    let not = |tree| Tree::Not(Box::new(tree));
    let trees = [
        Tree::All(vec![]),
        Tree::Any(vec![]),
        not(not(Tree::Any(vec![]))),
        odd(),
        regex(),
        Tree::All(vec![model(), odd(), glob()]),
        Tree::Any(vec![Tree::All(vec![model(), not(odd())]), Tree::Any(vec![glob(), model()])]),
        Tree::All(vec![Tree::All(vec![model(), odd()]), not(Tree::Any(vec![glob(), odd()]))]),
        Tree::Any(Comparison::ALL.map(|comparison| number(comparison, u64::MAX)).into()),
        not(Tree::All(vec![number(Comparison::Less, 0), Tree::All(vec![])])),
    ];
    for tree in trees {
        assert_eq!(super::tree(&tree.to_string()), Ok(tree.clone()), "{tree}");
    }
}
