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
        let [programs, _, _, text, like] = row[..] else {
            panic!("{row:?}");
        };
        assert!(
            programs.split('|').all(|name| name.len() >= 3),
            "{programs}"
        );
        let program = text.split(' ').next().unwrap();
        assert!(
            programs.split('|').any(|name| name.trim_end() == program),
            "{text}"
        );
        for text in [
            text.to_owned(),
            format!("sudo {text}"),
            format!("cd /srv && {text}; ls"),
            format!("X=$({text})"),
            format!("{text}\nls -la"),
        ] {
            let clean = redact(&text);
            assert!(!clean.contains("hunter22"), "{clean}");
            assert!(text.contains("ls") <= clean.contains("ls"), "{clean}");
        }
        assert_eq!(redact(like), like);
    }
}
