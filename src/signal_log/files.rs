//! LogFiles: the files that make up one log, and their names.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::path::PathBuf;

/// The names of the files of one log: `signals.jsonl` and what lies beside it.
#[derive(Clone, Debug)]
pub(crate) struct LogFiles {
    /// The file that is appended to.
    pub(crate) current: PathBuf,
}

/// One rotated part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The number of its first record.
    pub(crate) first_seq: u64,
    /// Where it lies.
    pub(crate) path: PathBuf,
    /// Whether it is packed with zstd.
    pub(crate) packed: bool,
}

impl LogFiles {
    /// Names the files of the log at a path.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            current: path.into(),
        }
    }

    /// Returns the directory of the log.
    pub(crate) fn directory(&self) -> &Path {
        match self.current.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    /// Returns the lock file, which also holds the anchor.
    pub(crate) fn lock(&self) -> PathBuf {
        self.beside(".lock")
    }

    /// Returns the file that keeps torn bytes.
    pub(crate) fn torn(&self) -> PathBuf {
        self.beside(".torn")
    }

    /// Returns the derived index.
    pub(crate) fn index(&self) -> PathBuf {
        self.beside(".index")
    }

    /// Returns the name of a rotated part.
    pub(crate) fn segment(&self, first_seq: u64, packed: bool) -> PathBuf {
        let (stem, extension) = self.parts();
        let packed = if packed { ".zst" } else { "" };
        self.directory()
            .join(format!("{stem}-{first_seq}{extension}{packed}"))
    }

    /// Lists the rotated parts, oldest first; a part that is there packed and unpacked is listed unpacked.
    pub(crate) fn segments(&self) -> io::Result<Vec<Segment>> {
        let (stem, extension) = self.parts();
        let entries = match fs::read_dir(self.directory()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            let Some(rest) = name
                .to_str()
                .and_then(|name| name.strip_prefix(&stem))
                .and_then(|rest| rest.strip_prefix('-'))
            else {
                continue;
            };
            let (rest, packed) = match rest.strip_suffix(".zst") {
                Some(rest) => (rest, true),
                None => (rest, false),
            };
            if let Some(first_seq) = rest
                .strip_suffix(extension.as_str())
                .and_then(|digits| digits.parse().ok())
            {
                found.push(Segment {
                    first_seq,
                    path: self.directory().join(&name),
                    packed,
                });
            }
        }
        found.sort_by_key(|s: &Segment| (s.first_seq, s.packed));
        found.dedup_by_key(|s| s.first_seq);
        Ok(found)
    }

    /// Splits `signals.jsonl` into `signals` and `.jsonl`.
    fn parts(&self) -> (String, String) {
        let text = |part: Option<&std::ffi::OsStr>| {
            part.map(|p| p.to_string_lossy().into_owned())
                .unwrap_or_default()
        };
        let extension = match text(self.current.extension()) {
            extension if extension.is_empty() => extension,
            extension => format!(".{extension}"),
        };
        (text(self.current.file_stem()), extension)
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name: OsString = self.current.file_name().unwrap_or_default().to_owned();
        name.push(suffix);
        self.directory().join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_parts_are_listed_by_number_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let files = LogFiles::new(dir.path().join("signals.jsonl"));
        for name in [
            "signals-100.jsonl.zst",
            "signals-9.jsonl.zst",
            "signals-200.jsonl",
            "signals-200.jsonl.zst",
            "signals-x.jsonl",
            "signals-300.jsonl.zst.tmp",
            "signals.jsonl",
        ] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let found = files.segments().unwrap();
        let seen: Vec<_> = found.iter().map(|s| (s.first_seq, s.packed)).collect();
        assert_eq!(seen, [(9, true), (100, true), (200, false)]);
        assert_eq!(files.segment(9, true), found[0].path);
    }
}
