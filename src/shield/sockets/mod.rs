//! Sockets: what listens at a path of the file system, to be covered: a socket on a read-only mount can be connected to.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::thread;

/// The kernel's list of the sockets of this network namespace.
const LIST: &str = "/proc/net/unix";

/// How many columns stand before the name.
const COLUMNS: usize = 7;

/// `__SO_ACCEPTCON` in the column of flags.
const LISTENS: u32 = 1 << 16;

/// Returns the paths at which a socket listens now.
///
/// # Errors
/// The kernel does not tell: what nobody has told of cannot be covered.
pub(super) fn listening() -> io::Result<Vec<PathBuf>> {
    if !cfg!(target_os = "linux") {
        // There is no shield, and a plan shows what a container would hold.
        return Ok(Vec::new());
    }
    Ok(read(&fs::read(LIST)?))
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

/// Returns the path of a line, where one listens there.
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
    let [_, _, _, flags, kind, ..] = columns;
    let flags = u32::from_str_radix(flags, 16).ok()?;
    // What takes datagrams listens without saying so.
    let takes = flags & LISTENS != 0 || kind == "0002";
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
            0000000000000000: 00000002 00000000 00010000 0001 01 9 @/abstract\n\
            0000000000000000: 00000002 00000000 00010000 0001 01    9 @\xff /abstract\n\
            0000000000000000: 00000002 00000000 00000000 0002 01 9 /dev/log\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 9\n";
        assert_eq!(
            read(list),
            [PathBuf::from("/dev/log"), PathBuf::from("/run/a b.sock")]
        );
    }
}
