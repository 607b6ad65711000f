//! The tables themselves: each row finds its example and leaves alone what only looks like one.

use ahp::secret::redact;

pub(super) const FORMATS: &str = include_str!("../../policies/secrets/formats.tsv");
pub(super) const COMMANDS: &str = include_str!("../../policies/secrets/commands.tsv");

/// Returns the rows of a table.
pub(super) fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect())
}

/// Returns the example of a row as it would be met.
pub(super) fn example(cell: &str) -> String {
    cell.replace('·', "").replace("\\n", "\n")
}

/// Returns the secret within the example of a format, by its pattern.
pub(super) fn secret(row: &[&str]) -> String {
    let text = example(row[7]);
    let found = regex_of(row[9])
        .captures(&text)
        .unwrap_or_else(|| panic!("{}", row[0]));
    found.get(1).unwrap().as_str().to_owned()
}

fn regex_of(pattern: &str) -> regex::Regex {
    regex::RegexBuilder::new(pattern)
        .size_limit(32 << 20)
        .build()
        .unwrap()
}

#[test]
fn formats_are_sorted_unique_and_find_their_examples() {
    let all: Vec<_> = rows(FORMATS).collect();
    assert!(all.len() >= 130);
    assert!(all.windows(2).all(|pair| pair[0][0] < pair[1][0]));
    for row in &all {
        let [
            id,
            severity,
            entropy,
            place,
            least,
            keywords,
            what,
            cell,
            like,
            pattern,
        ] = row[..]
        else {
            panic!("{row:?}");
        };
        assert!(
            ["high", "medium", "low", "none"].contains(&severity),
            "{id}"
        );
        assert!(
            ["start", "inside", "line", "block", "url"].contains(&place),
            "{id}"
        );
        assert!(
            entropy.parse::<f32>().is_ok() && least.parse::<usize>().is_ok(),
            "{id}"
        );
        assert!(
            what.starts_with("a ") || what.starts_with("an ") || what.starts_with("the "),
            "{id}"
        );
        assert!(keywords.split('|').all(|k| k.len() >= 3), "{id}");
        let secret = secret(row);
        let clean = redact(&example(cell)).into_owned();
        assert!(!clean.contains(&secret), "{id}: {clean}");
        assert!(
            !regex_of(pattern).is_match(cell),
            "{id}: other scanners find it"
        );
        assert!(!regex_of(pattern).is_match(like), "{id}: {like}");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    // These three are cut by another rule, in doubt.
    let by_another = [
        "private-key",
        "pgp-private-key",
        "azure-storage-key",
        "putty-private-key",
    ];
    for row in rows(FORMATS).filter(|row| !by_another.contains(&row[0])) {
        let like = row[8];
        assert_eq!(redact(like), like, "{}", row[0]);
    }
}

#[test]
fn command_lines_are_cut_and_those_without_a_secret_stay() {
    let all: Vec<_> = rows(COMMANDS).collect();
    assert!(all.len() >= 60);
    for row in &all {
        let [programs, words, _, text, like] = row[..] else {
            panic!("{row:?}");
        };
        assert!(
            programs.split('|').all(|name| name.len() >= 3),
            "{programs}"
        );
        // What must stand before the program stands before it here too.
        let before = text
            .split(' ')
            .take(if words.starts_with('<') { 5 } else { 1 });
        let mut before = before.flat_map(|word| programs.split('|').map(move |name| (name, word)));
        assert!(before.any(|(name, word)| name.trim_end() == word), "{text}");
        for text in [
            text.to_owned(),
            format!("sudo {text}"),
            format!("cd /srv && {text}; ls"),
            format!("X=$({text})"),
            format!("{text}\nls -la"),
            format!("{text} > ls.txt"),
        ] {
            let clean = redact(&text);
            assert!(!clean.contains("hunter22"), "{clean}");
            assert!(text.contains("ls") <= clean.contains("ls"), "{clean}");
        }
        assert_eq!(redact(like), like);
        // What a message says of a command that it quotes are its own words.
        let quoted = format!("it's `{text}`: writes a password");
        let clean = redact(&quoted);
        assert!(!clean.contains("hunter22"), "{clean}");
        assert!(clean.ends_with("`: writes a password"), "{clean}");
    }
}

#[test]
fn words_behind_a_quoted_command_are_not_what_it_is_given() {
    for command in [
        "gh auth token",
        "vault print token",
        "cat db.password",
        "x --secret",
    ] {
        for words in [
            "prints an access token",
            "shows-stored-secrets",
            "makes it known",
        ] {
            let message = format!("`{command}`: {words}");
            assert_eq!(redact(&message), message);
        }
    }
    for (message, clean) in [
        (
            "`DB_PASSWORD`: hunter22x",
            "`DB_PASSWORD`: [redacted: secret]",
        ),
        ("`--token`: kX93mdk2Lqp0", "`--token`: [redacted: secret]"),
        ("token: kX93mdk2Lqp0", "token: [redacted: secret]"),
    ] {
        assert_eq!(redact(message), clean);
    }
}
