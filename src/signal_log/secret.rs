//! Known shapes of secrets: what a key or token looks like, by the vendors' own documents.

use std::ops::Range;

use super::label;
use super::words::Words;

/// How a kind of secret is known: by what it begins with, and how long what follows is.
#[derive(Debug)]
pub(crate) struct Shape {
    /// What it is called where it is cut out.
    pub(crate) name: &'static str,
    /// What it begins with.
    pub(crate) prefix: &'static str,
    /// How many characters of the alphabet must follow.
    pub(crate) at_least: usize,
    /// Which characters may follow.
    pub(crate) alphabet: Alphabet,
}

/// Which characters a secret is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alphabet {
    /// `A-Z0-9`.
    Upper,
    /// `A-Za-z0-9`.
    Word,
    /// `A-Za-z0-9_-.`, also `+/=` of base64.
    Wide,
    /// Everything up to the line that ends a PEM block.
    Pem,
}

const fn shape(
    name: &'static str,
    prefix: &'static str,
    at_least: usize,
    alphabet: Alphabet,
) -> Shape {
    Shape {
        name,
        prefix,
        at_least,
        alphabet,
    }
}

/// The shapes, sorted by name.
pub(crate) const SHAPES: &[Shape] = &[
    shape("anthropic-key", "sk-ant-", 20, Alphabet::Wide),
    shape("aws-access-key", "AKIA", 16, Alphabet::Upper),
    shape("aws-access-key", "ASIA", 16, Alphabet::Upper),
    shape("digitalocean-token", "dop_v1_", 32, Alphabet::Word),
    shape("github-token", "ghp_", 30, Alphabet::Word),
    shape("github-token", "gho_", 30, Alphabet::Word),
    shape("github-token", "ghu_", 30, Alphabet::Word),
    shape("github-token", "ghs_", 30, Alphabet::Word),
    shape("github-token", "ghr_", 30, Alphabet::Word),
    shape("github-token", "github_pat_", 22, Alphabet::Wide),
    shape("gitlab-token", "glpat-", 20, Alphabet::Wide),
    shape("google-api-key", "AIza", 35, Alphabet::Wide),
    shape("google-oauth-token", "ya29.", 20, Alphabet::Wide),
    shape("grafana-token", "glsa_", 32, Alphabet::Wide),
    shape("huggingface-token", "hf_", 30, Alphabet::Word),
    shape("jwt", "eyJ", 40, Alphabet::Wide),
    shape("npm-token", "npm_", 36, Alphabet::Word),
    shape("openai-key", "sk-proj-", 20, Alphabet::Wide),
    shape("openai-key", "sk-", 32, Alphabet::Wide),
    shape("private-key", "-----BEGIN ", 10, Alphabet::Pem),
    shape("pypi-token", "pypi-AgE", 32, Alphabet::Wide),
    shape("sendgrid-key", "SG.", 40, Alphabet::Wide),
    shape("shopify-token", "shpat_", 32, Alphabet::Word),
    shape("slack-token", "xapp-", 20, Alphabet::Wide),
    shape("slack-token", "xoxa-", 20, Alphabet::Wide),
    shape("slack-token", "xoxb-", 20, Alphabet::Wide),
    shape("slack-token", "xoxe-", 20, Alphabet::Wide),
    shape("slack-token", "xoxp-", 20, Alphabet::Wide),
    shape("slack-token", "xoxr-", 20, Alphabet::Wide),
    shape("slack-token", "xoxs-", 20, Alphabet::Wide),
    shape(
        "slack-webhook",
        "https://hooks.slack.com/services/",
        20,
        Alphabet::Wide,
    ),
    shape("stripe-key", "rk_live_", 20, Alphabet::Word),
    shape("stripe-key", "sk_live_", 20, Alphabet::Word),
    shape("stripe-key", "sk_test_", 20, Alphabet::Word),
];

static PREFIXES: Words<{ SHAPES.len() }> = Words::new(prefixes(), false);

/// How many traces there are: the prefixes and labels, and what is found by neither.
const TRACE_COUNT: usize = SHAPES.len() + label::TEXTS.len() + 1;

/// What a password in an address stands behind.
const ADDRESS: &str = "://";

static TRACES: Words<TRACE_COUNT> = Words::new(traces(), true);

#[expect(
    clippy::indexing_slicing,
    reason = "it is made by the compiler, which would tell"
)]
const fn traces() -> [&'static str; TRACE_COUNT] {
    let mut traces = [""; TRACE_COUNT];
    let mut at = 0;
    while at < TRACE_COUNT {
        traces[at] = if at < SHAPES.len() {
            SHAPES[at].prefix
        } else if at < SHAPES.len() + label::TEXTS.len() {
            label::TEXTS[at - SHAPES.len()]
        } else {
            ADDRESS
        };
        at += 1;
    }
    traces
}

#[expect(
    clippy::indexing_slicing,
    reason = "it is made by the compiler, which would tell"
)]
const fn prefixes() -> [&'static str; SHAPES.len()] {
    let mut prefixes = [""; SHAPES.len()];
    let mut at = 0;
    while at < SHAPES.len() {
        prefixes[at] = SHAPES[at].prefix;
        at += 1;
    }
    prefixes
}

