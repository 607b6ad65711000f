//! PACKS: the policy packs that ship with the program, and how `extends` finds them and further files.

/// A policy that ships with the program.
#[derive(Clone, Copy, Debug)]
pub struct Pack {
    /// The name, as in `extends: [ahp:NAME]`.
    pub name: &'static str,
    /// The policy.
    pub text: &'static str,
}

macro_rules! packs {
    ($($name:literal)*) => {
        /// Every pack, sorted by name.
        pub static PACKS: &[Pack] = &[
            $(Pack { name: $name, text: include_str!(concat!("../../policies/", $name, ".yaml")) },)*
        ];
    };
}

packs! {
    "audit"
    "baseline"
    "enterprise"
    "issue-lifecycle"
    "python"
    "quality-gate"
    "rust"
    "safe-shell"
    "secrets"
    "standard"
    "typescript"
}

/// The settings with their defaults, written out and commented; what `ahp init` starts from.
pub const DEFAULT_POLICY: &str = include_str!("../../policies/default.yaml");

impl Pack {
    /// Finds a pack by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PACKS.iter().find(|pack| pack.name == name)
    }

    /// Returns the first line of the pack's own description.
    pub fn summary(&self) -> &'static str {
        let first = self.text.lines().find_map(|line| line.strip_prefix("# "));
        first.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pack_says_in_one_line_what_it_is() {
        for pack in PACKS {
            assert!(pack.summary().ends_with('.'), "{}", pack.name);
        }
    }
}
