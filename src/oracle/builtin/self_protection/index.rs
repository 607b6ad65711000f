//! Index: the list that git keeps of the files that it tracks, as far as their names are written out in it.

use std::path::Path;

use crate::regular_file;

/// The largest list that is read, in bytes: that of half a million files.
const MAX_BYTES: u64 = 64 << 20;

/// The list of one repository.
#[derive(Debug)]
pub(super) struct Index(Vec<u8>);

impl Index {
    /// Reads the list of a working tree; none where there is none, or one in a form in which names are not written out.
    pub(super) fn read(top: &Path) -> Option<Self> {
        let bytes = regular_file::read_linked(&top.join(".git/index"), MAX_BYTES).ok()?;
        // The fourth form shortens names, and a part of a split one lies elsewhere.
        let version = bytes.strip_prefix(b"DIRC")?.get(..4)?;
        let is_whole = memchr::memmem::find(&bytes, b"link\0\0").is_none();
        (matches!(version, [0, 0, 0, 2 | 3]) && is_whole).then_some(Self(bytes))
    }

    /// Whether it lists a file by its whole name. Before a name stand its length and, in the third form, more flags.
    pub(super) fn holds(&self, name: &str) -> bool {
        let Self(bytes) = self;
        let length = name.len().min(LONGEST);
        let is_length = |at: usize| match bytes.get(at..at + 2) {
            Some([high, low]) => usize::from(u16::from_be_bytes([*high, *low])) & LONGEST == length,
            _ => false,
        };
        memchr::memmem::find_iter(bytes, name).any(|at| {
            let has_length = [2, 4]
                .into_iter()
                .any(|before| at.checked_sub(before).is_some_and(is_length));
            has_length && bytes.get(at + name.len()) == Some(&0)
        })
    }
}

/// The longest length that is written out.
const LONGEST: usize = 0xfff;
