//! Artifacts: what builds, tests and package managers make again, told by its name.

use crate::glob::glob;
use crate::words::words;

/// Names of what can be made again.
static ARTIFACTS: &[&str] = words!("artifacts");

/// Paths that mean the same as a whole.
static NESTED_ARTIFACTS: &[&str] = words!("nested-artifacts");

/// Names that mean the same, but only at the start or the end of a path.
static WEAK_ARTIFACTS: &[&str] = words!("weak-artifacts");

/// Whether a path, by its components, can be made again.
pub(in crate::danger) fn is_artifact(components: &[&str]) -> bool {
    let is_one = |names: &[&str], component: &str| {
        !component.is_empty()
            && component != "*"
            && names.iter().any(|name| {
                let is_pattern = component.contains('*') && !component.starts_with('*');
                glob(name, component)
                    || (is_pattern && component.len() > 2 && glob(component, name))
            })
    };
    let is_nested = |path: &&str| {
        let parts = path.split('/').count();
        let mut windows = components.windows(parts);
        windows.any(|part| part.iter().copied().eq(path.split('/')))
    };
    if components.iter().any(|c| is_one(ARTIFACTS, c)) || NESTED_ARTIFACTS.iter().any(is_nested) {
        return true;
    }
    let among_sources = components
        .iter()
        .any(|c| matches!(*c, "src" | "lib" | "app" | "internal" | "cmd"));
    // A table among reports or output is what somebody made, not what a build makes again.
    let is_data = components
        .last()
        .and_then(|name| name.rsplit_once('.'))
        .is_some_and(|(_, end)| {
            matches!(end, "csv" | "tsv" | "xlsx" | "parquet" | "db" | "sqlite")
        });
    !among_sources
        && !is_data
        && [components.first(), components.last()]
            .into_iter()
            .flatten()
            .any(|c| is_one(WEAK_ARTIFACTS, c))
}
