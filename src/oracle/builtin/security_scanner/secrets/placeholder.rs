//! Tells secrets from what only stands in their place.

/// Words that stand in examples and never in secrets.
const WORDS: &[&str] = &[
    "example",
    "xxxx",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "your_",
    "your-",
    "yourkey",
    "yourtoken",
    "yourpassword",
    "yoursecret",
    "mypassword",
    "my_password",
    "redacted",
    "dummy",
    "insert_",
    "insert-",
    "replace_",
    "replace-",
    "todo",
    "<",
    ">",
    "${",
    "{{",
    "}}",
    "%s",
    "%(",
    "***",
    "...",
    "…",
    "notreal",
    "not_real",
    "not-real",
    "fake",
    "sample",
    "foobar",
    "lorem",
    "deadbeef",
];

/// Whether a value only stands in the place of a secret.
pub(super) fn is_one(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    WORDS.iter().any(|word| lower.contains(word)) || repeats(lower.as_bytes())
}

/// Whether a password in a URL is one that every tutorial has.
pub(super) fn is_default_password(value: &str) -> bool {
    const DEFAULTS: &[&str] = &[
        "admin",
        "guest",
        "mongo",
        "mysql",
        "pass",
        "passwd",
        "password",
        "postgres",
        "postgresql",
        "pw",
        "pwd",
        "rabbitmq",
        "redis",
        "root",
        "secret",
        "test",
        "testing",
        "token",
        "user",
        "username",
        "x-oauth-basic",
    ];
    DEFAULTS.contains(&value.to_ascii_lowercase().as_str())
}

/// Whether one character makes up a run that chance does not give.
fn repeats(bytes: &[u8]) -> bool {
    // Base64 of zeros is a run of `a`, which is a part of real keys.
    bytes
        .chunk_by(|a, b| a == b)
        .any(|run| run.len() >= 8 && run.first() != Some(&b'a'))
        || bytes
            .chunk_by(|a, b| a == b)
            .any(|run| run.len() * 2 > bytes.len() && bytes.len() > 6)
}

/// Whether the characters go up one by one for long: `123456789`, `abcdefghi`.
pub(super) fn counts_up(value: &str) -> bool {
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
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = *count as f32 / total;
            -share * share.log2()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_told_from_secrets() {
        for value in [
            "AKIAIOSFODNN7EXAMPLE",
            "your_api_key_here",
            "xxxxxxxxxxxxxxxx",
            "<password>",
            "${DB_PASSWORD}",
            "{{ secret }}",
            "00000000000000000000",
            "changeme",
        ] {
            assert!(is_one(value), "{value}");
        }
        assert!(counts_up("1234567890") && counts_up("abcdefghijklmnop"));
        for value in [
            "k3Jx9QmZ2vLpR8tW",
            "hunter2!",
            "9f86d081884c7d659a2feaa0c55ad015",
        ] {
            assert!(!is_one(value), "{value}");
        }
    }

    #[test]
    fn entropy_is_that_of_shannon() {
        assert!(entropy("aaaa").abs() < 1e-6);
        assert!((entropy("abcd") - 2.0).abs() < 1e-6);
        assert!((entropy("0123456789abcdef") - 4.0).abs() < 1e-6);
    }
}
