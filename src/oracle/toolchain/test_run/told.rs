//! Told: what reporters tell of a run while it lasts, through a pipe. What was told once, nobody takes back, and only who has
//! the seal is believed that anything went well.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use crate::random;

/// How much is kept of what is told; a run of ten thousand runners tells less.
const MOST: usize = 16 << 20;

/// Hears what is told until it is asked.
pub(super) struct Ear {
    pipe: File,
    /// What ends the hearing; nobody else knows it.
    end: String,
    heard: Option<JoinHandle<Vec<u8>>>,
}

/// One thing that was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// A runner of this name began.
    Begun(String),
    /// How it ended.
    Code(String, String),
    /// It has written a report: the file and its SHA-256.
    Sealed(String, String),
    /// What ran stands here: a file of tests; or the folder in which a runner began, and the manifest that it looked for.
    Place(PathBuf, Option<String>),
    /// A run is one part of several: `1/2`.
    Part(String, String),
    /// What cut a run short: a file, and what it did.
    Cut(String, String),
    /// What may stand in the place of a runner, or of a part of one: what it is, in which folder it was called, its value.
    Replaced(String, PathBuf, String),
    /// Somebody without the seal told what only reporters may.
    Forged(String),
}

#[cfg(not(target_vendor = "apple"))]
fn make_pipe(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, Mode, mkfifoat};
    Ok(mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?)
}

/// There the call is not at hand without unsafe code.
#[cfg(target_vendor = "apple")]
fn make_pipe(path: &Path) -> io::Result<()> {
    use crate::process::{Exit, Program};
    let words = ["mkfifo", "-m", "600"].map(str::to_owned);
    let words = words.into_iter().chain([path.display().to_string()]);
    let made = Program::new(words.collect()).run();
    match made
        .map_err(|error| io::Error::other(error.to_string()))?
        .exit
    {
        Exit::Code(0) => Ok(()),
        _ => Err(io::Error::other("the pipe for reports cannot be made")),
    }
}

impl Ear {
    /// Makes the pipe and hears.
    ///
    /// # Errors
    /// The pipe cannot be made or opened, or no thread started.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        make_pipe(path)?;
        // Opened for both, so that neither side waits for the other.
        let pipe = File::options().read(true).write(true).open(path)?;
        let end = format!("end {}", random::id());
        let (mut from, mark) = (pipe.try_clone()?, format!("{end}\n").into_bytes());
        let heard = std::thread::Builder::new().spawn(move || {
            let (mut heard, mut part) = (Vec::new(), [0; 4096]);
            // The last bytes alone, once more was told than is kept.
            let mut last = Vec::new();
            while let Ok(count) = from.read(&mut part) {
                let new = part.get(..count).unwrap_or_default();
                last.extend_from_slice(new);
                last.drain(..last.len().saturating_sub(mark.len()));
                if heard.len() < MOST {
                    heard.extend_from_slice(new);
                }
                if count == 0 || last == mark {
                    break;
                }
            }
            heard
        })?;
        Ok(Self {
            pipe,
            end,
            heard: Some(heard),
        })
    }

    /// Returns all that was told, in its order; what was told with `seal` is what reporters told.
    pub(super) fn told(&mut self, seal: &str) -> Vec<Told> {
        let heard = self.hush();
        let text = String::from_utf8_lossy(&heard);
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && *line != self.end);
        lines.map(|line| read(line, seal)).collect()
    }

    fn hush(&mut self) -> Vec<u8> {
        let Some(heard) = self.heard.take() else {
            return Vec::new();
        };
        if let Err(error) = self.pipe.write_all(format!("{}\n", self.end).as_bytes()) {
            tracing::debug!(%error, "what hears the reports could not be ended");
            return Vec::new();
        }
        heard.join().unwrap_or_default()
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.hush();
    }
}

fn read(line: &str, seal: &str) -> Told {
    let forged = || Told::Forged(line.chars().take(80).collect());
    let mut cells = line.split('\t').map(str::to_owned);
    let mut cell = || cells.next().unwrap_or_default();
    match cell().as_str() {
        "- cut" => return Told::Cut(cell(), cell()),
        "- replaced" => return Told::Replaced(cell(), PathBuf::from(cell()), cell()),
        key if key.strip_suffix(" place") == Some(seal) => {
            return Told::Place(PathBuf::from(cell()), cells.next());
        }
        _ => {}
    }
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        [given, ..] if *given != seal => forged(),
        [_, "begun", name] if is_name(name) => Told::Begun((*name).to_owned()),
        [_, "part", name, part] => Told::Part((*name).to_owned(), (*part).to_owned()),
        [_, "code", name, code] => Told::Code((*name).to_owned(), (*code).to_owned()),
        [_, "sealed", file, digest] if is_name(file) => {
            Told::Sealed((*file).to_owned(), (*digest).to_owned())
        }
        _ => forged(),
    }
}

/// Whether a text is the name of a file and no path.
fn is_name(text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    !text.starts_with('.') && text.chars().all(is_of_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_has_the_seal_is_believed_that_anything_went_well() {
        let text = |text: &str| text.to_owned();
        for (line, expected) in [
            ("key begun pytest-1-1", Told::Begun(text("pytest-1-1"))),
            ("key code go-1 0", Told::Code(text("go-1"), text("0"))),
            (
                "key sealed go-1.out abc",
                Told::Sealed(text("go-1.out"), text("abc")),
            ),
            (
                "- cut\ta b.js\tended itself",
                Told::Cut(text("a b.js"), text("ended itself")),
            ),
            ("key part go-1 1/2", Told::Part(text("go-1"), text("1/2"))),
            ("- part go-1 2/2", Told::Forged(text("- part go-1 2/2"))),
            (
                "key place\t/p q/a.js",
                Told::Place(PathBuf::from("/p q/a.js"), None),
            ),
            (
                "key place\t/p\tgo.mod",
                Told::Place(PathBuf::from("/p"), Some(text("go.mod"))),
            ),
            ("- place\t/p", Told::Forged(text("- place\t/p"))),
            (
                "- replaced\t-exec\t/p\t./run.sh -v",
                Told::Replaced(text("-exec"), PathBuf::from("/p"), text("./run.sh -v")),
            ),
            ("other begun go-1", Told::Forged(text("other begun go-1"))),
            (
                "key sealed ../go-1.out abc",
                Told::Forged(text("key sealed ../go-1.out abc")),
            ),
            ("key", Told::Forged(text("key"))),
        ] {
            assert_eq!(read(line, "key"), expected, "{line}");
        }
    }

    #[test]
    fn what_was_told_is_heard_in_its_order_whoever_ends_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("told");
        let mut ear = Ear::open(&path).unwrap();
        for line in ["key begun go-1", "- cut\ta.js"] {
            let mut pipe = File::options().append(true).open(&path).unwrap();
            writeln!(pipe, "{line}").unwrap();
        }
        std::fs::remove_file(&path).unwrap();
        let told = ear.told("key");
        assert_eq!(
            told,
            [read("key begun go-1", "key"), read("- cut\ta.js", "")]
        );
        assert_eq!(ear.told("key"), []);
    }
}
