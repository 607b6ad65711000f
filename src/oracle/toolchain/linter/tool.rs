//! The linters: how each is found, called and read.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::edition;
use crate::workspace::Workspace;

/// How many files one call of a linter is given: the system bounds the length of a command line.
const FILES_A_CALL: usize = 400;

/// What one call is given beside what every call is.
#[derive(Clone, Debug, Default)]
pub(in crate::oracle) struct Call {
    /// Arguments that these files need.
    pub(super) arguments: Vec<String>,
    /// The files; none where it looks at the whole project.
    pub(super) files: Vec<String>,
}

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::oracle) enum Form {
    /// `path:line:column: message`; a note explains the finding before it.
    Places,
    /// The same, with `note` as a level of findings.
    Levels,
    /// `path(line,column): message`.
    Brackets,
    /// One file a line, which is not formatted.
    Files,
    /// ESLint's JSON.
    Eslint,
    /// Workflow commands of GitHub: `::error file=…,line=…::message`.
    Annotations,
}

/// One linter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::oracle) struct Tool {
    /// Its name in the configuration.
    pub(in crate::oracle) name: &'static str,
    pub(super) program: &'static str,
    pub(super) form: Form,
    /// Whether it is told the files; else it looks at the whole project.
    #[serde(default)]
    takes_files: bool,
    /// Whether it runs nothing of the project: settings of it cannot name a program or a plugin of code.
    #[serde(default)]
    pub(super) only_reads: bool,
    /// The code by which it says that it failed itself; its findings have another one.
    pub(super) stop: Option<i32>,
    /// The files by which a project says that it uses it.
    pub(super) files: Vec<&'static str>,
    /// A file and a text in it that says so too.
    section: Option<(String, String)>,
    /// The extensions of the files that it looks at.
    extensions: Vec<&'static str>,
    /// The arguments that check; the files follow where `takes_files`.
    pub(super) check: Vec<&'static str>,
    /// The arguments that fix; the files follow. None: it cannot, or not file by file.
    pub(in crate::oracle) fix: Option<Vec<&'static str>>,
}

/// Every linter that is known, from `policies/linters.json`.
pub(in crate::oracle) static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let text = include_str!("../../../../policies/linters.json");
    serde_json::from_str(text).unwrap_or_default()
});

impl Tool {
    /// Whether a project says that it uses this linter.
    pub(in crate::oracle) fn is_used_by(&self, workspace: &dyn Workspace) -> bool {
        self.files.iter().any(|file| workspace.exists(file))
            || self.section.as_ref().is_some_and(|(file, section)| {
                workspace
                    .read(file)
                    .is_ok_and(|text| memchr::memmem::find(&text, section.as_bytes()).is_some())
            })
    }

    /// Whether it looks at a file. `read` gives the content of one without an extension, whose first line may say what it is.
    pub(in crate::oracle) fn looks_at(
        &self,
        path: &str,
        read: impl Fn(&str) -> Option<Vec<u8>>,
    ) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.') {
            Some((_, extension)) => self.extensions.contains(&extension),
            None => read(path)
                .and_then(|content| extension_by_first_line(&content))
                .is_some_and(|extension| self.extensions.contains(&extension)),
        }
    }

    /// Returns the calls that it takes to look at files.
    pub(in crate::oracle) fn calls(
        &self,
        workspace: &dyn Workspace,
        files: &[String],
    ) -> Vec<Call> {
        if !self.takes_files {
            return vec![Call::default()];
        }
        let mut alike: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
        for file in files {
            let arguments = match self.name {
                // It knows nothing of packages.
                "rustfmt" => vec!["--edition".to_owned(), edition::of(file, workspace)],
                _ => Vec::new(),
            };
            alike.entry(arguments).or_default().push(file.clone());
        }
        let calls = alike.into_iter().flat_map(|(arguments, files)| {
            let of_files = move |files: &[String]| Call {
                arguments: arguments.clone(),
                files: files.to_vec(),
            };
            files.chunks(FILES_A_CALL).map(of_files).collect::<Vec<_>>()
        });
        calls.collect()
    }
}

/// Returns the extension that a script has by its first line, `#!/bin/sh` or `#!/usr/bin/env python3`.
fn extension_by_first_line(content: &[u8]) -> Option<&'static str> {
    let line = content
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line
        .split_whitespace()
        .map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.find(|word| *word != "env" && !word.starts_with('-'))?;
    match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "sh" | "dash" => Some("sh"),
        "bash" => Some("bash"),
        "ksh" => Some("ksh"),
        "python" => Some("py"),
        _ => None,
    }
}

#[cfg(test)]
#[test]
fn every_linter_is_read() {
    assert!(TOOLS.iter().any(|tool| tool.name == "shellcheck"));
}
