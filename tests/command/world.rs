//! A project in a folder of its own, with a home of its own, and `ahp` run in it.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

/// A throw-away project with a throw-away home.
pub(crate) struct World {
    dir: tempfile::TempDir,
}

/// What a run of `ahp` came to.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Reads the output as one JSON value a line.
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }
}

impl World {
    /// Makes a project with a policy; none where the text is empty.
    pub(crate) fn new(policy: &str) -> Self {
        let world = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(world.path(".ahp")).unwrap();
        fs::create_dir_all(world.home()).unwrap();
        if !policy.is_empty() {
            world.write(".ahp/hooks.yaml", policy);
        }
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Makes a git repository of the project, with everything committed on `main`.
    pub(crate) fn git_init(&self) {
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["config", "user.name", "T"]);
        self.git(&["config", "user.email", "t@example.invalid"]);
        self.commit("begin");
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let done = self.command("git").args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }

    /// A program that runs in the project, with nothing of this machine's own settings.
    #[expect(clippy::disallowed_methods, reason = "a test starts real processes")]
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.root())
            .env("HOME", self.home())
            .env_remove("AHP_HOME")
            .env_remove("AHP_ENV")
            .env_remove("AHP_TRUST")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CACHE_HOME")
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn ahp_command(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_ahp"))
    }

    /// Runs `ahp`.
    pub(crate) fn ahp(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.ahp_command().args(arguments).output().unwrap())
    }

    /// Runs `ahp` with text on its stdin.
    pub(crate) fn ahp_fed(&self, arguments: &[&str], input: &[u8]) -> Ran {
        use std::io::Write as _;
        let mut child = self
            .ahp_command()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A program that answers before it has read all may close its end.
        let feeder = std::thread::spawn(move || stdin.write_all(&input).ok());
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Ran::of(&output)
    }

    /// The records of the signal log.
    pub(crate) fn log(&self) -> Vec<serde_json::Value> {
        self.read(".ahp/signals.jsonl")
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}
