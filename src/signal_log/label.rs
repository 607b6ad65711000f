//! Labels: secrets that are known by the name before them, `password=…`, `--token …`, `Authorization: Basic …`.

use std::ops::Range;

use super::value::Value;
use super::value::is_expansion;
use super::value::is_path;
use super::value::is_program;
use super::value::is_word;
use super::words::Words;

/// How a value stands behind a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The name of a secret: behind `=` or `:`, or as the argument of an option.
    Name,
    /// As a name, but a word of many other uses.
    Word,
    /// The header: behind a scheme, or alone where it is long.
    Header,
    /// A scheme of that header: the value follows it at once.
    Scheme,
    /// The option of curl for `user:password`.
    User,
    /// The program that this option is of.
    Curl,
}

/// Words that tell of a secret; `_` stands for `-` too.
const LABELS: [(&str, Kind); 21] = [
    ("-u ", Kind::User),
    ("-user ", Kind::User),
    ("access_key", Kind::Name),
    ("accesskey", Kind::Name),
    ("api_key", Kind::Name),
    ("apikey", Kind::Name),
    ("authorization", Kind::Header),
    ("basic ", Kind::Scheme),
    ("bearer ", Kind::Scheme),
    ("curl", Kind::Curl),
    ("pass", Kind::Word),
    ("passphrase", Kind::Name),
    ("passwd", Kind::Name),
    ("password", Kind::Name),
    ("private_key", Kind::Name),
    ("privatekey", Kind::Name),
    ("pwd", Kind::Word),
    ("secret", Kind::Name),
    ("secret_key", Kind::Name),
    ("secretkey", Kind::Name),
    ("token", Kind::Name),
];

/// The labels alone.
pub(super) const TEXTS: [&str; LABELS.len()] = texts();

static LABELLED: Words<{ LABELS.len() }> = Words::new(TEXTS, true);

#[expect(
    clippy::indexing_slicing,
    reason = "it is made by the compiler, which would tell"
)]
const fn texts() -> [&'static str; LABELS.len()] {
    let mut texts = [""; LABELS.len()];
    let mut at = 0;
    while at < LABELS.len() {
        texts[at] = LABELS[at].0;
        at += 1;
    }
    texts
}

/// How long a value is at least.
const SHORTEST: usize = 6;
/// How far around a label something is looked for, so that no text is read again and again.
const NEAR: usize = 512;

/// Finds the values behind labels, in order, none within another.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut end = 0;
    let mut curl = None;
    for hit in LABELLED.find_iter(text.as_bytes()) {
        if hit.start < end {
            continue;
        }
        let Some((_, kind)) = LABELS.get(hit.word) else {
            continue;
        };
        let value = match kind {
            Kind::Curl => {
                curl = Some(hit.end);
                None
            }
            Kind::User if curl.is_some_and(|at| hit.start - at < NEAR) => {
                user_password(text, hit.end)
            }
            Kind::User => None,
            Kind::Scheme => Value::at(text, hit.end).filter(|v| v.is_long(text)),
            Kind::Name | Kind::Word | Kind::Header => named(text, hit.start, hit.end, *kind),
        };
        if let Some(value) = value {
            let range = value.whole(text);
            end = range.end;
            found.push(range);
        }
    }
    found
}

/// Whether the name of a field says that its value is a secret: `password`, `GITHUB_TOKEN`, `apiKey`.
pub(super) fn is_secret_name(name: &str) -> bool {
    let folded = |byte: u8| match byte {
        b'-' => b'_',
        other => other.to_ascii_lowercase(),
    };
    let ends_with = |label: &str| {
        let mut pairs = name.bytes().rev().zip(label.bytes().rev());
        label.len() <= name.len() && pairs.all(|(a, b)| folded(a) == folded(b))
    };
    // `max_tokens` and `token_count` count something; `pass` and `pwd` alone are of tests and directories.
    let is_name = |kind| matches!(kind, Kind::Name | Kind::Header);
    LABELS
        .iter()
        .any(|(label, kind)| is_name(*kind) && ends_with(label))
        || ["_pass", "_pwd"].into_iter().any(ends_with)
}

