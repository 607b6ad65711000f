//! Sockets: what listens at a path of the file system, to be covered: a socket on a read-only mount can be connected to.

use std::fs;
use std::path::PathBuf;

/// The kernel's list of the sockets of this network namespace.
const LIST: &str = "/proc/net/unix";

/// `__SO_ACCEPTCON` in the column of flags.
const LISTENS: u32 = 1 << 16;

/// Returns the paths at which a socket listens now; empty where the kernel tells nothing.
pub(super) fn listening() -> Vec<PathBuf> {
    read(&fs::read_to_string(LIST).unwrap_or_default())
}

/// Reads the list: `Num RefCount Protocol Flags Type St Inode Path`.
fn read(list: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = list
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut columns = line.split_ascii_whitespace();
            let flags = u32::from_str_radix(columns.nth(3)?, 16).ok()?;
            let kind = columns.next()?;
            // A path may hold spaces; those of the abstract names begin with `@`.
            let at = line.find(" /")?;
            let path = line.get(at + 1..)?;
            // What takes datagrams listens without saying so.
            let takes = flags & LISTENS != 0 || kind == "0002";
            takes.then(|| PathBuf::from(path))
        })
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_listens_is_found_and_what_is_connected_or_abstract_is_not() {
        let list = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 7 /run/a b.sock\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 8 /run/c.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 9 @/abstract\n\
            0000000000000000: 00000002 00000000 00000000 0002 01 9 /dev/log\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 9\n";
        assert_eq!(
            read(list),
            [PathBuf::from("/dev/log"), PathBuf::from("/run/a b.sock")]
        );
    }
}
