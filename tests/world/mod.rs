//! A person and a project in a folder of their own, and programs that run there.

mod judging;

pub(crate) use self::judging::{block_on, context, event, seed, steps};

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ahp::machine_key::ProjectKey;
use ahp::process::find_program;
use ahp::signal_log::LogPlace;
use ahp::trust::Trust;

/// How many of a long proof: the default run takes fewer, `.ci/durability` and `.ci/sessions` take all.
pub(crate) fn sized<T>(by_default: T, at_full_size: T) -> T {
    if std::env::var_os("AHP_TEST_FULL_SIZE").is_some() {
        at_full_size
    } else {
        by_default
    }
}

/// Says that something could not be tried here, past what keeps the words of tests that pass.
pub(crate) fn not_tried(what: &str) {
    writeln!(std::io::stderr(), "NOT TRIED: {what}").ok();
}

/// Where programs lie, and `ahp` before them, as on the machine of somebody who has installed it.
pub(crate) fn search_path() -> std::ffi::OsString {
    let built = Path::new(env!("CARGO_BIN_EXE_ahp")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&path);
    std::env::join_paths(std::iter::once(built.to_owned()).chain(dirs)).unwrap()
}

/// A throw-away project with a throw-away home.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    /// What an oracle is told that may run here; programs look for themselves.
    pub(crate) trust: Trust,
}

/// What a run of a program came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
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
            trust: Trust::everything(),
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
        write(&self.path(path), content);
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

    /// A program that runs in the project, with nothing of this machine's own settings but where programs lie.
    #[expect(clippy::disallowed_methods, reason = "a test starts real processes")]
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.root())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", search_path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn ahp_command(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_ahp"))
    }

    /// Copies `ahp` to a place that does not hang on where the tests are built.
    ///
    /// A process of its own does so: what this one has open for writing, a process started beside would keep from running.
    pub(crate) fn ahp_copied_to(&self, program: &Path) {
        let built = Path::new(env!("CARGO_BIN_EXE_ahp"));
        let copied = self.command("cp").args([built, program]).status();
        assert!(copied.unwrap().success());
    }

    /// Runs `ahp`.
    pub(crate) fn ahp(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.ahp_command().args(arguments).output().unwrap())
    }

    /// Runs `ahp` with text on its stdin.
    pub(crate) fn ahp_fed(&self, arguments: &[&str], input: &[u8]) -> Ran {
        fed(self.ahp_command().args(arguments), input)
    }

    /// The project's log as `ahp` knows its own.
    pub(crate) fn log_place(&self) -> LogPlace {
        let key = ProjectKey::of(&self.home().join(".local/state/ahp"), &self.root()).unwrap();
        LogPlace::new(
            self.path(".ahp/signals.jsonl"),
            Some(self.root()),
            Some(key),
        )
    }

    /// The records of the signal log.
    pub(crate) fn log(&self) -> Vec<serde_json::Value> {
        self.read(".ahp/signals.jsonl")
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Runs a program with text on its stdin.
pub(crate) fn fed(command: &mut Command, input: &[u8]) -> Ran {
    let mut child = command
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

/// Writes a file, and the folders on the way to it.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Writes a program.
pub(crate) fn executable(path: &Path, text: &str) {
    write(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Copies a folder with all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::write(&to, fs::read(entry.path()).unwrap()).unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            fs::set_permissions(&to, fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}

/// Whether what a test finds is to be written in the place of what it expected: by the variable that `insta` reads too.
pub(crate) fn accepts_new_output() -> bool {
    std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always")
}

/// Whether a program is here; says so where it is not.
pub(crate) fn is_here(program: &str) -> bool {
    let found = find_program(program, std::env::var_os("PATH").as_deref()).is_some();
    if !found {
        eprintln!("SKIPPED: there is no `{program}` here");
    }
    found
}
