//! Sockets: what listens at a path of the file system, to be covered: a socket on a read-only mount can be connected to.
//!
//! The name that a socket was bound to tells where it lies only until its file is renamed, or gets a second name, and a relative
//! one never does. So each is looked for by its file too: where its name and the directories of processes lead, and else on
//! the whole file system.

mod diag;
mod search;

pub(super) use self::search::{Around, Searched};

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::thread;

use super::mounts::Mounts;

/// The kernel's list of the sockets of this network namespace.
const LIST: &str = "/proc/net/unix";

/// How many columns stand before the name.
const COLUMNS: usize = 7;

/// `SS_CONNECTED` in the column of the state, and `SOCK_DGRAM` in that of the type.
const CONNECTED: &str = "03";
const DATAGRAM: &str = "0002";

/// Returns the paths at which a socket listens now and could be reached inside.
///
/// # Errors
/// The kernel does not tell, or there is too much to look through: what nobody has told of cannot be covered.
pub(super) fn listening(around: &Around<'_>, searched: &Searched) -> io::Result<BTreeSet<PathBuf>> {
    if !cfg!(target_os = "linux") {
        // There is no shield, and a plan shows what a container would hold.
        return Ok(BTreeSet::new());
    }
    let named = names()?.into_iter().filter_map(|name| {
        let path = name.canonicalize().ok()?;
        number(&path).map(|_| path)
    });
    let mut paths: BTreeSet<PathBuf> = named.collect();
    let mounts = Mounts::seen()?;
    if let Some(bound) = diag::bound()? {
        paths.extend(searched.files(&bound, &mounts, around)?);
    }
    // What is mounted at two places is covered at both.
    let others: Vec<PathBuf> = paths
        .iter()
        .flat_map(|path| {
            let others = mounts.others(path).into_iter();
            others.filter(|other| number(other) == number(path))
        })
        .collect();
    paths.extend(others);
    paths.retain(|path| !around.is_away(path));
    Ok(paths)
}

/// Whether the kernel tells of each socket which file it is; where it does not, one is found by its name alone.
///
/// # Errors
/// It cannot be asked.
pub(super) fn are_told() -> io::Result<bool> {
    Ok(diag::bound()?.is_some())
}

/// Returns the number of a socket's file, and how many names it has; none where no socket lies there.
fn socket(path: &Path) -> Option<(u64, u64)> {
    let meta = path.symlink_metadata().ok()?;
    let is_socket = meta.file_type().is_socket();
    is_socket.then(|| (meta.ino(), meta.nlink()))
}

fn number(path: &Path) -> Option<u64> {
    socket(path).map(|(number, _)| number)
}

/// Returns the names of what listens, in each network namespace of a process that is seen: a file leads from one to another.
fn names() -> io::Result<Vec<PathBuf>> {
    let mut names = read(&fs::read(LIST)?);
    let mut known = BTreeSet::from([fs::metadata(LIST)?.ino()]);
    for process in fs::read_dir("/proc")?.flatten() {
        let list = process.path().join("net/unix");
        let is_new = fs::metadata(&list).is_ok_and(|list| known.insert(list.ino()));
        if is_new && let Ok(list) = fs::read(&list) {
            names.extend(read(&list));
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// Reads the list: `Num RefCount Protocol Flags Type St Inode Path`. Whoever listens chooses the bytes of the name.
fn read(list: &[u8]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = list
        .split(|b| *b == b'\n')
        .skip(1)
        .filter_map(path)
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Returns the path of a line, where one listens there or may do so later.
fn path(line: &[u8]) -> Option<PathBuf> {
    let mut rest = line;
    let mut columns = [""; COLUMNS];
    for column in &mut columns {
        rest = rest.trim_ascii_start();
        let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(end)?;
        *column = std::str::from_utf8(word).ok()?;
        rest = behind;
    }
    // The name of an abstract one begins with `@`.
    let path = rest.strip_prefix(b" ")?;
    let [_, _, _, _, kind, state, _] = columns;
    // What takes datagrams listens without saying so, and what is only bound may listen later.
    let takes = state != CONNECTED || kind == DATAGRAM;
    (takes && path.starts_with(b"/")).then(|| PathBuf::from(OsStr::from_bytes(path)))
}

/// Looks with the rights that a process inside a shield has: what root alone could reach, in the closed folder of another
/// person, is reached by nothing there, and nothing can be mounted on it.
pub(super) fn as_inside<T: Send>(look: impl Fn() -> T + Sync) -> T {
    thread::scope(|scope| {
        let looking = thread::Builder::new().spawn_scoped(scope, || {
            give_up_rights();
            look()
        });
        let seen = looking.ok().and_then(|looking| looking.join().ok());
        // With more rights more is seen, and covered.
        seen.unwrap_or_else(&look)
    })
}

/// Takes from this thread what lets root pass by the rights of files.
fn give_up_rights() {
    #[cfg(target_os = "linux")]
    if let Ok(mut rights) = rustix::thread::capabilities(None) {
        rights.effective = rustix::thread::CapabilitySet::empty();
        rustix::thread::set_capabilities(None, rights).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_listens_is_found_and_what_is_connected_or_abstract_is_not() {
        let list = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 7 /run/a b.sock\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 8 /run/c.sock\n\
            0000000000000000: 00000002 00000000 00000000 0001 01 8 /run/later\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 9 @/abstract\n\
            0000000000000000: 00000002 00000000 00010000 0001 01    9 @\xff /abstract\n\
            0000000000000000: 00000002 00000000 00000000 0002 01 9 /dev/log\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 9\n";
        assert_eq!(
            read(list),
            ["/dev/log", "/run/a b.sock", "/run/later"].map(PathBuf::from)
        );
    }
}
