//! Git: the `git` program, run so that neither the caller's environment nor the repository's own settings mislead it.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use crate::process::Exit;
use crate::process::ProcessError;
use crate::process::Program;
use crate::workspace::GitError;

/// How long one question may take. A healthy repository answers within milliseconds. The answer is for all oracles of an
/// event, so the deadline of the one that happens to ask first does not end it.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Enough for the paths of about a million files.
const MAX_OUTPUT: usize = 256 << 20;

/// Variables by which a caller, say a git hook that runs `ahp`, points git at another repository or index, or
/// changes what its commands mean.
const MISLEADING: [&str; 19] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_INDEX_VERSION",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_TRACE",
];

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
        let failed = |message: String| GitError::Failed {
            command: arguments.join(" "),
            message,
        };
        let finished = self
            .program(arguments)
            .stdin(input)
            .run()
            .map_err(|error| match error {
                ProcessError::NotFound { .. } | ProcessError::NotExecutable { .. } => {
                    GitError::NoProgram(error.to_string())
                }
                ProcessError::Io { .. } => failed(error.to_string()),
            })?;
        match finished.exit {
            Exit::Code(0) if finished.stdout_dropped == 0 => Ok(finished.stdout),
            Exit::Code(0) => Err(failed(format!("more than {MAX_OUTPUT} bytes of output"))),
            Exit::TimedOut => Err(failed(format!("no end after {} s", TIMEOUT.as_secs()))),
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

    /// Runs a command whose failure means no, and returns the first line of its output.
    pub(in crate::workspace) fn ask(&self, arguments: &[&str]) -> Option<String> {
        let output = self.run(arguments).ok()?;
        let text = String::from_utf8_lossy(&output);
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    fn program(&self, arguments: &[&str]) -> Program {
        // A repository's own settings can name a file system monitor, which git would run as a command.
        let fixed = [
            "git",
            "--no-optional-locks",
            "--no-pager",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.untrackedCache=keep",
            "-c",
            "safe.bareRepository=explicit",
        ];
        let argv = fixed.iter().chain(arguments).map(|&a| a.to_owned());
        let program = Program::new(argv.collect())
            .dir(&self.dir)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .deadline(Some(Instant::now() + TIMEOUT))
            .max_output(MAX_OUTPUT);
        MISLEADING.into_iter().fold(program, Program::env_remove)
    }
}
