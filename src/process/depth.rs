//! How deep programs stand that policies start, so that those which call `ahp` come to an end.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::OnceLock;

/// The variable that tells a program of a policy how many of them stand above it.
pub const DEPTH: &str = "AHP_DEPTH";

/// How many programs of policies may call `ahp` inside of one another: a hook may well start an agent that has hooks.
const MOST: u32 = 3;

/// Returns how many programs of policies have started this process, one inside of the other.
#[expect(
    clippy::disallowed_methods,
    reason = "only the environment of the process tells, and whoever starts a program must know"
)]
pub fn depth() -> u32 {
    let told = std::env::var(DEPTH).ok();
    told.and_then(|depth| depth.parse().ok()).unwrap_or(0)
}

/// The commands of `ahp` that start programs which are none of a policy.
const STARTING: &[&str] = &["exec", "shield"];

/// How many processes above this one are looked at.
const MOST_ABOVE: usize = 64;

/// Returns how many `ahp` above this process run a program of a policy, as the system knows it: whoever cleans the environment
/// loses the variable. Where there is no `/proc` nothing is known.
pub(super) fn above() -> u32 {
    static ABOVE: OnceLock<u32> = OnceLock::new();
    *ABOVE.get_or_init(|| {
        let own = fs::read_link("/proc/self/exe").ok();
        let first = parent("self");
        let above = std::iter::successors(first, |pid| parent(pid));
        let judging = above
            .take(MOST_ABOVE)
            .filter(|pid| judges(pid, own.as_deref()));
        u32::try_from(judging.count()).unwrap_or(u32::MAX)
    })
}

/// Returns the number of the process that started one.
fn parent(pid: &str) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let parent = fields.split(' ').nth(1)?;
    (parent != "0").then(|| parent.to_owned())
}

/// Whether a process is an `ahp` that judges.
fn judges(pid: &str, own: Option<&Path>) -> bool {
    let Ok(program) = fs::read_link(format!("/proc/{pid}/exe")) else {
        return false;
    };
    let is_ahp = Some(&*program) == own || program.file_name() == Some(OsStr::new("ahp"));
    let Some(line) = fs::read(format!("/proc/{pid}/cmdline"))
        .ok()
        .filter(|_| is_ahp)
    else {
        return false;
    };
    let mut words = line.split(|byte| *byte == 0).skip(1).map(OsStr::from_bytes);
    let command = words.find(|word| !word.as_bytes().starts_with(b"-"));
    command.is_some_and(|command| !STARTING.iter().any(|starting| command == *starting))
}

/// Returns what is wrong where `ahp` runs at a depth at which it neither judges nor starts programs any more.
pub fn too_deep(depth: u32) -> Option<String> {
    (depth > MOST).then(|| {
        format!(
            "{MOST} programs that ahp runs have called ahp again, inside of one another ({DEPTH} is {depth})"
        )
    })
}
