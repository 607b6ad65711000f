//! Descriptors: what is open already when a shield starts. No mount holds it, and what runs inside could open it again, to be
//! written, or a file below it.

use std::fs;
use std::fs::Metadata;
use std::io;
use std::io::IsTerminal as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use ahp::shield::Plan;

/// Devices that hold nothing, and are there inside too.
const HARMLESS: &[&str] = &["full", "null", "random", "urandom", "zero"];

/// `O_CLOEXEC`, as the kernel tells it.
#[cfg(target_os = "linux")]
const CLOSES_ITSELF: u32 = 0o2_000_000;
/// `O_ACCMODE`.
const TO_BE_WRITTEN: u32 = 3;

/// Closes what this process was given open beside its input and outputs: nothing that it starts gets it. What it has opened
/// itself is closed with each start.
///
/// # Errors
/// What is open cannot be told.
#[cfg(target_os = "linux")]
pub(super) fn close_given() -> io::Result<()> {
    let open: Vec<_> = fs::read_dir("/proc/self/fd")?.collect::<Result<_, _>>()?;
    for entry in open {
        let name = entry.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let flags = match flags(number) {
            // That of the list itself is closed by now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            flags => flags?,
        };
        if number > 2 && flags & CLOSES_ITSELF == 0 {
            // It is closed, whatever the file system says of what was written to it before.
            nix::unistd::close(number).ok();
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn close_given() -> io::Result<()> {
    Ok(())
}

/// Returns how a file was opened.
fn flags(number: i32) -> io::Result<u32> {
    let told = fs::read_to_string(format!("/proc/self/fdinfo/{number}"))?;
    let flags = told.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Says which of input and outputs would lead past the mounts of a plan; none where all may be given on.
///
/// # Errors
/// What they are cannot be told.
pub(super) fn leads_past(plan: &Plan) -> Result<Option<String>, String> {
    let given = [
        ("input", io::stdin().is_terminal()),
        ("output", io::stdout().is_terminal()),
        ("error output", io::stderr().is_terminal()),
    ];
    for ((name, is_terminal), number) in given.into_iter().zip(0..) {
        let link = format!("/proc/self/fd/{number}");
        let Ok(meta) = fs::metadata(&link) else {
            // It is closed.
            continue;
        };
        let may_be_given = is_terminal
            || is_no_file(&meta)
            || meta.is_file() && {
                let told = |error: io::Error| format!("the {name} cannot be told: {error}");
                let is_to_be_written = flags(number).map_err(told)? & TO_BE_WRITTEN != 0;
                let path = fs::read_link(&link).map_err(told)?;
                plan.may_be_given(&path, is_to_be_written).map_err(told)?
            };
        if !may_be_given {
            let path = fs::read_link(&link).unwrap_or_default();
            return Ok(Some(format!(
                "`{}` is open as the {name}, and no mount holds what is open already: give it by a pipe, as `cat FILE | ahp \
                 shield -- COMMAND` or `ahp shield -- COMMAND | cat > FILE`",
                path.display()
            )));
        }
    }
    Ok(None)
}

/// Whether it has no place in the file system that could be written: a pipe, a socket, a removed file, a device that holds nothing.
fn is_no_file(meta: &Metadata) -> bool {
    let kind = meta.file_type();
    let is_harmless = |name: &str| {
        let device = fs::metadata(Path::new("/dev").join(name));
        device.is_ok_and(|device| device.rdev() == meta.rdev())
    };
    kind.is_fifo()
        || kind.is_socket()
        || (kind.is_file() && meta.nlink() == 0)
        || (kind.is_char_device() && HARMLESS.iter().any(|name| is_harmless(name)))
}