/// Finds the value of a name: behind `=` or `:`, or as the argument of an option.
fn named(text: &str, start: usize, end: usize, kind: Kind) -> Option<Value> {
    let rest = text.get(end..)?;
    let behind_name = rest.trim_start_matches(['\\', '"', '\'']);
    let is_quoted_name = behind_name.len() < rest.len();
    let after = behind_name.trim_start_matches([' ', '\t']);
    let is_apart = after.len() < behind_name.len();
    let Some(sign) = after.chars().next().filter(|c| matches!(c, '=' | ':')) else {
        let is_argument = is_apart && !is_quoted_name && is_option(text, start);
        return is_argument.then(|| argument(text, after)).flatten();
    };
    if kind == Kind::Word {
        let before = start.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        let is_within = before.is_some_and(u8::is_ascii_alphanumeric);
        if is_within || is_apart || (sign == ':' && !is_quoted_name) {
            return None;
        }
    }
    let after = after.get(1..)?;
    // `x == token: ` and `::` are code; `:=` and `=>` are too, where no quote follows.
    let (after, is_code) = match (sign, after.chars().next()) {
        (':', Some('=')) | ('=', Some('>')) => (after.get(1..)?, true),
        (_, Some('=' | ':')) => return None,
        _ => (after, false),
    };
    let after = after.trim_start_matches([' ', '\t']);
    let value = Value::at(text, text.len() - after.len())?;
    let found = value.text(text);
    let is_none = match value.quote {
        // The quote closes a text before it: `"token=" + token`.
        Some(_) => found.starts_with(|c: char| c.is_whitespace()),
        None => is_code || is_program(text, &value, sign),
    };
    if is_none || is_word(found) || found.len() < SHORTEST {
        return None;
    }
    let is_fit = match kind {
        Kind::Word => !is_path(found),
        Kind::Header => value.is_behind_scheme(text) || value.is_long(text),
        _ => true,
    };
    is_fit.then_some(value)
}

/// Finds the argument of an option such as `--password`.
fn argument(text: &str, after: &str) -> Option<Value> {
    // Another option or the end of the command.
    if after.starts_with(['-', '|', '>', '&', ';', '#', '`']) || after.starts_with("id=") {
        return None;
    }
    let value = Value::at(text, text.len() - after.len())?;
    let found = value.text(text);
    let is_secret = found.len() >= SHORTEST && !is_word(found) && !is_path(found);
    is_secret.then_some(value)
}

/// Whether the word that this stands in is an option.
fn is_option(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let mut word = before.iter().rev().take(NEAR);
    let length = word
        .position(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'-' | b'_'))
        .unwrap_or_else(|| before.len().min(NEAR));
    before.get(before.len() - length) == Some(&b'-')
}

