//! Reads the text of a configuration file, and refuses what cannot be one.

use std::fs;
use std::io;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::Bundle;
use crate::diagnostic::{Code, Diagnostic, SourceMap, Span};
use crate::signal::hex;
use crate::stamp::Stamp;

/// The largest file that is read: a thousand times what a policy needs.
const MAX_BYTES: u64 = 1 << 20;

/// What was read to load a configuration: the path of each file and the digest of its content, none where it is absent.
#[derive(Clone, Debug, Default)]
pub(super) struct Inputs {
    /// The layers, in their order.
    pub(super) layers: Vec<(PathBuf, Option<[u8; 32]>)>,
    /// The files that they extend.
    pub(super) extended: Vec<(PathBuf, [u8; 32])>,
    /// The packs that they extend, which change with the program.
    pub(super) packs: Vec<[u8; 32]>,
    /// What lies beside them: scripts, and the hooks and programs of the machine's layers.
    pub(super) beside: Vec<[u8; 32]>,
    /// The files and folders in which the scripts were found, as they were then.
    pub(super) watched: Vec<(PathBuf, Option<Stamp>)>,
    /// The programs of the machine's layers.
    pub(super) programs: Vec<PathBuf>,
}

impl Inputs {
    /// Returns the digest of all that was read: 16 hexadecimal digits, the same on every machine with the same content; before
    /// them the name of the signed policy in force.
    pub(super) fn digest(&self, bundle: Option<&Bundle>) -> String {
        let mut hash = Sha256::new();
        for (_, content) in &self.layers {
            // A layer that is not there is not the same as none: the layers have their order.
            hash.update(content.unwrap_or_default());
        }
        for (_, content) in &self.extended {
            hash.update(content);
        }
        for content in self.packs.iter().chain(&self.beside) {
            hash.update(content);
        }
        let mut digits = hex(&hash.finalize());
        digits.truncate(16);
        match bundle {
            Some(bundle) => format!("{}+{digits}", bundle.name()),
            None => digits,
        }
    }
}

/// Returns the digest of a file's content.
pub(super) fn digest(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

/// Reads a file into the source map; none where there is no file, an error where there is one that cannot be used.
pub(super) fn read(
    path: &Path,
    name: &str,
    sources: &mut SourceMap,
) -> Option<Result<(Span, String), Diagnostic>> {
    let mut refuse = |code, message: String, help: &str, text: &str, at: Option<usize>| {
        let span = place(sources, name, text, at);
        Some(Err(Diagnostic::error(code, message, span).help(help)))
    };
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err(Refused::Absent) => return None,
        Err(Refused::Kind(what)) => {
            let message = format!("`{name}` is {what}, not a file");
            return refuse(
                Code::Unreadable,
                message,
                "put a YAML file in its place",
                "",
                None,
            );
        }
        Err(Refused::Size(size)) => {
            let message = format!("`{name}` is {size} bytes large; at most {MAX_BYTES} are read");
            let help = "move parts into packs and name them under `extends`";
            return refuse(Code::TooLarge, message, help, "", None);
        }
        Err(Refused::Io(error)) => {
            let message = format!("`{name}` cannot be read: {}", lower(&error));
            let help = "make it readable, or remove it";
            return refuse(Code::Unreadable, message, help, "", None);
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => {
            let span = place(sources, name, &text, None);
            Some(Ok((span, text)))
        }
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes());
            let message = format!("`{name}` is not UTF-8 text");
            refuse(Code::NotUtf8, message, "save it as UTF-8", &text, Some(at))
        }
    }
}

/// Why there are no bytes.
pub(super) enum Refused {
    /// There is no such file.
    Absent,
    /// It is something else than a file.
    Kind(&'static str),
    /// It is larger than is read.
    Size(u64),
    /// It cannot be read.
    Io(io::Error),
}

/// Reads the bytes of a file that could be a configuration.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, Refused> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        // A dangling link is a policy that somebody believes to be in force.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(match fs::symlink_metadata(path) {
                Ok(_) => Refused::Kind("a symbolic link to nothing"),
                Err(_) => Refused::Absent,
            });
        }
        Err(error) => return Err(Refused::Io(error)),
    };
    if metadata.is_dir() {
        return Err(Refused::Kind("a directory"));
    }
    // Opening a named pipe would wait for ever.
    if !metadata.is_file() {
        return Err(Refused::Kind("a device or pipe"));
    }
    if metadata.len() > MAX_BYTES {
        return Err(Refused::Size(metadata.len()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(Refused::Io)?;
    match bytes.len() as u64 {
        size if size > MAX_BYTES => Err(Refused::Size(size)),
        _ => Ok(bytes),
    }
}

/// Adds the file to the source map and returns the place of a byte in it, or of its first line.
fn place(sources: &mut SourceMap, name: &str, text: &str, at: Option<usize>) -> Span {
    let file = sources.add(name, text);
    let before = at.and_then(|at| text.get(..at)).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let column = before.get(line_start..).unwrap_or_default().chars().count();
    Span {
        file,
        start: narrow(before.len()),
        end: narrow(before.len()),
        line: narrow(before.matches('\n').count() + 1),
        column: narrow(column + 1),
    }
}

/// Returns the message of an input or output error without its number and its capital.
fn lower(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    text.to_lowercase()
}
