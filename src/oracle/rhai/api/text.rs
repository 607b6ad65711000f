//! Text: regular expressions, lines, JSON and YAML.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex::{Regex, RegexBuilder};
use rhai::{Array, Dynamic, Engine, EvalAltResult};

use crate::oracle::rhai::limits::{Fallible, MAX_ITEMS, MAX_TEXT, failure, too_large};
use crate::oracle::rhai::list::List;
use crate::oracle::rhai::value::map;
use crate::oracle::rhai::{guard, value};

/// How large a compiled regular expression of a script may be, in bytes.
const MAX_REGEX: usize = 256 << 10;
/// How many of them are kept compiled.
const MAX_REGEXES: usize = 128;

pub(super) fn register(engine: &mut Engine) {
    engine.register_fn("matches", |text: &str, pattern: &str| {
        Ok::<_, Box<EvalAltResult>>(regex(pattern)?.is_match(text))
    });
    engine.register_fn("find_match", |text: &str, pattern: &str| {
        let found = regex(pattern)?.find(text).map(|found| found.as_str());
        Ok::<_, Box<EvalAltResult>>(found.map_or(Dynamic::UNIT, Into::into))
    });
    engine.register_fn("find_all", find_all);
    engine.register_fn("captures", |text: &str, pattern: &str| {
        let regex = regex(pattern)?;
        Ok::<_, Box<EvalAltResult>>(regex.captures(text).map_or(Dynamic::UNIT, |captures| {
            Dynamic::from_array(groups(&captures))
        }))
    });
    engine.register_fn("replace_all", replace_all);
    engine.register_fn("lines", |text: &str| text.lines().collect::<List>());
    engine.register_fn("glob", |path: &str, patterns: Dynamic| {
        let patterns = crate::oracle::rhai::list::texts(&patterns)?;
        Ok::<_, Box<EvalAltResult>>(
            patterns
                .iter()
                .any(|glob| fast_glob::glob_match(glob, path)),
        )
    });
    engine.register_fn("parse_json", |text: &str| {
        serde_json::from_str(text)
            .map(|json| value::from_json(&json))
            .map_err(|e| failure(format!("not JSON: {e}")))
    });
    engine.register_fn("to_json", |value: Dynamic| {
        value::to_json(&value).to_string()
    });
    engine.register_fn("to_json", |map: &mut rhai::Map| {
        value::to_json(&Dynamic::from_map(map.clone())).to_string()
    });
    engine.register_fn("parse_yaml", |text: &str| {
        parse_yaml(text).map(|json| value::from_json(&json))
    });
}

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
