//! SQL that a command line gives to a database: which statements lose data.

use super::testing::{says_test, says_test_store};
use crate::words::{holds_any, words};

/// Whether a program is known to take back all that stands between `BEGIN` and `ROLLBACK`.
pub(super) fn takes_back(program: &str) -> bool {
    matches!(program, "psql" | "heroku" | "sqlite3" | "duckdb")
}

/// Whether a text holds a statement that drops, empties, changes all rows, or takes the server or its rights away; what is
/// rolled back does not where the program `takes_back`.
pub(super) fn loses_data(text: &str, takes_back: bool) -> bool {
    // psql's help on a statement.
    if text.trim_start().starts_with("\\h") && !text.contains('\n') {
        return false;
    }
    let all = statements(text);
    // A command of the client may send or end a statement in the middle.
    if takes_back && !text.contains('\\') && is_taken_back(&all) {
        return false;
    }
    let is_passing = |statement: &Vec<String>| drops_passing(statement, &all);
    all.iter().any(|statement| {
        is_losing(statement) && !is_passing(statement)
            || is_ruling(statement)
            || makes_losing(text, statement)
    })
}

/// Whether statements are one transaction that is rolled back, of nothing but what every database can take back: rows.
fn is_taken_back(all: &[Vec<String>]) -> bool {
    let words: Vec<Vec<&str>> = all
        .iter()
        .filter(|one| !one.is_empty())
        .map(|one| one.iter().map(String::as_str).collect())
        .collect();
    let Some(([first, between @ ..], last)) = words.split_last().map(|(last, rest)| (rest, last))
    else {
        return false;
    };
    let is_of_rows = |one: &Vec<&str>| {
        matches!(
            one.first(),
            Some(&("delete" | "insert" | "select" | "update"))
        ) && !one
            .iter()
            .any(|word| matches!(*word, "begin" | "commit" | "end" | "go"))
            && !is_ruling_of(one)
    };
    matches!(
        first[..],
        ["begin"] | ["begin" | "start", "transaction"] | ["begin", "work"]
    ) && matches!(
        last[..],
        ["rollback"] | ["rollback", "transaction" | "work"]
    ) && between.iter().all(is_of_rows)
}

/// Whether a text holds a statement that changes rows or tables, be it few.
pub(super) fn changes_data(text: &str) -> bool {
    statements(text).iter().any(|statement| {
        let words: Vec<&str> = statement.iter().map(String::as_str).collect();
        let has = |pair: [&str; 2]| words.windows(2).any(|window| window == pair);
        words.first() == Some(&"update") && words.contains(&"set")
            || has(["or", "replace"]) && words.first() == Some(&"create")
            || [
                ["delete", "from"],
                ["insert", "into"],
                ["merge", "into"],
                ["replace", "into"],
                ["alter", "table"],
            ]
            .into_iter()
            .any(has)
    })
}

/// Whether a text holds the words of a pattern such as `DROP TABLE`, one after the other.
pub(super) fn holds(text: &str, words: &[String]) -> bool {
    let found = words_of(text);
    !words.is_empty()
        && found
            .windows(words.len())
            .any(|window| window.iter().zip(words).all(|(a, b)| a == b))
}

/// Cuts a text into statements without comments.
fn statements(text: &str) -> Vec<Vec<String>> {
    let mut clean = String::with_capacity(text.len());
    for line in text.lines() {
        clean.push_str(line.split("--").next().unwrap_or_default());
        clean.push('\n');
    }
    while let Some((before, after)) = clean.split_once("/*") {
        let rest = after.split_once("*/").map_or("", |(_, rest)| rest);
        clean = format!("{before} {rest}");
    }
    clean.split(';').map(words_of).collect()
}

