//! Brought: what the lines of a change bring: code, tests, documentation.

use std::collections::BTreeSet;

use crate::oracle::added::{self, Added};
use crate::oracle::toolchain::test_run::{CODE, is_test_attribute};
use crate::oracle::{HookContext, OracleError};
use crate::workspace::{ChangedFile, Changes};

/// The lines that a change adds and takes away.
pub(super) struct Brought<'a> {
    context: &'a HookContext,
    /// None where the project is not on the disk, so that no lines are known.
    lines: Option<[Vec<Added>; 2]>,
}

impl<'a> Brought<'a> {
    /// Reads the lines of the change of the event's issue.
    pub(super) fn by(context: &'a HookContext, changes: &Changes) -> Result<Self, OracleError> {
        let is_known = context.workspace().is_on_disk();
        let lines = is_known.then(|| added::by_issue(context, changes));
        let lines = lines.transpose()?;
        Ok(Self { context, lines })
    }

    /// Whether more than comments and blank lines of a file were changed; a file without any changed line counts too.
    pub(super) fn changes_code(&self, file: &ChangedFile) -> bool {
        let Some(both) = &self.lines else {
            return true;
        };
        let is_of = |lines: &&Added| {
            let path = lines.path.as_ref();
            path == Some(&file.path) || path.is_some() && path == file.old_path.as_ref()
        };
        let mut changed = both.iter().flatten().filter(is_of).peekable();
        changed.peek().is_none()
            || changed.any(|lines| lines.text.lines().any(|line| is_code(&file.path, line)))
    }

    /// Whether a test file gains more than comments and imports, and holds a test that looks at anything.
    pub(super) fn adds_test(&self, path: &str) -> bool {
        let text = self.context.text(path);
        let may_call = CODE.contains(&extension(path));
        if may_call && text.is_some_and(|text| !text.lines().any(looks_at_something)) {
            return false;
        }
        self.adds(path, |added| {
            let mut lines = added.text.lines();
            lines.any(|line| is_code(path, line) && !is_import(path, line))
        })
    }

    /// Whether a file gains words.
    pub(super) fn adds_words(&self, path: &str) -> bool {
        self.adds(path, |added| added.text.contains(char::is_alphanumeric))
    }

    /// Whether the tests in a Rust file gain a line.
    pub(super) fn adds_unit_test(&self, path: &str) -> bool {
        let bytes = self.context.workspace().read(path);
        let Some(text) = bytes.ok().map(|bytes| added::text_of(&bytes)) else {
            return false;
        };
        let all: Vec<&str> = text.lines().collect();
        let tests = lines_of_tests(&all);
        let line = |n: &usize| all.get(n - 1).copied().unwrap_or_default();
        if !tests.iter().any(|n| looks_at_something(line(n))) {
            return false;
        }
        if self.lines.is_none() {
            return !tests.is_empty();
        }
        self.adds(path, |added| {
            let mut lines = added.text.split_inclusive('\n').scan(0, |at, line| {
                let number = added.line_at(*at);
                *at += line.len();
                Some((number as usize, line.trim_end()))
            });
            lines.any(|(number, line)| {
                let is_within = match added.commit {
                    None => tests.contains(&number),
                    // Later commits may have moved it.
                    Some(_) => tests.iter().any(|n| all.get(n - 1) == Some(&line)),
                };
                is_within && is_code(path, line) && !is_import(path, line)
            })
        })
    }

    fn adds(&self, path: &str, says: impl Fn(&Added) -> bool) -> bool {
        let Some([added, _]) = &self.lines else {
            return true;
        };
        let mut of_file = added.iter().filter(|a| a.path.as_deref() == Some(path));
        of_file.any(says)
    }
}

/// Returns the numbers of the lines that items with an attribute of tests take, from 1.
///
/// An item ends where a line begins with a brace as deep as the attribute, as formatted code has it, or with a line of its own.
fn lines_of_tests(lines: &[&str]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut within = None;
    for (number, line) in (1..).zip(lines) {
        let text = line.trim_start();
        let depth = line.len() - text.len();
        if within.is_none() && is_test_attribute(text) {
            within = Some(depth);
        }
        if let Some(start) = within {
            found.insert(number);
            let ends = depth == start && !text.starts_with("#[") && text.trim_end().ends_with('}');
            if ends {
                within = None;
            }
        }
    }
    found
}

/// Whether a line says something that is no comment.
fn is_code(path: &str, line: &str) -> bool {
    let line = line.trim();
    if !line.contains(char::is_alphanumeric) {
        return false;
    }
    let marks: &[&str] = match extension(path) {
        "py" | "rb" | "sh" | "pl" | "ex" | "exs" => &["#", "\"\"\"", "'''"],
        "lua" => &["--"],
        "php" => &["//", "/*", "*/", "* ", "#"],
        known if CODE.contains(&known) => &["//", "/*", "*/", "* "],
        _ => &["//", "/*", "*", "#", "--", "<!--"],
    };
    // These look like comments, and decide what runs.
    let is_order = ["#!", "#[", "//go:"].iter().any(|m| line.starts_with(m));
    let behind = line.rsplit_once("*/").map_or("", |(_, behind)| behind);
    is_order
        || behind.contains(char::is_alphanumeric)
        || !marks.iter().any(|mark| line.starts_with(mark))
}

/// Whether a line of a test calls or asserts anything, other than the words that begin a test.
fn looks_at_something(line: &str) -> bool {
    const BEGINS: &[&str] = &[
        "#[",
        "@",
        "async ",
        "class ",
        "def ",
        "fn ",
        "fun ",
        "func ",
        "function ",
        "mod ",
        "private ",
        "public ",
        "pub ",
        "void ",
    ];
    let line = line.trim();
    let begins = BEGINS.iter().any(|word| line.starts_with(word)) || line.contains("function");
    let body = match line.split_once("=>") {
        Some((_, body)) => body,
        None if begins => (line.find(['{', ':']))
            .and_then(|at| line.get(at + 1..))
            .unwrap_or_default(),
        None => line,
    };
    let is_comment = ["//", "/*", "* ", "#"]
        .iter()
        .any(|mark| line.starts_with(mark));
    !is_comment && (body.contains('(') || body.contains("assert") || body.contains("expect"))
}

/// Whether a line of code only names what other lines may use.
fn is_import(path: &str, line: &str) -> bool {
    const STARTS: &[&str] = &[
        "#include",
        "extern crate ",
        "from ",
        "import ",
        "package ",
        "pub use ",
        "require ",
        "require_relative ",
        "use ",
        "using ",
    ];
    let line = line.trim();
    let is_required = || {
        ["const ", "let ", "var "]
            .iter()
            .any(|m| line.starts_with(m))
            && line.contains("require(")
    };
    CODE.contains(&extension(path)) && (STARTS.iter().any(|m| line.starts_with(m)) || is_required())
}

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}
