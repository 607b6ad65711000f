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
    "provenance"
    "python"
    "quality-gate"
    "rust"
    "safe-shell"
    "secrets"
    "session"
    "standard"
    "typescript"
}

/// A number that is another where the text of any pack is.
///
/// The compiler computes it, so that what is kept of a policy is known to be of these packs without reading them again.
pub(super) const PACKS_HASH: u64 = {
    let mut hash = 0_u64;
    let mut packs = PACKS;
    while let [pack, others @ ..] = packs {
        let text = pack.text.as_bytes();
        hash = hash.rotate_left(1) ^ number(text);
        packs = others;
    }
    hash
};

/// Returns a number by which a text is known: FNV-1a of 64 bits.
const fn number(mut text: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    while let [byte, rest @ ..] = text {
        hash = (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01b3);
        text = rest;
    }
    hash
}

/// A whole policy file: every setting with its default, written out and commented.
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
