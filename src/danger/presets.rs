//! Presets: the files of rules that the program holds, one or several a preset.

/// One preset: a name and its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name as it is written in a policy.
    pub name: &'static str,
    /// Its files, one after the other, in the format of docs/rules.md.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal [$($file:literal)*])*) => {
        /// Every preset that is made of files of rules; `standard` is all of their rules that are not strict.
        pub static PRESETS: &[Preset] = &[$(Preset {
            name: $name,
            text: concat!($(include_str!(concat!("../../policies/rules/", $file, ".rules")), "\n"),*),
        }),*];
    };
}

presets! {
    "cloud" ["cloud" "clusters" "platforms"]
    "database" ["database" "migrations"]
    "exfiltration" ["exfiltration"]
    "filesystem" ["filesystem" "devices" "windows"]
    "git" ["git"]
    "secrets" ["secrets"]
    "supply-chain" ["supply-chain"]
    "system" ["system" "rights" "services"]
}
