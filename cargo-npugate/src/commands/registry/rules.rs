//! The rules that a tiling must follow.

use crate::error::Error;
use crate::shell;
use npugate_kernels::tiling::Rule;
use npugate_schema::ExitCode;

/// Columns of an explanation.
const WIDTH: usize = 80;

/// Lists all rules, or explains one.
pub(super) fn run(rule: Option<Rule>) -> Result<ExitCode, Error> {
    if let Some(rule) = rule {
        shell::print_data(format!("{rule}\n{}", wrapped(rule.explain())))?;
        return Ok(ExitCode::Ok);
    }
    let width = Rule::ALL.iter().map(|rule| rule.name().len()).max().unwrap_or(0);
    let lines: Vec<_> = Rule::ALL
        .iter()
        .map(|rule| format!("{:<width$}  {}\n", rule.name(), claim(*rule)))
        .collect();
    shell::print_data(lines.concat())?;
    Ok(ExitCode::Ok)
}

/// What the rule requires, without the reasons: its first sentence or clause.
fn claim(rule: Rule) -> &'static str {
    let text = rule.explain();
    let end = [": ", "; ", ". "].iter().filter_map(|mark| text.find(mark)).min();
    text[..end.unwrap_or(text.len())].trim_end_matches('.')
}

fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column == 0 || column + 1 + length > WIDTH {
            lines += if column == 0 { "  " } else { "\n  " };
            column = 2;
        } else {
            lines.push(' ');
            column += 1;
        }
        lines += word;
        column += length;
    }
    lines + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_claim_of_one_line() {
        for &rule in Rule::ALL {
            let claim = claim(rule);
            assert!(!claim.is_empty() && claim.len() <= 130, "{rule}: {claim}");
        }
    }

    #[test]
    fn explanations_keep_their_words_and_their_margin() {
        for rule in Rule::ALL {
            let text = wrapped(rule.explain());
            assert!(
                text.lines().all(|line| line.starts_with("  ") && line.chars().count() <= WIDTH)
            );
            assert!(text.split_whitespace().eq(rule.explain().split_whitespace()));
        }
    }
}
