//! Reads policy tests from YAML, and from the YAML blocks of Markdown.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::case::{Case, Place, TestFile};
use super::expectation::Expectation;
use super::setup::Setup;
use crate::config::{Key, Node, Value, decode, parse_yaml};
use crate::diagnostic::{Code, Diagnostic, FileId, SourceMap, Span};

/// Finds the files with tests: the file itself, or every `*.yaml`, `*.yml` and `*.md` below a directory that holds tests, sorted.
/// An unreadable file may hold tests, and an empty one in a directory `tests` should: [`read`] reports both as faults.
///
/// # Errors
/// The path cannot be read.
pub fn find_files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    walk(path, &mut files)?;
    files.sort();
    Ok(files)
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if is_test(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a file is to be read for tests: it has the ending and a `tests:` at the beginning of a line.
fn is_test(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str());
    let is_for_tests = || {
        path.parent()
            .is_some_and(|folder| folder.ends_with("tests"))
    };
    matches!(ending, Some("yaml" | "yml" | "md"))
        && fs::read(path).map_or(true, |bytes| {
            let text = String::from_utf8_lossy(&bytes);
            holds_tests(&text) || text.trim().is_empty() && is_for_tests()
        })
}

/// Whether a text has the key `tests` at the beginning of a line, whatever follows on it.
fn holds_tests(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| {
        let rest = line.strip_prefix("tests:");
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    })
}

/// Reads a file with tests. What is wrong in it, and that it cannot be read or holds none, is told in [`TestFile::faults`].
pub fn read(path: &Path, shown: &str) -> TestFile {
    let (text, error) = match fs::read_to_string(path) {
        Ok(text) => (text, None),
        Err(error) => (String::new(), Some(error)),
    };
    let mut sources = SourceMap::default();
    let id = sources.add(shown, text.as_str());
    let start = Span {
        file: id,
        line: 1,
        column: 1,
        ..Span::default()
    };
    let mut file = TestFile {
        path: path.to_owned(),
        text: text.clone(),
        cases: Vec::new(),
        faults: Vec::new(),
        sources,
    };
    if let Some(error) = error {
        let told = format!("the file cannot be read: {error}");
        file.faults
            .push(Diagnostic::error(Code::Unreadable, told, start));
    } else if path.extension().is_some_and(|e| e == "md") {
        for block in blocks(&text) {
            read_yaml(&block, id, &mut file);
        }
    } else {
        read_yaml(&text, id, &mut file);
    }
    if file.cases.is_empty() && file.faults.is_empty() {
        let none = Diagnostic::error(Code::MissingKey, "the file holds no test", start);
        file.faults
            .push(none.help("write tests below `tests:`, or delete the file"));
    }
    file
}

/// Returns each YAML block of a Markdown text that holds tests, with as many empty lines before it as stand before
/// it in the text, so that its lines have their own numbers.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for (n, line) in text.lines().enumerate() {
        match &mut open {
            None if line.trim_end() == "```yaml" => open = Some("\n".repeat(n + 1)),
            None => {}
            Some(block) if line.trim_end() == "```" => {
                blocks.push(std::mem::take(block));
                open = None;
            }
            Some(block) => {
                block.push_str(line);
                block.push('\n');
            }
        }
    }
    blocks.retain(|block| holds_tests(block));
    blocks
}

fn read_yaml(text: &str, id: FileId, file: &mut TestFile) {
    let Some(node) = parse_yaml(text, id, &mut file.faults) else {
        return;
    };
    let (tests, own) = split(&node, &["tests"]);
    let common = match decode::<Setup>(&own) {
        Ok(setup) => setup,
        Err(error) => {
            file.faults.push(error.into_diagnostic(node.span));
            return;
        }
    };
    let Some((_, tests)) = tests.first() else {
        file.faults.push(Diagnostic::error(
            Code::MissingKey,
            "the key `tests` is missing",
            node.span,
        ));
        return;
    };
    let Value::Seq(tests) = &tests.value else {
        file.faults.push(Diagnostic::error(
            Code::WrongType,
            format!("expected a list of tests, found {}", tests.type_name()),
            tests.span,
        ));
        return;
    };
    file.faults.extend(unused(&own, &Setup::default()));
    for test in tests {
        file.faults.extend(unused(test, &common));
        read_test(test, &common, file);
    }
}

