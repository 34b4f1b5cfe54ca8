//! The known word that was probably meant by an unknown one.

/// The known word that needs the fewest letters inserted, left out or replaced. A word that
/// contains the unknown one is preferred. Of equally near words the first is returned, and
/// an empty word if there are none.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> &'a str {
    let rank = |one: &&&'a str| (!one.contains(word) || word.is_empty(), distance(word, one));
    known.iter().min_by_key(rank).copied().unwrap_or_default()
}

/// Levenshtein's distance, row by row.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_counted_by_hand() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("flaw", "lawn"), 2);
    }

    #[test]
    fn the_nearest_word_is_found() {
        let known = ["goldens", "weights", "consistency::kv_cache"];
        assert_eq!(nearest("golden", &known), "goldens");
        assert_eq!(nearest("wights", &known), "weights");
        assert_eq!(nearest("kv_cache", &known), "consistency::kv_cache");
        assert_eq!(nearest("x", &[]), "");
    }
}
