//! Tests of the scanner: what is found, and what is none.

use super::super::keywords::Keywords;
use super::rule::FORMATS;
use super::*;

#[test]
fn the_formats_are_sorted_unique_and_usable() {
    let rules: Vec<Rule> = Rule::all_known().collect();
    let lines = FORMATS.lines().filter(|l| !l.starts_with('#')).count();
    assert_eq!(rules.len(), lines);
    assert!(rules.len() >= 60);
    assert!(rules.windows(2).all(|w| w[0].id < w[1].id));
    for rule in &rules {
        assert!(rule.regex().is_some(), "{}", rule.id);
        assert!(
            !rule.keywords.is_empty() && rule.keywords.iter().all(|k| k.len() > 1),
            "{}",
            rule.id
        );
        assert!(
            rule.regex().is_some_and(|r| r.captures_len() >= 2),
            "{}",
            rule.id
        );
    }
}

fn ids(scanner: &Scanner, text: &str, path: &str) -> Vec<String> {
    let words = Keywords::new(scanner.words()).unwrap().find(text);
    scanner
        .scan(text, Some(path), words.into_iter())
        .into_iter()
        .map(|hit| {
            hit.rule
                .and_then(|n| scanner.rule(n))
                .map_or("random-value".to_owned(), |rule| rule.id.clone())
        })
        .collect()
}

/// Characters that follow no pattern, the same at each run.
fn noise(alphabet: &[u8], length: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(alphabet[usize::try_from(state % alphabet.len() as u64).unwrap()])
        })
        .collect()
}

const ALNUM: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &[u8] = b"0123456789abcdef";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

#[test]
fn secrets_are_found_where_people_leave_them() {
    let scanner = Scanner::new(true, &[]);
    // Made here, so that no other scanner finds them in this file.
    let cases = [
        ("github-token", format!("ghp_{}", noise(ALNUM, 36, 1))),
        ("aws-access-key-id", format!("AKIA{}", noise(UPPER, 16, 2))),
        ("stripe-key", format!("sk_live_{}", noise(ALNUM, 24, 3))),
        ("google-api-key", format!("AIza{}", noise(ALNUM, 35, 4))),
        ("gitlab-token", format!("glpat-{}", noise(ALNUM, 20, 5))),
        ("npm-token", format!("npm_{}", noise(ALNUM, 36, 6))),
        (
            "digitalocean-token",
            format!("dop_v1_{}", noise(HEX, 64, 7)),
        ),
        (
            "sendgrid-key",
            format!("SG.{}.{}", noise(ALNUM, 22, 8), noise(ALNUM, 43, 9)),
        ),
        (
            "slack-bot-token",
            format!("xoxb-123456789012-1234567890123-{}", noise(ALNUM, 24, 10)),
        ),
        (
            "anthropic-api-key",
            format!("sk-ant-api03-{}", noise(ALNUM, 95, 11)),
        ),
        (
            "telegram-bot-token",
            format!("987654321:AA{}", noise(ALNUM, 33, 12)),
        ),
        (
            "database-url",
            format!(
                "postgres://app:{}@db.internal:5432/app",
                noise(ALNUM, 12, 13)
            ),
        ),
        (
            "private-key",
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\n{}\n",
                noise(ALNUM, 64, 14)
            ),
        ),
    ];
    for (id, secret) in &cases {
        for text in [
            secret.clone(),
            format!("let key = \"{secret}\";\n"),
            format!("KEY={secret}\n"),
            format!("# é\n\n  - value: '{secret}' # here\n"),
        ] {
            assert_eq!(ids(&scanner, &text, "src/a.txt"), [*id], "{id}: {text}");
        }
    }
    let value = noise(ALNUM, 40, 15);
    assert_eq!(
        ids(
            &scanner,
            &format!("aws_secret_access_key = {value}"),
            "a.txt"
        ),
        ["aws-secret-access-key"]
    );
    assert_eq!(
        ids(&scanner, &format!("api_token = \"{value}\""), "a.py"),
        ["random-value"]
    );
}

#[test]
fn what_only_looks_like_a_secret_is_left_alone() {
    let scanner = Scanner::new(true, &[]);
    for text in [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "postgres://user:password@localhost/db is written postgres://USER:${PASSWORD}@HOST/DB",
        "https://user:<token>@example.org/",
        "if line.startswith('-----BEGIN RSA PRIVATE KEY-----'):",
        "token = os.environ['GITHUB_TOKEN_2']",
        "task-3f2a90c1d4be0a9f8e7d6c5b4a39281706f5e4d3",
        "sha512-3f2a90c1d4be0a9f8e7d6c5b4a39281706f5e4d3c2b1a0998877665544332211==",
    ] {
        let found = ids(&scanner, text, "src/a.py");
        assert!(found.is_empty(), "{text}: {found:?}");
    }
    let lock = format!("\"token\": \"{}\"", noise(ALNUM, 40, 16));
    assert!(ids(&scanner, &lock, "package-lock.json").is_empty());
}
