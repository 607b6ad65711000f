//! Brace expansion: `a{b,c}` and `{1..3}` into the words they stand for.

/// How many words one brace expansion may become; past it the word stays as it is.
const MAX_WORDS: usize = 64;

/// Expands the braces of a raw word that stand outside quotes.
pub(crate) fn expand(raw: &str) -> Vec<String> {
    if !raw.contains('{') {
        return vec![raw.to_owned()];
    }
    let mut done = Vec::new();
    let mut open = vec![raw.to_owned()];
    while let Some(word) = open.pop() {
        if done.len() + open.len() > MAX_WORDS {
            return vec![raw.to_owned()];
        }
        match first_group(&word) {
            Some(expanded) => open.extend(expanded.into_iter().rev()),
            None => done.push(word),
        }
    }
    done
}

/// Expands the first group of a word that is a brace expansion.
fn first_group(word: &str) -> Option<Vec<String>> {
    let chars: Vec<char> = word.chars().collect();
    let mut i = 0;
    while let Some(&c) = chars.get(i) {
        match c {
            '\\' => i += 1,
            '\'' | '"' | '`' => i = quoted_end(&chars, i),
            '$' if chars.get(i + 1) == Some(&'{') => {
                i = group(&chars, i + 1).map_or(i + 1, |g| g.0);
            }
            '$' if chars.get(i + 1) == Some(&'(') => i = paren_end(&chars, i + 1),
            '{' => {
                if let Some((end, parts)) = group(&chars, i)
                    && let Some(items) = items(&chars, &parts)
                {
                    let prefix: String = chars.get(..i)?.iter().collect();
                    let suffix: String = chars.get(end + 1..)?.iter().collect();
                    return Some(
                        items
                            .iter()
                            .take(MAX_WORDS + 1)
                            .map(|item| format!("{prefix}{item}{suffix}"))
                            .collect(),
                    );
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}

fn quoted_end(chars: &[char], start: usize) -> usize {
    let quote = chars.get(start).copied();
    let mut i = start + 1;
    while let Some(&c) = chars.get(i) {
        if c == '\\' && quote != Some('\'') {
            i += 1;
        } else if Some(c) == quote {
            return i;
        }
        i += 1;
    }
    chars.len()
}

fn paren_end(chars: &[char], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut i = start;
    while let Some(&c) = chars.get(i) {
        match c {
            '\\' => i += 1,
            '\'' | '"' => i = quoted_end(chars, i),
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return i;
                }
            }
            _ => {}
        }
        i += 1;
    }
    chars.len()
}

/// Returns the end of the group that opens at `start`, and the ranges between its top-level commas.
fn group(chars: &[char], start: usize) -> Option<(usize, Vec<(usize, usize)>)> {
    let mut depth = 0_usize;
    let mut parts = Vec::new();
    let mut part = start + 1;
    let mut i = start;
    while let Some(&c) = chars.get(i) {
        match c {
            '\\' => i += 1,
            '\'' | '"' | '`' => i = quoted_end(chars, i),
            '{' => depth += 1,
            ',' if depth == 1 => {
                parts.push((part, i));
                part = i + 1;
            }
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    parts.push((part, i));
                    return Some((i, parts));
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}

/// Returns what a group stands for; none where it is no brace expansion.
fn items(chars: &[char], parts: &[(usize, usize)]) -> Option<Vec<String>> {
    let text = |&(from, to): &(usize, usize)| -> Option<String> {
        chars.get(from..to).map(|c| c.iter().collect())
    };
    if parts.len() > 1 {
        return parts.iter().map(text).collect();
    }
    let inner = text(parts.first()?)?;
    let (from, rest) = inner.split_once("..")?;
    let to = rest.split("..").next()?;
    if let (Ok(a), Ok(b)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let limit = i64::try_from(MAX_WORDS).unwrap_or(i64::MAX);
        if a.abs_diff(b) > u64::try_from(limit).unwrap_or(u64::MAX) {
            return None;
        }
        return Some(if a <= b {
            (a..=b).map(|n| n.to_string()).collect()
        } else {
            (b..=a).rev().map(|n| n.to_string()).collect()
        });
    }
    let mut first = from.chars();
    let mut last = to.chars();
    match (first.next(), first.next(), last.next(), last.next()) {
        (Some(a), None, Some(b), None) if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
            Some(if a <= b {
                (a..=b).map(String::from).collect()
            } else {
                (b..=a).rev().map(String::from).collect()
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn braces_become_words_and_quotes_protect_them() {
        assert_eq!(expand("a{b,c}d"), ["abd", "acd"]);
        assert_eq!(expand("{1..3}"), ["1", "2", "3"]);
        assert_eq!(expand("/{usr,home}/{a,b}").len(), 4);
        assert_eq!(expand("'{a,b}'"), ["'{a,b}'"]);
        assert_eq!(expand("${x,y}"), ["${x,y}"]);
        assert_eq!(expand("{a}"), ["{a}"]);
        assert_eq!(expand("{r,-rf,/}"), ["r", "-rf", "/"]);
    }
}
