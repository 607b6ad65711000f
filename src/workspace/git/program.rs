//! Git: the `git` program, run so that neither the caller's environment nor the repository's own settings mislead it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::kept;
use crate::process::{Exit, ProcessError, Program};
use crate::words::words;
use crate::workspace::GitError;

/// How long one question may take. A healthy repository answers within milliseconds. The answer is for all oracles of an
/// event, so the deadline of the one that happens to ask first does not end it.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Enough for the paths of about a million files.
const MAX_OUTPUT: usize = 256 << 20;

/// The variable that names another index than that of the repository.
const INDEX: &str = "GIT_INDEX_FILE";

/// Variables by which a caller, say a git hook that runs `ahp`, points git at another repository or index, or
/// changes what its commands mean.
const MISLEADING: &[&str] = words!("misleading-git-variables");

/// The `git` program in one directory.
#[derive(Clone, Debug)]
pub(in crate::workspace) struct Git {
    dir: PathBuf,
}

impl Git {
    /// Makes it; nothing is run yet.
    pub(in crate::workspace) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
        }
    }

    /// Runs a command that must succeed, and returns its output.
    pub(in crate::workspace) fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        self.run_with_input(arguments, Vec::new())
    }

    /// Runs a command that must succeed, with something to read, and returns its output.
    pub(in crate::workspace) fn run_with_input(
        &self,
        arguments: &[&str],
        input: Vec<u8>,
    ) -> Result<Vec<u8>, GitError> {
        self.finish(arguments, &self.program(arguments).stdin(input), TIMEOUT)
    }

    /// Runs a command that must succeed, on another index than that of the repository where one is named.
    pub(in crate::workspace) fn run_on_index(
        &self,
        arguments: &[&str],
        index: Option<&Path>,
    ) -> Result<Vec<u8>, GitError> {
        let program = self.program(arguments);
        let program = match index {
            Some(index) => program.env(INDEX, index.as_os_str()),
            None => program,
        };
        self.finish(arguments, &program, TIMEOUT)
    }

    fn finish(
        &self,
        arguments: &[&str],
        program: &Program,
        time: Duration,
    ) -> Result<Vec<u8>, GitError> {
        let failed = |message: String| GitError::Failed {
            command: arguments.join(" "),
            message,
        };
        let finished = program.run().map_err(|error| match error {
            ProcessError::NotFound { .. } | ProcessError::NotExecutable { .. } => {
                GitError::NoProgram(error.to_string())
            }
            ProcessError::Io { .. } | ProcessError::TooDeep { .. } => failed(error.to_string()),
        })?;
        match finished.exit {
            Exit::Code(0) if finished.stdout_dropped == 0 => Ok(finished.stdout),
            Exit::Code(0) => Err(failed(format!("more than {MAX_OUTPUT} bytes of output"))),
            Exit::TimedOut => Err(failed(format!("no end after {} s", time.as_secs()))),
            Exit::Signal(signal) => Err(failed(format!("ended by signal {signal}"))),
            Exit::Code(code) => {
                let said = finished.stderr_text();
                let line = said
                    .lines()
                    .find(|line| line.starts_with("fatal:") || line.starts_with("error:"))
                    .or_else(|| said.lines().find(|line| !line.trim().is_empty()));
                let message = line.map_or_else(|| format!("exit code {code}"), str::to_owned);
                if message.contains("not a git repository") {
                    return Err(GitError::NoRepository(self.dir.display().to_string()));
                }
                Err(failed(message))
            }
        }
    }

    /// Runs a command that must succeed within a short time, and returns its output.
    pub(in crate::workspace) fn run_within(
        &self,
        arguments: &[&str],
        time: Duration,
    ) -> Result<Vec<u8>, GitError> {
        self.finish(
            arguments,
            &self
                .program(arguments)
                .deadline(Some(Instant::now() + time)),
            time,
        )
    }

    /// Runs a command whose failure means no, and returns the first line of its output.
    pub(in crate::workspace) fn ask(&self, arguments: &[&str]) -> Option<String> {
        let output = self.run(arguments).ok()?;
        let text = String::from_utf8_lossy(&output);
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// Whether there is a regular file of this name.
    pub(in crate::workspace) fn has_file(&self, path: &str) -> bool {
        let whole = self.dir.join(path);
        whole.is_file() && !whole.is_symlink()
    }

    /// Returns the beginning of a regular file; none where there is none.
    pub(in crate::workspace) fn beginning(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        let file = self
            .has_file(path)
            .then(|| File::open(self.dir.join(path)))?;
        let mut beginning = Vec::new();
        file.ok()?
            .take(most as u64)
            .read_to_end(&mut beginning)
            .ok()?;
        Some(beginning)
    }

    fn program(&self, arguments: &[&str]) -> Program {
        git(&self.dir, arguments)
            .deadline(Some(Instant::now() + TIMEOUT))
            .max_output(MAX_OUTPUT)
    }
}

