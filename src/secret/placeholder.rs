//! Tells secrets from what only stands in their place.

use super::table::{row_count, rows};

const TEXT: &str = include_str!("../../policies/secrets/placeholders.tsv");
static ROWS: [[&str; 2]; row_count(TEXT)] = rows(TEXT);

/// Returns the texts that are compared in this way.
fn texts(way: &str) -> impl Iterator<Item = &'static str> {
    ROWS.iter()
        .filter(move |row| matches!(row, [kind, _] if *kind == way))
        .flat_map(|[_, texts]| texts.split('|'))
}

/// Whether a value only stands in the place of a secret.
pub(super) fn is_one(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    texts("part").any(|word| lower.contains(word)) || repeats(lower.as_bytes())
}

/// Whether a password in a URL is one that every tutorial has.
pub(super) fn is_default_password(value: &str) -> bool {
    texts("whole").any(|word| value.eq_ignore_ascii_case(word))
}

/// Whether one character makes up a run that chance does not give.
fn repeats(bytes: &[u8]) -> bool {
    // Base64 of zeros is a run of `a`, which is a part of real keys.
    bytes.chunk_by(|a, b| a == b).any(|run| {
        run.len() >= 8 && run.first() != Some(&b'a')
            || run.len() * 2 > bytes.len() && bytes.len() > 6
    })
}

/// Whether a value looks random and not like a name, a path, a sentence or a placeholder.
pub(super) fn looks_random(value: &str, is_password: bool) -> bool {
    let shortest = if is_password { 7 } else { 16 };
    if value.len() < shortest || value.len() > 150 || !value.is_ascii() {
        return false;
    }
    let has = |f: fn(&u8) -> bool| value.as_bytes().iter().any(f);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_code = has(|b| b.is_ascii_whitespace() || b"(){}<>[];,\\".contains(b))
        || value.contains("://")
        || value.starts_with(['/', '.', '$', '%', '@', '#', '*', '&']);
    let least = if is_password { 2.5 } else { 3.4 };
    is_mixed
        && !is_code
        && !is_words(value)
        && entropy(value) >= least
        && !is_one(value)
        && !counts_up(value)
}

/// Whether a value is made of words and numbers as names are: `access_token_v2`, `user2.password`, `meta-llama/Llama-3.1-8B`.
fn is_words(value: &str) -> bool {
    let parts: Vec<&str> = value.split(['_', '-', '.', '/', ':', '+']).collect();
    let is_word = |part: &str| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let rest = letters.get(1..).unwrap_or_default();
        part.len() - letters.len() <= 4
            && (letters.bytes().all(|b| b.is_ascii_lowercase())
                || letters.bytes().all(|b| b.is_ascii_uppercase())
                || rest.bytes().all(|b| b.is_ascii_lowercase()))
    };
    // `8B`, `70b`, `3rd`.
    let is_size = |part: &str| {
        let unit = part.trim_start_matches(|c: char| c.is_ascii_digit());
        part.len() <= 6 && unit.len() <= 2 && unit.bytes().all(|b| b.is_ascii_alphabetic())
    };
    parts.len() > 1 && parts.iter().all(|part| is_word(part) || is_size(part))
}

/// Whether the characters go up one by one for long: `123456789`, `abcdefghi`.
fn counts_up(value: &str) -> bool {
    let bytes = value.as_bytes();
    let runs = bytes.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let counted: usize = runs.filter(|run| run.len() >= 5).map(<[u8]>::len).sum();
    counted * 3 > bytes.len()
}

/// Returns Shannon's entropy of a text in bits a byte.
#[expect(clippy::cast_precision_loss, reason = "secrets are short")]
pub(super) fn entropy(text: &str) -> f32 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total = text.len() as f32;
    let shares = counts.iter().filter(|count| **count > 0);
    shares
        .map(|count| {
            let share = *count as f32 / total;
            -share * share.log2()
        })
        .sum()
}
