//! Mounts: where each file system is seen, so that a file is found by all of its paths; and what has come since.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// What is mounted where, in the order in which it was.
#[derive(Clone, Debug)]
pub(super) struct Mounts(Vec<Mounted>);

/// A folder of a file system, and where it is seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mounted {
    device: (u32, u32),
    root: PathBuf,
    pub(super) at: PathBuf,
    is_writable: bool,
}

impl Mounts {
    /// Reads what this process sees.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub(super) fn seen() -> io::Result<Self> {
        Ok(Self::read(&std::fs::read("/proc/self/mountinfo")?))
    }

    /// Reads lines of `ID PARENT MAJOR:MINOR ROOT PLACE OPTIONS …`.
    fn read(list: &[u8]) -> Self {
        let line = |line: &[u8]| {
            let mut words = line.split(|byte| *byte == b' ').skip(2);
            let device = std::str::from_utf8(words.next()?).ok()?;
            let (major, minor) = device.split_once(':')?;
            Some(Mounted {
                device: (major.parse().ok()?, minor.parse().ok()?),
                root: unescaped(words.next()?),
                at: unescaped(words.next()?),
                is_writable: words
                    .next()?
                    .split(|byte| *byte == b',')
                    .any(|word| word == b"rw"),
            })
        };
        let lines = list.split(|byte| *byte == b'\n');
        Self(lines.filter_map(line).collect())
    }

    /// Returns where a file system is seen.
    pub(super) fn of(&self, device: (u32, u32)) -> impl Iterator<Item = &Mounted> {
        self.0.iter().filter(move |mount| mount.device == device)
    }

    /// Returns what can be written and was not there before. What is mounted outside comes into every shield, as writable as it
    /// is there.
    pub(super) fn since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Path> {
        let is_new = |mount: &&Mounted| mount.is_writable && !before.0.contains(mount);
        self.0.iter().filter(is_new).map(|mount| mount.at.as_path())
    }

    /// Whether something is mounted at a path.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        self.0.iter().any(|mount| mount.at == path)
    }

    /// Returns the other paths at which the same file is seen.
    pub(super) fn others(&self, path: &Path) -> Vec<PathBuf> {
        let around = self.0.iter().filter(|mount| path.starts_with(&mount.at));
        // Of several at one place the last covers the others.
        let Some(own) = around.max_by_key(|mount| mount.at.components().count()) else {
            return Vec::new();
        };
        let Ok(below) = path.strip_prefix(&own.at) else {
            return Vec::new();
        };
        let inner = own.root.join(below);
        let also = |mount: &Mounted| {
            let below = inner.strip_prefix(&mount.root).ok()?;
            Some(mount.at.join(below)).filter(|other| other != path)
        };
        self.of(own.device).filter_map(also).collect()
    }
}

/// Reads a path in which blanks are written as `\040`.
fn unescaped(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| *first == b'\\');
        let code = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 8).ok()) {
            bytes.push(byte);
            rest = behind.get(3..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_each_place_where_its_file_system_is_seen() {
        let mounts = Mounts::read(
            b"22 1 8:1 / / rw - ext4 x rw\n\
            23 22 8:2 / /home rw - ext4 x rw\n\
            24 22 8:2 /me/work /srv/a\\040b rw - ext4 x rw\n\
            25 22 0:21 / /proc rw - proc proc rw\n",
        );
        let path = Path::new("/home/me/work/run/s.sock");
        assert_eq!(mounts.others(path), [Path::new("/srv/a b/run/s.sock")]);
        assert_eq!(
            mounts.others(Path::new("/srv/a b/x")),
            [Path::new("/home/me/work/x")]
        );
        assert!(mounts.others(Path::new("/home/me/x")).is_empty());
        assert!(mounts.others(Path::new("/etc/x")).is_empty());
        assert!(mounts.is_at(Path::new("/srv/a b")));
    }

    #[test]
    fn what_is_mounted_later_is_told_where_it_can_be_written() {
        let before = Mounts::read(b"22 1 8:1 / / rw - ext4 x rw\n23 22 8:2 / /a ro - ext4 x rw\n");
        let now = Mounts::read(
            b"23 22 8:2 / /a ro - ext4 x rw\n\
            30 22 8:3 / /media/disk rw,nosuid - vfat x rw\n\
            31 22 8:4 / /snap/x ro - squashfs x ro\n\
            32 22 8:2 / /a rw - ext4 x rw\n\
            22 1 8:1 / / rw - ext4 x rw\n",
        );
        let told: Vec<_> = now.since(&before).collect();
        assert_eq!(told, [Path::new("/media/disk"), Path::new("/a")]);
        assert_eq!(now.since(&now).count(), 0);
    }
}
