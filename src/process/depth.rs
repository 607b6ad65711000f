//! How deep programs stand that hooks start, so that hooks which call `ahp` come to an end.

/// The variable that tells a hook's program how many hooks stand above it.
pub const DEPTH: &str = "AHP_DEPTH";

/// Returns how many hooks have started this process, one inside of the other.
#[expect(
    clippy::disallowed_methods,
    reason = "only the environment of the process tells, and whoever starts a program must know"
)]
pub fn depth() -> u32 {
    let told = std::env::var(DEPTH).ok();
    told.and_then(|depth| depth.parse().ok()).unwrap_or(0)
}
