//! How deep programs stand that policies start, so that those which call `ahp` come to an end.

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

/// Returns what is wrong where `ahp` runs at a depth at which it neither judges nor starts programs any more.
pub fn too_deep(depth: u32) -> Option<String> {
    (depth > MOST).then(|| {
        format!(
            "{MOST} programs that ahp runs have called ahp again, inside of one another ({DEPTH} is {depth})"
        )
    })
}
