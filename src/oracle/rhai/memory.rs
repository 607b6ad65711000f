//! How much memory the process holds.

#[cfg(target_os = "linux")]
use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::unix::fs::FileExt as _;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

/// Returns the resident size of the process in bytes; none where the system does not tell it cheaply.
#[cfg(target_os = "linux")]
pub(super) fn resident() -> Option<u64> {
    static STATM: OnceLock<Option<File>> = OnceLock::new();
    let file = STATM
        .get_or_init(|| File::open("/proc/self/statm").ok())
        .as_ref()?;
    let mut text = [0; 128];
    let len = file.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..len)?).ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Returns the resident size of the process in bytes; none where the system does not tell it cheaply.
#[cfg(not(target_os = "linux"))]
pub(super) fn resident() -> Option<u64> {
    None
}
