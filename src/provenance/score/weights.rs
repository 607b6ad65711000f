//! Weights: `policies/injection.weights`, which `tests/session/train.py` writes: sorted lines of a kind, a name, a tab and hundredths.
//!
//! A line is found by halving the text, so that no process reads all of it.

const LINES: &str = include_str!("../../../policies/injection.weights");

/// Returns the weight of what has a name; 0 where it was not learnt.
pub(super) fn weight(kind: &str, name: &str) -> i64 {
    find(kind, name).unwrap_or(0)
}

/// Returns what was learnt of a name.
pub(super) fn find(kind: &str, name: &str) -> Option<i64> {
    let wanted = [kind, " ", name, "\t"].concat();
    let mut rest = LINES;
    while !rest.is_empty() {
        let (before, after) = rest.split_at_checked(rest.floor_char_boundary(rest.len() / 2))?;
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        let end = before.len() + after.find('\n')? + 1;
        let line = rest.get(begin..end)?;
        if let Some(value) = line.strip_prefix(&*wanted) {
            return value.trim_end().parse().ok();
        }
        rest = if line < wanted.as_str() {
            rest.get(end..)?
        } else {
            rest.get(..begin)?
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_found_and_they_are_sorted() {
        assert!(LINES.lines().is_sorted());
        for line in LINES.lines() {
            let (name, value) = line.split_once('\t').unwrap();
            let (kind, name) = name.split_once(' ').unwrap();
            assert_eq!(find(kind, name), value.parse().ok(), "{line}");
        }
        assert_eq!(find("call", "zzzz no such"), None);
        assert_eq!(find("a", ""), None);
    }
}
