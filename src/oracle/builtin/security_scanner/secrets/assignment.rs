//! Finds values that look random and are given to something called a secret: `db_password = "k3Jx9QmZ2v"`.

use std::ops::Range;

use super::placeholder;

/// Words of which one is in the name of what holds a secret.
pub(super) const WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "accesskey",
    "auth_key",
    "authkey",
    "private_key",
    "privatekey",
    "encryption_key",
    "credential",
];

/// How values are written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// In quotes.
    Quoted,
    /// In quotes or bare to the end of the line.
    Bare,
}

impl Style {
    /// Returns how values are written in the file at `path`; none where random-looking values are the rule.
    pub(super) fn of(path: Option<&str>) -> Option<Self> {
        let Some(path) = path else {
            return Some(Self::Quoted);
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        if crate::oracle::added::is_lock_file(name) {
            return None;
        }
        let extension = name.rsplit_once('.').map_or("", |(_, e)| e);
        let is_bare = [
            "env",
            "ini",
            "cfg",
            "conf",
            "properties",
            "toml",
            "yaml",
            "yml",
            "envrc",
            "sh",
            "bash",
            "zsh",
        ]
        .contains(&extension)
            || name.starts_with(".env")
            || name == ".npmrc"
            || name == ".netrc";
        match extension {
            "svg" | "map" | "ipynb" | "csv" => None,
            _ if name.contains(".min.") => None,
            _ if is_bare => Some(Self::Bare),
            _ => Some(Self::Quoted),
        }
    }
}

/// Finds the value that is given to the name in which `word` stands, if it looks like a secret.
pub(super) fn find(text: &str, word: Range<usize>, style: Style) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let at = |n: usize| bytes.get(n).copied().unwrap_or(b'\n');
    let mut n = word.end;
    // The rest of the name: `password_for_db`, but not a long sentence.
    while n < word.end + 24 && (at(n).is_ascii_alphanumeric() || b"_-.".contains(&at(n))) {
        n += 1;
    }
    if b"\"'`".contains(&at(n)) {
        n += 1;
    }
    if at(n) == b']' {
        n += 1;
    }
    n = skip_blanks(bytes, n);
    // Separators: `=`, `:`, `:=`, `=>`; a comparison is none.
    let first = at(n);
    if first != b'=' && first != b':' {
        return None;
    }
    n += 1;
    let second = at(n);
    if second == b'=' && first == b'=' || second == b':' {
        return None;
    }
    if second == b'=' || second == b'>' {
        n += 1;
    }
    n = skip_blanks(bytes, n);
    if first == b':' && second != b'=' && at(n).is_ascii_alphabetic() | (at(n) == b'&') {
        // A type stands between: `password: String = "…"`.
        let mut m = n;
        while m < n + 40 && (at(m).is_ascii_alphanumeric() || b"_<>&' |?:".contains(&at(m))) {
            m += 1;
        }
        if at(m) == b'=' && at(m + 1) != b'=' {
            n = skip_blanks(bytes, m + 1);
        }
    }
    let quote = at(n);
    let range = if b"\"'`".contains(&quote) {
        let start = n + 1;
        let mut end = start;
        while end < start + 160 && at(end) != quote && at(end) != b'\n' {
            end += 1;
        }
        if at(end) != quote {
            return None;
        }
        start..end
    } else if style == Style::Bare {
        let mut end = n;
        while end < n + 160 && !at(end).is_ascii_whitespace() && at(end) != b'#' {
            end += 1;
        }
        n..end
    } else {
        return None;
    };
    let value = text.get(range.clone())?;
    let name = text.get(word)?.to_ascii_lowercase();
    is_secret(value, name.starts_with("pass")).then_some(range)
}

fn skip_blanks(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let blanks = rest
        .iter()
        .take(12)
        .take_while(|b| **b == b' ' || **b == b'\t');
    from + blanks.count()
}

/// Whether a value looks like a secret and not like a name, a path, a sentence or a placeholder.
fn is_secret(value: &str, is_password: bool) -> bool {
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
        && placeholder::entropy(value) >= least
        && !placeholder::is_one(value)
        && !placeholder::counts_up(value)
}

/// Whether a value is made of words and numbers as names are: `access_token_v2`, `sha256-digest`, `user2.password`.
fn is_words(value: &str) -> bool {
    let parts: Vec<&str> = value.split(['_', '-', '.', '/', ':', '+']).collect();
    parts.len() > 1
        && parts.iter().all(|part| {
            let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
            part.len() - letters.len() <= 4
                && (letters.bytes().all(|b| b.is_ascii_lowercase())
                    || letters.bytes().all(|b| b.is_ascii_uppercase())
                    || (letters.bytes().skip(1).all(|b| b.is_ascii_lowercase())))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, style: Style) -> Option<&str> {
        let lower = text.to_ascii_lowercase();
        WORDS.iter().find_map(|word| {
            let at = lower.find(word)?;
            text.get(find(text, at..at + word.len(), style)?)
        })
    }

    #[test]
    fn assignments_of_random_values_are_found() {
        for text in [
            r#"db_password = "k3Jx9QmZ""#,
            r#"  "apiKey": "9f86d081884c7d659a2feaa0c55ad015","#,
            r#"let token: String = "Zx8vQ2mN5kLpR9tWyB3c".into();"#,
            "config['secret'] => 'Zx8vQ2mN5kLpR9tWyB3c'",
            r#"api_key := "Zx8vQ2mN5kLpR9tWyB3c""#,
            "const PASSWORD = 'Tr0ub4dor&3'",
        ] {
            assert!(found(text, Style::Quoted).is_some(), "{text}");
        }
        assert_eq!(
            found("DB_PASSWORD=k3Jx9QmZ # prod", Style::Bare),
            Some("k3Jx9QmZ")
        );
    }

    #[test]
    fn names_code_and_placeholders_are_not() {
        for text in [
            r#"password = os.environ["DB_PASSWORD_1"]"#,
            r#"token_type: "access_token_v2""#,
            r#"if password == "k3Jx9QmZ""#,
            r#"secret: "arn:aws:secretsmanager:us-east-1:1:secret:x""#,
            r#"password: "<your password 1>""#,
            r#"token = get_token("k3Jx9QmZk3Jx9QmZ")"#,
            "fn token(&self) -> Token",
            r#"password_url = "https://example.org/a1""#,
        ] {
            assert_eq!(found(text, Style::Quoted), None, "{text}");
        }
        assert_eq!(found("DB_PASSWORD=${DB_PASSWORD_2}", Style::Bare), None);
    }
}