/// Returns `git` with arguments in a directory, such that neither the caller's environment nor the repository's own settings
/// have it run programs or fetch.
pub(crate) fn git(dir: &Path, arguments: &[&str]) -> Program {
    let plain = plain(dir, arguments);
    let mut git = dir.ancestors().map(|dir| dir.join(".git"));
    let Some(git) = git.find(|git| git.exists()) else {
        return plain;
    };
    let [names_tree, names_driver] = says(&git, [&["worktree"], &["filter", "driver", "include"]]);
    // Its settings may have git look at another folder than the one that it stands in.
    let plain = match git.parent().filter(|_| names_tree) {
        Some(tree) => plain.env("GIT_WORK_TREE", tree.as_os_str()),
        None => plain,
    };
    let drivers = if names_driver {
        own_drivers(dir)
    } else {
        Vec::new()
    };
    if drivers.is_empty() {
        return plain;
    }
    let count = drivers.len().to_string();
    drivers.iter().enumerate().fold(
        plain.env("GIT_CONFIG_COUNT", count),
        |program, (n, (key, value))| {
            program
                .env(format!("GIT_CONFIG_KEY_{n}"), key)
                .env(format!("GIT_CONFIG_VALUE_{n}"), *value)
        },
    )
}

/// Whether the settings of a repository hold one of these words, for each of two lists; where they cannot be read, they may.
fn says(git: &Path, asked: [&[&str]; 2]) -> [bool; 2] {
    let Some(files) = settings_of(git) else {
        return [true; 2];
    };
    let texts = files.map(|file| match kept(&file) {
        Some(text) => Ok(text.to_ascii_lowercase()),
        None => Err(file.exists()),
    });
    asked.map(|words| {
        texts.iter().any(|text| match text {
            Ok(text) => words.iter().any(|word| text.contains(word)),
            Err(is_there) => *is_there,
        })
    })
}

fn plain(dir: &Path, arguments: &[&str]) -> Program {
    // A repository's own settings can name a file system monitor and a program for signatures, which git would run.
    let fixed = [
        "git",
        "--no-optional-locks",
        "--no-pager",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.untrackedCache=keep",
        "-c",
        "log.showSignature=false",
        "-c",
        "log.showRoot=true",
        "-c",
        "safe.bareRepository=explicit",
    ];
    let argv = fixed.iter().chain(arguments).map(|&a| a.to_owned());
    let program = Program::new(argv.collect())
        .dir(dir)
        .found_outside(dir)
        .env("LC_ALL", "C")
        // What a partial clone lacks would be asked of a remote, by a program that the repository can name.
        .env("GIT_NO_LAZY_FETCH", "1")
        // What is pushed is what was committed, not what replacements and grafts of this clone show in its place.
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_GRAFT_FILE", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0");
    MISLEADING.iter().fold(program, Program::env_remove)
}

/// What stands for a program that merges files: what git does without one.
const OWN_MERGE: &str = "git merge-file --marker-size=%L %A %O %B";

/// Returns settings that switch off the programs that the repository itself names for filtering and merging files; those that
/// its user has for all repositories stay, and so does `git-lfs`.
fn own_drivers(dir: &Path) -> Vec<(String, &'static str)> {
    let names = r"^(filter\.|merge\..*\.driver$)";
    let listing = ["config", "-z", "--show-scope", "--get-regexp", names];
    let listed = plain(dir, &listing)
        .deadline(Some(Instant::now() + TIMEOUT))
        .run();
    let Ok(listed) = listed else {
        return Vec::new();
    };
    let text = listed.stdout_text();
    let mut parts = text.split('\0');
    let mut found = Vec::new();
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
        if !matches!(scope, "local" | "worktree") || value.starts_with("git-lfs ") {
            continue;
        }
        let off = match key.rsplit('.').next() {
            Some("required") => "false",
            Some("driver") if key.starts_with("merge.") => OWN_MERGE,
            _ => "",
        };
        found.push((key.to_owned(), off));
    }
    found
}

/// Returns the files of settings of a repository, by what `.git` is: in a worktree or submodule a file that names the place.
fn settings_of(git: &Path) -> Option<[PathBuf; 2]> {
    let own = if git.is_dir() {
        git.to_owned()
    } else {
        let named = kept(git)?;
        git.parent()?
            .join(named.strip_prefix("gitdir: ")?.trim_end())
    };
    let common = match kept(own.join("commondir")) {
        Some(named) => own.join(named.trim_end()),
        None => own.clone(),
    };
    Some([common.join("config"), own.join("config.worktree")])
}
