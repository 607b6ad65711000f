//! Losses: which programs the rules about losing something know by their names. The build takes them from the rules
//! (policies/reader/rules.rs).

include!(concat!(env!("OUT_DIR"), "/losses.rs"));

/// Whether such rules know a program by its name.
pub(super) fn knows(program: &str) -> bool {
    let is_begun = |begin: &&str| program.starts_with(*begin);
    LOSING.binary_search(&program).is_ok() || LOSING_BEGIN.iter().any(is_begun)
}
