//! Content: the bytes of files and whole folders of a project, and their hashes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

/// How many files may be trusted together, and how many bytes: hooks are small, a tool chain is none of them.
const MAX_FILES: usize = 5_000;
const MAX_BYTES: u64 = 64 << 20;

/// How deep folders may nest; a link in a circle ends here.
const MAX_DEPTH: usize = 16;

/// What of a file matters to its trust.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// SHA-256 of the content, in hexadecimal digits.
    pub sha256: String,
    /// Whether it may be executed.
    pub executable: bool,
}

/// Files, read once: what is hashed is what is copied.
#[derive(Debug, Default)]
pub(super) struct Content {
    files: BTreeMap<String, (FileState, Vec<u8>)>,
    bytes: u64,
}

impl Content {
    /// Reads files, and folders with all that is in them; what is not there is left out. Links are followed.
    pub(super) fn read(root: &Path, paths: &[&str]) -> io::Result<Self> {
        let mut content = Self::default();
        for path in paths {
            content.add(root, path, 0)?;
        }
        Ok(content)
    }

    pub(super) fn states(&self) -> impl Iterator<Item = (&String, &FileState)> {
        self.files.iter().map(|(path, (state, _))| (path, state))
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&String, &FileState, &[u8])> {
        self.files
            .iter()
            .map(|(path, (state, bytes))| (path, state, bytes.as_slice()))
    }

    pub(super) fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|(_, bytes)| bytes.as_slice())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds a file whose state is known.
    pub(super) fn add_known(&mut self, path: &str, state: &FileState, bytes: Vec<u8>) {
        self.files.insert(path.to_owned(), (state.clone(), bytes));
    }

    /// Adds a text that is no file of its own.
    pub(super) fn add_text(&mut self, name: String, text: &str) {
        let state = FileState {
            sha256: digest(text.as_bytes()),
            executable: false,
        };
        self.files.insert(name, (state, text.as_bytes().to_vec()));
    }

    fn add(&mut self, root: &Path, relative: &str, depth: usize) -> io::Result<()> {
        if self.files.contains_key(relative) {
            return Ok(());
        }
        let path = root.join(relative);
        let meta = match fs::metadata(&path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(naming(&path, &error)),
        };
        if meta.is_file() {
            return self.add_file(&path, relative);
        }
        if !meta.is_dir() {
            return Ok(());
        }
        if depth >= MAX_DEPTH {
            return Err(io::Error::other(format!(
                "`{relative}` lies more than {MAX_DEPTH} folders deep"
            )));
        }
        for entry in fs::read_dir(&path).map_err(|error| naming(&path, &error))? {
            let name = entry.map_err(|error| naming(&path, &error))?.file_name();
            // Neither runs: the copy that runs holds none of them.
            if name == ".git" || name == "__pycache__" {
                continue;
            }
            self.add(
                root,
                &format!("{relative}/{}", name.to_string_lossy()),
                depth + 1,
            )?;
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, relative: &str) -> io::Result<()> {
        let too_much = || {
            io::Error::other(format!(
                "there are more than {MAX_FILES} files or {} MiB to be trusted; `{relative}` is past that",
                MAX_BYTES >> 20
            ))
        };
        if self.files.len() >= MAX_FILES {
            return Err(too_much());
        }
        let file = fs::File::open(path).map_err(|error| naming(path, &error))?;
        let executable = file
            .metadata()
            .map_err(|error| naming(path, &error))?
            .permissions()
            .mode()
            & 0o111
            != 0;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES - self.bytes + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| naming(path, &error))?;
        self.bytes += bytes.len() as u64;
        if self.bytes > MAX_BYTES {
            return Err(too_much());
        }
        let state = FileState {
            sha256: digest(&bytes),
            executable,
        };
        self.files.insert(relative.to_owned(), (state, bytes));
        Ok(())
    }
}

/// Returns the SHA-256 of bytes, in hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    crate::signal::hex(&sha2::Sha256::digest(bytes))
}

fn naming(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}