/// Returns the words of a statement in lower case; what stands in quotes is one word each.
fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim();
    while let Some(c) = rest.chars().next() {
        if matches!(c, '\'' | '"' | '`')
            && let Some(end) = rest.get(1..).and_then(|r| r.find(c))
        {
            words.push("?".to_owned());
            rest = rest.get(end + 2..).unwrap_or_default();
        } else if c.is_alphanumeric() || c == '_' {
            let end = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
                .unwrap_or(rest.len());
            words.push(rest.get(..end).unwrap_or_default().to_ascii_lowercase());
            rest = rest.get(end..).unwrap_or_default();
        } else {
            if c == '>' {
                words.push(">".to_owned());
            }
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    words
}

/// Whether a statement drops a database that is there for tests by its name, or a table that these statements made for as
/// long as they run.
fn drops_passing(statement: &[String], all: &[Vec<String>]) -> bool {
    let given: Vec<&str> = statement.iter().map(String::as_str).collect();
    let makes = |name: &str| {
        all.iter().flat_map(|one| one.windows(4)).any(|words| {
            let [create, kind, table, made] = words else {
                return false;
            };
            create == "create" && kind.starts_with("temp") && table == "table" && made == name
        })
    };
    // What these statements make is not older; with `IF NOT EXISTS` it may be.
    let is_new = |kind: &str, name: &str| {
        let mut before = all
            .iter()
            .take_while(|one| !std::ptr::eq(one.as_slice(), statement));
        before.any(|one| {
            let words: Vec<&str> = one.iter().map(String::as_str).collect();
            matches!(words[..], ["create", object, made, ..] if object == kind && made == name)
        })
    };
    let (object, name) = match given[..] {
        ["truncate", "table", name]
        | ["truncate", name]
        | ["delete", "from", name, ..]
        | ["update", name, ..] => return makes(name) || is_new("table", name),
        ["drop", object, .., name] => (object, name),
        _ => return false,
    };
    match object {
        "database" | "schema" => says_test_store(name) || is_new(object, name),
        "table" => says_test(name) || makes(name) || is_new(object, name),
        _ => false,
    }
}

fn is_losing(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let after_start = |start: &str| {
        words.iter().position(|w| *w == start).filter(|at| {
            *at <= 1
                || words.first() == Some(&"with")
                || words.first() == Some(&"begin")
                || words.first() == Some(&"explain")
        })
    };
    if words.first() == Some(&"explain") && !words.contains(&"analyze") {
        return false;
    }
    // Cypher: everything that a pattern without a condition finds.
    if words.first() == Some(&"match") && words.contains(&"delete") {
        return !words.contains(&"where") && !words.contains(&"?");
    }
    if let Some(at) = after_start("drop") {
        let object = words.get(at + 1);
        return object.is_some_and(|object| words!("sql-objects").contains(object));
    }
    // A table made anew of no row of the one that it replaces.
    if let ["create", "or", "replace", "table", ..] = words.as_slice() {
        return words.ends_with(&["where", "false"]) || words.ends_with(&["limit", "0"]);
    }
    if let Some(at) = after_start("truncate") {
        return words.len() > at + 1;
    }
    if let Some(at) = after_start("delete") {
        let rest = words.get(at..).unwrap_or_default();
        // MySQL names the table twice: `DELETE t FROM t`, and has words for how fast it goes.
        let is_manner = |word: &&str| matches!(*word, "low_priority" | "quick" | "ignore");
        let mut named = rest.iter().filter(|word| !is_manner(word)).take(4);
        return named.any(|w| *w == "from") && !restricts(rest);
    }
    if let Some(at) = after_start("update") {
        let rest = words.get(at..).unwrap_or_default();
        return rest.contains(&"set") && !restricts(rest);
    }
    if let Some(at) = after_start("alter") {
        let rest = words.get(at..).unwrap_or_default();
        if rest.contains(&"delete") && !restricts(rest) {
            return true;
        }
        return words
            .windows(2)
            .any(|w| matches!(w, ["drop", "column" | "constraint" | "partition"]))
            || (words.get(1) == Some(&"table") && words.contains(&"drop"));
    }
    false
}

/// Whether a statement takes the server, a replica, or somebody's rights, or reaches past the database.
fn is_ruling(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    is_ruling_of(&words)
}

fn is_ruling_of(words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let follows = |first: &str, seconds: &[&str]| {
        words
            .windows(2)
            .any(|w| matches!(w, [a, b] if *a == first && seconds.contains(b)))
    };
    match words {
        ["shutdown"] | ["kill", ..] => true,
        ["stop" | "reset", "slave" | "replica" | "master", ..] => true,
        ["purge", "binary" | "master", ..] => true,
        ["set", "global", ..] => has("read_only") || has("super_read_only"),
        ["rename", "table", ..] => true,
        ["alter", "system", ..] => true,
        ["alter", "role" | "user" | "login", ..] => {
            has("superuser") || has("password") || has("identified") || has("disable")
        }
        // A mutation of ClickHouse, which nothing rolls back.
        ["alter", "table", _, "delete", ..] => true,
        ["alter", "table", ..] => follows("disable", &["trigger", "row"]),
        ["grant", ..] => has("public") || has("superuser") || words.ends_with(&["grant", "option"]),
        ["revoke", "all", ..] => true,
        ["copy", ..] => has("program"),
        _ => {
            has("xp_cmdshell")
                || has("pg_terminate_backend")
                || has("pg_drop_replication_slot")
                || has("lo_unlink")
                || follows("into", &["outfile", "dumpfile"])
        }
    }
}

/// Whether a block of code makes a statement that drops or empties, and runs it.
fn makes_losing(text: &str, words: &[String]) -> bool {
    let lower = text.to_ascii_lowercase();
    words.iter().any(|w| w == "execute")
        && holds_any(&lower, &["'drop ", "'truncate ", "'delete from "])
}

/// Whether a statement has a condition that is not true for every row.
fn restricts(words: &[&str]) -> bool {
    match words.iter().position(|w| *w == "where") {
        None => words.contains(&"limit"),
        Some(at) => !matches!(
            words.get(at + 1..).unwrap_or_default(),
            ["1" | "true"]
                | ["1", "1"]
                | ["?", "?"]
                | [_, "is", "not", "null"]
                | [_, ">", "0"]
                | ["1", "1", "or", ..]
                | [.., "or", "1", "1"]
                | [.., "or", "true"]
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::loses_data;

    #[test]
    fn statements_that_lose_data_are_found() {
        for sql in [
            "DROP TABLE users",
            "drop database x;",
            "TRUNCATE users",
            "CREATE OR REPLACE TABLE a.t AS SELECT * FROM a.t WHERE FALSE",
            "DELETE FROM users",
            "delete from users where 1=1",
            "DELETE LOW_PRIORITY QUICK IGNORE FROM users",
            "SELECT 1; DELETE FROM users;",
            "UPDATE users SET a = 1",
            "ALTER TABLE x DROP COLUMN y",
            "DROP\n/* x */ SCHEMA public CASCADE",
            "BEGIN; DROP TABLE x; COMMIT",
            "BEGIN; DELETE FROM users; COMMIT; ROLLBACK",
            "BEGIN; DELETE FROM users; END; BEGIN; ROLLBACK",
            "BEGIN; SAVEPOINT a; DELETE FROM users; ROLLBACK TO a",
            "BEGIN; SET autocommit = 1; DELETE FROM users; ROLLBACK",
            "BEGIN; TRUNCATE users; ROLLBACK",
            "BEGIN; SELECT pg_terminate_backend(1); ROLLBACK",
            "DELETE FROM users; BEGIN; ROLLBACK",
            "ROLLBACK; DELETE FROM users; BEGIN",
            "BEGIN; DELETE FROM users\\g COMMIT; ROLLBACK",
            "BEGIN TRANSACTION; DELETE FROM users COMMIT; ROLLBACK",
        ] {
            assert!(loses_data(sql, true), "{sql}");
        }
        for sql in [
            "SELECT * FROM drops",
            "DELETE FROM users WHERE id = 3",
            "UPDATE x SET a=1 WHERE id=2",
            "SELECT 'drop table x'",
            "-- drop table x\nSELECT 1",
            "CREATE TABLE x (a int)",
            "INSERT INTO log VALUES ('DELETE FROM users')",
            "BEGIN; DELETE FROM users; ROLLBACK",
            "start transaction; update users set a = 1; select 1; rollback;",
            "ALTER TABLE x ADD COLUMN y int",
        ] {
            assert!(!loses_data(sql, true), "{sql}");
        }
    }
}