/// Finds the secrets of a text: where they stand and what they are, in order, none within another.
pub(crate) fn find(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    for hit in PREFIXES.find_iter(bytes) {
        let Some(shape) = SHAPES.get(hit.word) else {
            continue;
        };
        // `risk-…` is no `sk-…`.
        let inside_a_word = hit
            .start
            .checked_sub(1)
            .and_then(|i| bytes.get(i))
            .is_some_and(u8::is_ascii_alphanumeric);
        if inside_a_word {
            continue;
        }
        let rest = bytes.get(hit.end..).unwrap_or_default();
        if let Some(length) = shape.length_of(rest) {
            found.push((hit.start..hit.end + length, shape.name));
        }
    }
    found.extend(label::find(text).into_iter().map(|range| (range, "secret")));
    found.extend(url_passwords(text));
    found.sort_by_key(|(range, _)| (range.start, usize::MAX - range.end));
    let mut end = 0;
    found.retain(|(range, _)| {
        let free = range.start >= end;
        if free {
            end = range.end;
        }
        free
    });
    found
}

/// Whether a text, be it escaped as in JSON, holds anything by which a secret in it or the name of one is known.
pub(crate) fn may_hold(text: &[u8]) -> bool {
    TRACES.find_iter(text).next().is_some()
}

/// Whether a text begins a private key that it does not end.
pub(crate) fn opens_key(text: &str) -> bool {
    let Some((_, rest)) = text.rsplit_once("-----BEGIN ") else {
        return false;
    };
    let (first_line, _) = rest.split_once('\n').unwrap_or((rest, ""));
    first_line.contains("PRIVATE KEY") && !ends_key(rest)
}

/// Whether a private key ends in a text.
pub(crate) fn ends_key(text: &str) -> bool {
    text.contains("-----END ")
}

impl Shape {
    /// Returns how much of what follows the prefix belongs to the secret; none where it is too little.
    fn length_of(&self, rest: &[u8]) -> Option<usize> {
        if self.alphabet == Alphabet::Pem {
            let first_line = rest.split(|b| *b == b'\n').next().unwrap_or_default();
            if !first_line.windows(11).any(|w| w == b"PRIVATE KEY") {
                return None;
            }
            let end = memchr::memmem::find(rest, b"-----END ")
                .and_then(|at| {
                    let tail = rest.get(at + 9..)?;
                    memchr::memmem::find(tail, b"-----").map(|dashes| at + 9 + dashes + 5)
                })
                .unwrap_or(rest.len());
            return Some(end);
        }
        let length = rest
            .iter()
            .take_while(|b| match self.alphabet {
                Alphabet::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
                Alphabet::Word => b.is_ascii_alphanumeric(),
                Alphabet::Wide => {
                    b.is_ascii_alphanumeric()
                        || matches!(b, b'_' | b'-' | b'.' | b'+' | b'/' | b'=')
                }
                Alphabet::Pem => false,
            })
            .count();
        (length >= self.at_least).then_some(length)
    }
}

/// Finds the passwords of `scheme://user:password@host`.
fn url_passwords(text: &str) -> Vec<(Range<usize>, &'static str)> {
    memchr::memmem::find_iter(text.as_bytes(), ADDRESS.as_bytes())
        .filter_map(|at| {
            let start = at + ADDRESS.len();
            let rest = text.get(start..)?;
            let end = rest
                .find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '?' | '#'))
                .unwrap_or(rest.len());
            let authority = rest.get(..end)?;
            let (user_info, _) = authority.rsplit_once('@')?;
            let (user, password) = user_info.split_once(':')?;
            let is_reference = password.is_empty() || password.starts_with(['$', '{', '<']);
            let from = start + user.len() + 1;
            (!is_reference).then(|| (from..from + password.len(), "url-password"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> String {
        let mut out = String::new();
        let mut at = 0;
        for (range, name) in find(text) {
            out.push_str(text.get(at..range.start).unwrap());
            out.push_str(&format!("[{name}]"));
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap());
        out
    }

    #[test]
    fn keys_of_known_shape_are_found() {
        let github = format!("ghp_{}", "a1B2c3D4".repeat(5));
        assert_eq!(
            cut(&format!("git push https://{github}@x")),
            "git push https://[github-token]@x"
        );
        assert_eq!(cut("id AKIAIOSFODNN7EXAMPLE ok"), "id [aws-access-key] ok");
        assert_eq!(
            cut("a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b"),
            "a [private-key] b"
        );
        assert_eq!(
            cut("-----BEGIN CERTIFICATE-----\nMII"),
            "-----BEGIN CERTIFICATE-----\nMII"
        );
        assert_eq!(
            cut("curl -H 'Authorization: Bearer abcdefghijklmnop1234'"),
            "curl -H 'Authorization: Bearer [secret]'"
        );
        assert_eq!(
            cut("psql postgres://me:hunter2@db/x"),
            "psql postgres://me:[url-password]@db/x"
        );
        assert_eq!(cut("PASSWORD=hunter22 make"), "PASSWORD=[secret] make");
        assert_eq!(
            cut(r#"{"api_key": "0123456789"}"#),
            r#"{"api_key": "[secret]"}"#
        );
    }

    #[test]
    fn what_only_looks_like_one_stays() {
        for text in [
            "risk-assessment-of-the-whole-thing-is-done-now",
            "PASSWORD=$SECRET make",
            "max_tokens",
            "the token is read from a file",
            "let token = read(path)",
            "basic idea behind it",
            "std::env::var(\"TOKEN\")",
        ] {
            assert_eq!(cut(text), text);
        }
    }
}
