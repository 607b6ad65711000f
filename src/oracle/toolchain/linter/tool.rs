//! The linters: how each is found, called and read.

use std::collections::BTreeMap;

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
#[derive(Clone, Copy, Debug)]
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
#[derive(Debug)]
pub(in crate::oracle) struct Tool {
    /// Its name in the configuration.
    pub(in crate::oracle) name: &'static str,
    /// The files by which a project says that it uses it.
    pub(in crate::oracle) files: &'static [&'static str],
    /// A text in `pyproject.toml` or `package.json` that says so too.
    pub(in crate::oracle) section: Option<(&'static str, &'static str)>,
    /// The extensions of the files that it looks at.
    pub(in crate::oracle) extensions: &'static [&'static str],
    /// The program.
    pub(in crate::oracle) program: &'static str,
    /// The arguments that check; the files follow where `takes_files`.
    pub(in crate::oracle) check: &'static [&'static str],
    /// The arguments that fix; the files follow. None: it cannot, or not file by file.
    pub(in crate::oracle) fix: Option<&'static [&'static str]>,
    /// Whether it is told the files; else it looks at the whole project.
    pub(in crate::oracle) takes_files: bool,
    /// How its findings are written.
    pub(in crate::oracle) form: Form,
}

/// Every linter that is known.
pub(in crate::oracle) static TOOLS: &[Tool] = &[
    Tool {
        name: "clippy",
        files: &["Cargo.toml"],
        section: None,
        extensions: &["rs"],
        program: "cargo",
        check: &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--quiet",
            "--message-format=short",
        ],
        fix: None,
        takes_files: false,
        form: Form::Places,
    },
    Tool {
        name: "rustfmt",
        files: &["Cargo.toml"],
        section: None,
        extensions: &["rs"],
        program: "rustfmt",
        check: &["--check", "-l", "--config", "skip_children=true"],
        fix: Some(&[]),
        takes_files: true,
        form: Form::Files,
    },
    Tool {
        name: "ruff",
        files: &["ruff.toml", ".ruff.toml"],
        section: Some(("pyproject.toml", "[tool.ruff")),
        extensions: &["py", "pyi"],
        program: "ruff",
        check: &[
            "check",
            "--output-format=concise",
            "--quiet",
            "--force-exclude",
        ],
        fix: Some(&["check", "--fix", "--quiet", "--force-exclude"]),
        takes_files: true,
        form: Form::Places,
    },
    Tool {
        name: "mypy",
        files: &["mypy.ini", ".mypy.ini"],
        section: Some(("pyproject.toml", "[tool.mypy")),
        extensions: &["py", "pyi"],
        program: "mypy",
        check: &[
            "--no-pretty",
            "--no-color-output",
            "--no-error-summary",
            "--hide-error-context",
        ],
        fix: None,
        takes_files: true,
        form: Form::Places,
    },
    Tool {
        name: "tsc",
        files: &["tsconfig.json"],
        section: None,
        extensions: &["ts", "tsx", "mts", "cts"],
        program: "tsc",
        check: &["--noEmit", "--pretty", "false"],
        fix: None,
        takes_files: false,
        form: Form::Brackets,
    },
    Tool {
        name: "eslint",
        files: &[
            "eslint.config.js",
            "eslint.config.mjs",
            "eslint.config.cjs",
            "eslint.config.ts",
            ".eslintrc",
            ".eslintrc.js",
            ".eslintrc.cjs",
            ".eslintrc.json",
            ".eslintrc.yml",
            ".eslintrc.yaml",
        ],
        section: Some(("package.json", "\"eslintConfig\"")),
        extensions: &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue"],
        program: "eslint",
        check: &["--format", "json", "--no-error-on-unmatched-pattern"],
        fix: Some(&["--fix", "--no-error-on-unmatched-pattern"]),
        takes_files: true,
        form: Form::Eslint,
    },
    Tool {
        name: "prettier",
        files: &[
            ".prettierrc",
            ".prettierrc.json",
            ".prettierrc.yml",
            ".prettierrc.yaml",
            ".prettierrc.js",
            ".prettierrc.cjs",
            ".prettierrc.mjs",
            ".prettierrc.toml",
            "prettier.config.js",
            "prettier.config.mjs",
            "prettier.config.cjs",
        ],
        section: Some(("package.json", "\"prettier\": {")),
        extensions: &[
            "js", "jsx", "mjs", "cjs", "ts", "tsx", "css", "scss", "less", "json", "md", "yaml",
            "yml", "html", "vue",
        ],
        program: "prettier",
        check: &["--list-different", "--ignore-unknown"],
        fix: Some(&["--write", "--log-level", "warn", "--ignore-unknown"]),
        takes_files: true,
        form: Form::Files,
    },
    Tool {
        name: "biome",
        files: &["biome.json", "biome.jsonc"],
        section: None,
        extensions: &[
            "js", "jsx", "mjs", "cjs", "ts", "tsx", "css", "json", "jsonc",
        ],
        program: "biome",
        check: &[
            "check",
            "--reporter=github",
            "--no-errors-on-unmatched",
            "--max-diagnostics=500",
        ],
        fix: Some(&["check", "--write", "--no-errors-on-unmatched"]),
        takes_files: true,
        form: Form::Annotations,
    },
    Tool {
        name: "golangci-lint",
        files: &[
            ".golangci.yml",
            ".golangci.yaml",
            ".golangci.toml",
            ".golangci.json",
        ],
        section: None,
        extensions: &["go"],
        program: "golangci-lint",
        check: &["run"],
        fix: None,
        takes_files: false,
        form: Form::Places,
    },
    Tool {
        name: "go-vet",
        files: &["go.mod"],
        section: None,
        extensions: &["go"],
        program: "go",
        check: &["vet", "./..."],
        fix: None,
        takes_files: false,
        form: Form::Places,
    },
    Tool {
        name: "gofmt",
        files: &["go.mod"],
        section: None,
        extensions: &["go"],
        program: "gofmt",
        check: &["-l"],
        fix: Some(&["-w"]),
        takes_files: true,
        form: Form::Files,
    },
    Tool {
        name: "shellcheck",
        files: &[".shellcheckrc"],
        section: None,
        extensions: &["sh", "bash", "ksh"],
        program: "shellcheck",
        check: &["-f", "gcc"],
        fix: None,
        takes_files: true,
        form: Form::Levels,
    },
];

impl Tool {
    /// Whether a project says that it uses this linter.
    pub(in crate::oracle) fn is_used_by(&self, workspace: &dyn Workspace) -> bool {
        self.files.iter().any(|file| workspace.exists(file))
            || self.section.is_some_and(|(file, section)| {
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
