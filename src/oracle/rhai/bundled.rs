//! BUNDLED: the registry of the scripts in `oracles/`, which the program carries in itself.

/// A script that the program carries in itself.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// The name, in kebab-case.
    pub name: &'static str,
    /// The script.
    pub source: &'static str,
}

macro_rules! bundled {
    ($($name:literal,)*) => {
        /// Every script in `oracles/`, sorted by name.
        pub const BUNDLED: &[Bundled] = &[$(Bundled {
            name: $name,
            source: include_str!(concat!("../../../oracles/", $name, ".rhai")),
        },)*];
    };
}

bundled! {
    "api-documentation",
    "branch-guard",
    "change-size",
    "changelog-required",
    "commit-scope",
    "dependency-reason",
    "file-size-limit",
    "generated-files",
    "licence-header",
    "migration-rollback",
    "no-debug-prints",
    "no-skipped-tests",
    "protected-paths",
    "quiet-hours",
    "say",
    "test-for-source",
    "todo-needs-issue",
}
