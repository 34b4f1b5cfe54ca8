//! Which tests of a gate binary run, resolved from what was typed.

use super::UsageError;
use crate::cli::{FilterArgs, RerunWhich, RunIgnored};
use crate::selection::{
    Effort, History, Ignored, Matching, Rerun, Selection, TestSet, WeightsNeed,
};

/// Resolves what was typed.
///
/// # Errors
///
/// An expression that cannot be read, or options on ignored tests that contradict.
pub(super) fn resolve(args: FilterArgs) -> Result<Selection, UsageError> {
    let ignored = ignored(&args)?;
    let expressions = args.filter_expr.iter().map(|text| text.parse());
    Ok(Selection {
        expressions: expressions.collect::<Result<_, _>>()?,
        filters: args.filters,
        skip: args.skip,
        matching: if args.exact { Matching::Exact } else { Matching::Substring },
        phases: args.phase,
        set: if args.full { TestSet::Full } else { TestSet::Short },
        effort: if args.smoke { Effort::Smoke } else { Effort::Full },
        history: History::default(),
        weights: if args.require_weights { WeightsNeed::Required } else { WeightsNeed::Optional },
        ignored,
        rerun: match args.rerun {
            Some(RerunWhich::Failed) => Rerun::Failed,
            None => Rerun::Everything,
        },
        partition: args.partition,
    })
}

/// `--ignored` and `--include-ignored` are libtest's names for what nextest calls
/// `--run-ignored only` and `all`.
fn ignored(args: &FilterArgs) -> Result<Ignored, UsageError> {
    let asked = [
        args.ignored.then_some(Ignored::Only),
        args.include_ignored.then_some(Ignored::Include),
        args.run_ignored.map(|which| match which {
            RunIgnored::Default => Ignored::Skip,
            RunIgnored::Only => Ignored::Only,
            RunIgnored::All => Ignored::Include,
        }),
    ];
    let mut asked = asked.into_iter().flatten();
    let first = asked.next().unwrap_or_default();
    if asked.all(|other| other == first) { Ok(first) } else { Err(UsageError::RunIgnored) }
}
