//! A throw-away git repository.

use std::path::Path;

use ahp::process::Program;
use ahp::workspace::{Change, ChangeScope, DiskWorkspace, Workspace as _};

/// A repository that vanishes with the value.
#[derive(Debug)]
pub(crate) struct Repository {
    dir: tempfile::TempDir,
}

impl Repository {
    /// Makes an empty repository whose first branch is `main`.
    pub(crate) fn new() -> Self {
        let repository = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        repository.git("init -q -b main .");
        repository
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Runs git with words that hold no blanks.
    pub(crate) fn git(&self, arguments: &str) -> String {
        self.git_in("", arguments)
    }

    /// Runs git in a folder of the repository.
    pub(crate) fn git_in(&self, dir: &str, arguments: &str) -> String {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        self.git_words(dir, &arguments)
    }

    /// Runs git with any words, untouched by the settings of who runs the tests.
    pub(crate) fn git_words(&self, dir: &str, arguments: &[&str]) -> String {
        let argv = ["git", "-c", "protocol.file.allow=always"];
        let argv = argv.iter().chain(arguments).map(|&word| word.to_owned());
        let finished = Program::new(argv.collect())
            .dir(self.root().join(dir))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "Tess")
            .env("GIT_AUTHOR_EMAIL", "tess@example.org")
            .env("GIT_COMMITTER_NAME", "Tess")
            .env("GIT_COMMITTER_EMAIL", "tess@example.org")
            .run()
            .unwrap();
        assert!(
            finished.exit.is_success(),
            "git {arguments:?}: {}",
            finished.stderr_text()
        );
        finished.stdout_text().trim().to_owned()
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.root().join(path)).unwrap();
    }

    /// Commits everything.
    pub(crate) fn commit(&self, subject: &str) -> &Self {
        self.git("add -A");
        self.git_words("", &["commit", "-q", "--allow-empty", "-m", subject]);
        self
    }

    pub(crate) fn workspace(&self) -> DiskWorkspace {
        DiskWorkspace::new(self.root().to_owned(), self.root().join("Issues"))
    }

    /// Shows what has changed, a line a file: `M src/a.rs +1 -2`.
    pub(crate) fn changes(&self, scope: ChangeScope) -> Vec<String> {
        show(&self.workspace(), scope)
    }
}

/// Shows what has changed in a workspace.
pub(crate) fn show(workspace: &DiskWorkspace, scope: ChangeScope) -> Vec<String> {
    let changes = workspace.changes(scope).unwrap();
    changes
        .files
        .iter()
        .map(|file| {
            let letter = match file.change {
                Change::Added => 'A',
                Change::Modified => 'M',
                Change::Deleted => 'D',
                Change::Renamed => 'R',
            };
            let old = file
                .old_path
                .as_ref()
                .map_or(String::new(), |old| format!("{old} -> "));
            let lines = match (file.added_lines, file.removed_lines) {
                (Some(added), Some(removed)) => format!(" +{added} -{removed}"),
                _ => String::new(),
            };
            format!("{letter} {old}{}{lines}", file.path)
        })
        .collect()
}