/// Finds the password of `user:password`.
fn user_password(text: &str, from: usize) -> Option<Value> {
    let value = Value::at(text, from)?;
    let (user, password) = value.text(text).split_once(':')?;
    let is_secret = !user.is_empty() && !password.is_empty() && !is_expansion(password);
    is_secret.then(|| Value {
        range: value.range.start + user.len() + 1..value.range.end,
        quote: value.quote,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> String {
        let mut out = text.to_owned();
        for range in find(text).into_iter().rev() {
            out.replace_range(range, "✂");
        }
        out
    }

    #[test]
    fn what_stands_behind_a_label_is_cut_whole() {
        for (text, left) in [
            (
                r#"curl -d "{\"password\": \"hunter22\"}""#,
                r#"curl -d "{\"password\": \"✂\"}""#,
            ),
            (
                r#"{"a": "{\\\"token\\\": \\\"ab\\\\\\\"cdefg\\\"}"}"#,
                r#"{"a": "{\\\"token\\\": \\\"✂\\\"}"}"#,
            ),
            (
                r#"curl -d "{\"password\": 12345678}""#,
                r#"curl -d "{\"password\": ✂}""#,
            ),
            (
                r#"-d "a=1&password=hunter22" x"#,
                r#"-d "a=1&password=✂" x"#,
            ),
            (
                r#"DB_PASSWORD="abc hunter2" make"#,
                r#"DB_PASSWORD="✂" make"#,
            ),
            (r#"password="correct horse battery" x"#, r#"password="✂" x"#),
            ("password=\"\"\"hunter 22\"\"\"", "password=\"\"\"✂\"\"\""),
            (r#"token = "ab\"cdefgh" x"#, r#"token = "✂" x"#),
            ("token='abc defghi", "token='✂"),
            (&format!("token=x{} b", "é".repeat(900)), "token=✂ b"),
            (&format!("a token={} b", "x1".repeat(900)), "a token=✂ b"),
            ("token='abc defghi\nls", "token='✂\nls"),
            ("X_TOKEN='ab;cdefghijkl' x", "X_TOKEN='✂' x"),
            ("SECRET='abc,defghijk' x", "SECRET='✂' x"),
            ("SECRET=ab\\;cdefg x", "SECRET=✂ x"),
            ("DB_PASSWORD='$ecretP4ss!x'", "DB_PASSWORD='✂'"),
            ("PASSWORD=abc(hunter22", "PASSWORD=✂"),
            ("PASSWORD=abc(hunter22\nls (x)", "PASSWORD=✂\nls (x)"),
            (
                "private-key=abcdef1 access-key=abcdef2 secretKey=abcdef3",
                "private-key=✂ access-key=✂ secretKey=✂",
            ),
            (
                "Authorization: Basic dXNlcjpwYXNz",
                "Authorization: Basic ✂",
            ),
            (
                r#"{"Authorization": "Bearer abc123"}"#,
                r#"{"Authorization": "Bearer ✂"}"#,
            ),
            ("DB_PASS=hunter22 x", "DB_PASS=✂ x"),
            (r#"{"pass":"hunter22"}"#, r#"{"pass":"✂"}"#),
            ("Server=x;Pwd=hunter22;", "Server=x;Pwd=✂;"),
            ("mysql --password hunter22 db", "mysql --password ✂ db"),
            ("x --api-key 'ab cdef' y", "x --api-key '✂' y"),
            ("curl -u user:pw http://x", "curl -u user:✂ http://x"),
            (
                "curl --user 'me:p w' http://x",
                "curl --user 'me:✂' http://x",
            ),
            ("'password' => 'hunter22'", "'password' => '✂'"),
            ("password := \"hunter22\"", "password := \"✂\""),
        ] {
            assert_eq!(cut(text), left, "{text}");
        }
    }

    #[test]
    fn programs_and_documents_stay() {
        for text in [
            "interface A { token: string; password: Optional }",
            "password: Optional[str]",
            "password: Option<String>,",
            "fn f(token: TokenKind, secret: Secret)",
            "let token = get_token();",
            "let token = read(path)",
            "token = fetch(\n  url)",
            "token = self.tokens",
            "token: process.env.TOKEN",
            "token => something",
            "pub semi_token: Token![;],",
            "password:\nusername: foobar",
            "password =\n  something",
            "docker login --password-stdin",
            "--password string   the password",
            "--password <password>",
            "--token-file some-file",
            "--secret id=abcdef",
            "--private-key ~/.ssh/id_ed25519",
            "the non-token another",
            "pwd && ls",
            "cd \"$(pwd)\"",
            "PWD=/home/somebody",
            "OLDPWD=somebody",
            "PASS: tests/foo.test",
            "bypass=something",
            "docker run -u 1000:1000 x",
            "git push -u origin main:main",
            "PASSWORD=$SECRET PASSWORD=${SECRET} PASSWORD=$(cat secret)",
            r#"PASSWORD="$SECRET" PASSWORD="${SECRET}" PASSWORD="$(cat x)""#,
            r#"curl -d "{\"password\": \"$SECRET\"}""#,
            "curl -u \"user:$PW\"",
            "\"token=\" + other + \"&more=\"",
            "<input type=\"password\" name=\"something\">",
            "PASSWORD=\"[redacted: secret]\" PASSWORD=[redacted: secret]",
            "Authorization: required",
            "token=''",
        ] {
            assert_eq!(cut(text), text);
        }
    }

    #[test]
    fn field_names_tell_secrets() {
        for name in [
            "password",
            "GITHUB_TOKEN",
            "apiKey",
            "client-secret",
            "secretKey",
            "Authorization",
            "DB_PASS",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "max_tokens",
            "path",
            "command",
            "keyboard",
            "pwd",
            "pass",
            "bypass",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
