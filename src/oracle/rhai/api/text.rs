//! Text: regular expressions, lines, JSON and YAML.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex::{Regex, RegexBuilder};
use rhai::{Array, Dynamic, EvalAltResult};

use super::{Function, Group};
use crate::oracle::rhai::limits::{Fallible, MAX_ITEMS, MAX_TEXT, failure, too_large};
use crate::oracle::rhai::list::List;
use crate::oracle::rhai::value::map;
use crate::oracle::rhai::{guard, value};

/// How large a compiled regular expression of a script may be, in bytes.
const MAX_REGEX: usize = 256 << 10;
/// How many of them are kept compiled.
const MAX_REGEXES: usize = 128;

pub(super) const GROUP: Group = Group {
    title: "Text",
    doc: "Regular expressions are those of Rust's `regex`: they take time linear in the text, and have neither look-around nor back-references. Positions and lines count from 1.",
    functions: &[
        Function {
            signature: "matches(text, regex) -> bool",
            doc: "Whether the regular expression is found anywhere in the text.",
            example: r#""src/api/users.rs".matches("^src/(api|routes)/")"#,
            register: |engine| {
                engine.register_fn("matches", |text: &str, pattern: &str| {
                    Ok::<_, Box<EvalAltResult>>(regex(pattern)?.is_match(text))
                });
            },
        },
        Function {
            signature: "find_match(text, regex) -> text or ()",
            doc: "The first match.",
            example: r#"find_match("fixes FEAT-0123 today", "[A-Z]+-[0-9]+") == "FEAT-0123""#,
            register: |engine| {
                engine.register_fn("find_match", |text: &str, pattern: &str| {
                    let found = regex(pattern)?.find(text).map(|found| found.as_str());
                    Ok::<_, Box<EvalAltResult>>(found.map_or(Dynamic::UNIT, Into::into))
                });
            },
        },
        Function {
            signature: "find_all(text, regex) -> list of #{text, line, groups}",
            doc: "Every match, with its line and the texts of its groups.",
            example: r#"let found = find_all("a = 1\nb = 2", "(?m)^(\\w) = (\\d)$"); found[1].line == 2 && found[1].groups == ["b", "2"]"#,
            register: |engine| {
                engine.register_fn("find_all", find_all);
            },
        },
        Function {
            signature: "captures(text, regex) -> list or ()",
            doc: "The texts of the groups of the first match; `()` for a group that took no part.",
            example: r#"captures("feat(api): add", "^(\\w+)\\((\\w+)\\)") == ["feat", "api"]"#,
            register: |engine| {
                engine.register_fn("captures", |text: &str, pattern: &str| {
                    let regex = regex(pattern)?;
                    Ok::<_, Box<EvalAltResult>>(
                        regex.captures(text).map_or(Dynamic::UNIT, |captures| {
                            Dynamic::from_array(groups(&captures))
                        }),
                    )
                });
            },
        },
        Function {
            signature: "replace_all(text, regex, with) -> text",
            doc: "The text with every match replaced; `$1` in `with` stands for the first group.",
            example: r#"replace_all("src/a.rs", "^src/(.*)\\.rs$", "docs/$1.md") == "docs/a.md""#,
            register: |engine| {
                engine.register_fn("replace_all", replace_all);
            },
        },
        Function {
            signature: "lines(text) -> list",
            doc: "The lines of a text, without their ends.",
            example: r#"lines("one\ntwo\n").len() == 2"#,
            register: |engine| {
                engine.register_fn("lines", |text: &str| text.lines().collect::<List>());
            },
        },
        Function {
            signature: "glob(path, pattern) -> bool",
            doc: "Whether a path matches a glob, or any of a list of globs: `*` stays in one directory, `**` does not.",
            example: r#"glob("src/api/users.rs", "src/**/*.rs") && glob("a.md", ["*.txt", "*.md"])"#,
            register: |engine| {
                engine.register_fn("glob", |path: &str, patterns: Dynamic| {
                    let patterns = crate::oracle::rhai::list::texts(&patterns)?;
                    Ok::<_, Box<EvalAltResult>>(
                        patterns
                            .iter()
                            .any(|glob| fast_glob::glob_match(glob, path)),
                    )
                });
            },
        },
        Function {
            signature: "parse_json(text) -> value",
            doc: "Reads JSON; an error names the line.",
            example: r#"parse_json("{\"a\": [1, 2]}").a[1] == 2"#,
            register: |engine| {
                engine.register_fn("parse_json", |text: &str| {
                    serde_json::from_str(text)
                        .map(|json| value::from_json(&json))
                        .map_err(|e| failure(format!("not JSON: {e}")))
                });
            },
        },
        Function {
            signature: "to_json(value) -> text",
            doc: "Writes a value as JSON.",
            example: r#"to_json(#{a: [1, "x", ()]}) == "{\"a\":[1,\"x\",null]}""#,
            register: |engine| {
                engine.register_fn("to_json", |value: Dynamic| {
                    value::to_json(&value).to_string()
                });
                engine.register_fn("to_json", |map: &mut rhai::Map| {
                    value::to_json(&Dynamic::from_map(map.clone())).to_string()
                });
            },
        },
        Function {
            signature: "parse_yaml(text) -> value",
            doc: "Reads YAML; an error names the line.",
            example: r#"parse_yaml("on: [push]\nname: ci").name == "ci""#,
            register: |engine| {
                engine.register_fn("parse_yaml", |text: &str| {
                    parse_yaml(text).map(|json| value::from_json(&json))
                });
            },
        },
    ],
};

