//! Slice: a part of a list, `${@:2}` or `${NAME[@]: -1}`, and the sums by which the shell finds a place in one.

use super::Word;
use super::fields::{Fields, Quoting};
use super::walk::Walker;

/// The most brackets that a sum may hold.
const DEPTH_LIMIT: usize = 32;

impl Walker<'_> {
    /// Returns the words between two bounds, `OFFSET` or `OFFSET:LENGTH`; all of them where a bound is known only when it
    /// runs. Those of the shell itself begin with its own name.
    pub(super) fn slice(&mut self, is_positional: bool, words: &[Word], bounds: &str) -> Vec<Word> {
        let mut all = words.to_vec();
        if is_positional {
            all.insert(0, Word::plain("bash"));
        }
        let (offset, length) = match bounds.split_once(':') {
            Some((offset, length)) => (self.sum(offset), Some(self.sum(length))),
            None => (self.sum(bounds), None),
        };
        let start = offset.map(|offset| place(offset, all.len()));
        let (Some(start), false) = (start, length == Some(None)) else {
            return words.to_vec();
        };
        let Some(start) = start else {
            return Vec::new();
        };
        let rest = all.split_off(start.min(all.len()));
        let most = length.flatten().map_or(rest.len(), |length| {
            usize::try_from(length).unwrap_or_default()
        });
        rest.into_iter().take(most).collect()
    }

    /// Returns what an expression of the shell comes to: numbers that are added, subtracted, multiplied and divided. The commands in it run.
    pub(super) fn sum(&mut self, expression: &str) -> Option<i64> {
        let plain = expression.replace("$((", "(").replace("))", ")");
        let text = if plain.contains(['$', '`']) {
            let mut fields = Fields::default();
            self.expand_into(&plain, Quoting::Double, &mut fields);
            let words = fields.finish();
            if words.iter().any(|word| word.dynamic) {
                return None;
            }
            words.into_iter().next().unwrap_or_default().text
        } else {
            plain
        };
        let mut rest = text.trim();
        if rest.is_empty() {
            return Some(0);
        }
        if rest.matches('(').count() > DEPTH_LIMIT {
            return None;
        }
        total(&mut rest).filter(|_| rest.is_empty())
    }
}

/// Returns what a text begins with, added and subtracted, and leaves what stands behind it.
fn total(rest: &mut &str) -> Option<i64> {
    let mut total = 0_i64;
    let mut sign = 1;
    loop {
        let value = product(rest)?.checked_mul(sign)?;
        total = total.checked_add(value)?;
        *rest = rest.trim_start();
        sign = match rest.chars().next() {
            Some('+') => 1,
            Some('-') => -1,
            _ => return Some(total),
        };
        *rest = rest.get(1..)?;
    }
}

/// Returns what a text begins with, multiplied and divided, and leaves what stands behind it.
fn product(rest: &mut &str) -> Option<i64> {
    let mut product = single(rest)?;
    loop {
        *rest = rest.trim_start();
        let Some(sign) = rest.chars().next().filter(|c| "*/%".contains(*c)) else {
            return Some(product);
        };
        *rest = rest.get(1..)?;
        let value = single(rest)?;
        product = match sign {
            '*' => product.checked_mul(value),
            '/' => product.checked_div(value),
            _ => product.checked_rem(value),
        }?;
    }
}

/// Returns a number, a sum in brackets, or one of them with a sign. The name of a variable is known only when it runs.
fn single(rest: &mut &str) -> Option<i64> {
    let behind = rest.trim_start_matches([' ', '+', '-']);
    let signs = rest.get(..rest.len() - behind.len())?;
    *rest = behind;
    if signs.matches('-').count() % 2 == 1 {
        return single(rest)?.checked_neg();
    }
    if let Some(inner) = rest.strip_prefix('(') {
        *rest = inner;
        let value = total(rest)?;
        *rest = rest.trim_start().strip_prefix(')')?;
        return Some(value);
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
    let (digits, behind) = rest.split_at(end.unwrap_or(rest.len()));
    *rest = behind;
    match digits.strip_prefix('0') {
        None | Some("") => digits.parse().ok(),
        // With a zero before it the shell counts by eights.
        Some(octal) => i64::from_str_radix(octal, 8).ok(),
    }
}

/// Splits what stands behind a `[` at the bracket that closes it.
pub(super) fn indexed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let close = text.char_indices().find_map(|(at, c)| {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
        None
    })?;
    Some((text.get(..close)?, text.get(close + 1..)?))
}

/// Returns the place in a list of so many that a number means: from the end on where it is below zero; none before the first.
pub(super) fn place(number: i64, count: usize) -> Option<usize> {
    usize::try_from(number).ok().or_else(|| {
        let back = usize::try_from(number.unsigned_abs()).ok()?;
        count.checked_sub(back)
    })
}