/// Finds keys of a binding beside a pack or a policy, which bring their own: they would change nothing.
fn unused(test: &Node, common: &Setup) -> Vec<Diagnostic> {
    let subjects = ["policy", "pack", "oracle"];
    let own = subjects.into_iter().find(|key| test.get(key).is_some());
    let of_file = [
        common.policy.as_ref().map(|_| "policy"),
        common.pack.as_ref().map(|_| "pack"),
    ];
    let subject = match own {
        Some(own) => Some(own),
        None => of_file.into_iter().flatten().next(),
    };
    let Some(subject) = subject.filter(|subject| *subject != "oracle") else {
        return Vec::new();
    };
    let given = ["config", "binding"].into_iter();
    let given = given.filter_map(|key| Some((key, test.get(key)?)));
    given
        .map(|(key, node)| {
            let told = format!("`{key}` changes nothing beside `{subject}`: it is for an `oracle`");
            Diagnostic::error(Code::BadValue, told, node.span)
                .help("write it in a `policy:` of the test's own, or name the `oracle` it is for")
        })
        .collect()
}

fn read_test(test: &Node, common: &Setup, file: &mut TestFile) {
    let (_, body) = split(test, &["table"]);
    let rows = match test.get("table").map(|table| &table.value) {
        None => {
            if let Some(case) = case(&body, None, common, file) {
                file.cases.push(case);
            }
            return;
        }
        Some(Value::Seq(rows)) if !rows.is_empty() => rows,
        Some(_) => {
            file.faults.push(Diagnostic::error(
                Code::WrongType,
                "expected a list of rows, at least one",
                test.get("table").map_or(test.span, |table| table.span),
            ));
            return;
        }
    };
    for row in rows {
        let mut made = body.clone();
        substitute(&mut made, row);
        if let Some(case) = case(&made, Some(row), common, file) {
            file.cases.push(case);
        }
    }
}

fn case(test: &Node, row: Option<&Node>, common: &Setup, file: &mut TestFile) -> Option<Case> {
    let (own, rest) = split(test, &["name", "expect"]);
    let of = |name: &str| own.iter().find(|(key, _)| key.name == name);
    let in_row = row.and_then(|row| row.entries().iter().find(|(key, _)| key.name == "expect"));
    let Some((expect_key, expect)) = in_row.or_else(|| of("expect")) else {
        file.faults.push(
            Diagnostic::error(Code::MissingKey, "the key `expect` is missing", test.span)
                .help("write `expect: none`, `allow`, `ask` or `block`, or a map"),
        );
        return None;
    };
    let read = decode::<Setup>(&rest).and_then(|setup| Ok((setup, Expectation::read(expect)?)));
    let (setup, expectation) = match read {
        Ok(read) => read,
        Err(error) => {
            file.faults.push(error.into_diagnostic(test.span));
            return None;
        }
    };
    let mut name = of("name")
        .and_then(|(_, node)| node.as_str())
        .map_or_else(|| format!("line {}", test.span.line), str::to_owned);
    if let Some(row) = row {
        let values: Vec<_> = row
            .entries()
            .iter()
            .filter(|(key, _)| key.name != "expect")
            .map(|(_, node)| {
                node.as_str()
                    .map_or_else(|| node.to_json().to_string(), str::to_owned)
            })
            .collect();
        name = format!("{name} [{}]", values.join(", "));
    }
    Some(Case {
        name,
        line: row.map_or(test.span.line, |row| row.span.line),
        expect_at: match row {
            Some(row) if in_row.is_none() => Place::Shared(row.span),
            _ => Place::Own {
                key: expect_key.span,
                value: expect.span,
            },
        },
        setup: setup.over(common),
        expect: expectation,
    })
}

/// Takes some entries out of a map.
fn split(node: &Node, names: &[&str]) -> (Vec<(Key, Node)>, Node) {
    let (taken, rest) = node
        .entries()
        .iter()
        .cloned()
        .partition(|(key, _)| names.contains(&key.name.as_str()));
    let rest = match &node.value {
        Value::Map(_) => Node::new(Value::Map(rest), node.span),
        _ => node.clone(),
    };
    (taken, rest)
}

/// Puts the values of a table's row in the place of `${name}`; a text that is nothing else becomes the value itself.
fn substitute(node: &mut Node, row: &Node) {
    match &mut node.value {
        Value::Str(text) => {
            for (key, value) in row.entries() {
                let mark = format!("${{{}}}", key.name);
                if *text == mark {
                    node.value = value.value.clone();
                    return;
                }
                if text.contains(&mark) {
                    let value = value
                        .as_str()
                        .map_or_else(|| value.to_json().to_string(), str::to_owned);
                    *text = text.replace(&mark, &value);
                }
            }
        }
        Value::Seq(items) => items.iter_mut().for_each(|item| substitute(item, row)),
        Value::Map(entries) => entries
            .iter_mut()
            .for_each(|(_, item)| substitute(item, row)),
        _ => {}
    }
}