/// Compiles a regular expression, or finds it among those that are compiled already.
fn regex(pattern: &str) -> Fallible<Arc<Regex>> {
    static COMPILED: OnceLock<Mutex<HashMap<String, Arc<Regex>>>> = OnceLock::new();
    let mut compiled = COMPILED
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = compiled.get(pattern) {
        return Ok(regex.clone());
    }
    let regex = RegexBuilder::new(pattern)
        .size_limit(MAX_REGEX)
        .dfa_size_limit(MAX_REGEX)
        .build()
        .map_err(|e| {
            failure(format!(
                "the regular expression `{}` is not valid: {}",
                shortened(pattern),
                reason(&e)
            ))
        })?;
    if compiled.len() >= MAX_REGEXES {
        compiled.clear();
    }
    let regex = Arc::new(regex);
    compiled.insert(pattern.to_owned(), regex.clone());
    Ok(regex)
}

/// Says in one line what is wrong with a regular expression.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

fn shortened(pattern: &str) -> String {
    pattern.chars().take(80).collect()
}

fn groups(captures: &regex::Captures<'_>) -> Array {
    captures
        .iter()
        .skip(1)
        .map(|group| group.map_or(Dynamic::UNIT, |group| group.as_str().into()))
        .collect()
}

fn find_all(text: &str, pattern: &str) -> Fallible<Array> {
    let regex = regex(pattern)?;
    let mut found = Array::new();
    let (mut line, mut counted) = (1_i64, 0);
    for captures in regex.captures_iter(text) {
        let Some(whole) = captures.get(0) else {
            continue;
        };
        if found.len() == MAX_ITEMS {
            return Err(too_large("Size of array/BLOB"));
        }
        if guard::is_over() {
            break;
        }
        let between = text.get(counted..whole.start()).unwrap_or_default();
        line += i64::try_from(memchr::memchr_iter(b'\n', between.as_bytes()).count())
            .unwrap_or(i64::MAX);
        counted = whole.start();
        found.push(map([
            ("text", whole.as_str().into()),
            ("line", line.into()),
            ("groups", Dynamic::from_array(groups(&captures))),
        ]));
    }
    Ok(found)
}

fn replace_all(text: &str, pattern: &str, with: &str) -> Fallible<String> {
    let regex = regex(pattern)?;
    let mut replaced = String::new();
    let mut copied = 0;
    for captures in regex.captures_iter(text) {
        let Some(whole) = captures.get(0) else {
            continue;
        };
        replaced.push_str(text.get(copied..whole.start()).unwrap_or_default());
        captures.expand(with, &mut replaced);
        copied = whole.end();
        if replaced.len() > MAX_TEXT {
            return Err(too_large("Length of string"));
        }
    }
    replaced.push_str(text.get(copied..).unwrap_or_default());
    Ok(replaced)
}

fn parse_yaml(text: &str) -> Fallible<serde_json::Value> {
    let options = serde_yaml::options! {
        strict_booleans: true,
        budget: serde_yaml::budget! { max_events: 20_000 },
    };
    serde_yaml::from_str_with_options(text, options).map_err(|e| {
        failure(format!(
            "not YAML: {}",
            e.to_string().lines().next().unwrap_or_default()
        ))
    })
}
