//! Code: every diagnostic's stable name and its one-line meaning.

use std::fmt;

macro_rules! codes {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// The stable name of a kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $doc] $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name that is printed in brackets.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns one line on what the code means.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

codes! {
    Unreadable "unreadable" "A configuration file cannot be read.";
    NotRead "not-read" "A file beside the policy is named almost like one that is read.";
    TooLarge "too-large" "A configuration file is larger than any policy needs to be.";
    NotUtf8 "not-utf8" "A configuration file is not UTF-8 text.";
    Syntax "syntax" "A file is not well-formed YAML.";
    Limit "limit" "A file exceeds a limit on depth, size or aliases.";
    UnknownKey "unknown-key" "A key has no meaning at its place.";
    DuplicateKey "duplicate-key" "A key stands twice in one map.";
    MissingKey "missing-key" "A required key is not there.";
    WrongType "wrong-type" "A value has the wrong type.";
    BadValue "bad-value" "A value is out of its range or not one of those offered.";
    BadDuration "bad-duration" "A duration is not a number with ms, s, m or h.";
    BadSize "bad-size" "A size is not a number with B, KiB, MiB or GiB.";
    BadRegex "bad-regex" "A regular expression does not compile.";
    BadGlob "bad-glob" "A glob does not compile.";
    BadExpression "bad-expression" "An `expr:` does not compile.";
    BadComparison "bad-comparison" "A comparison in `when` cannot be understood.";
    UnknownTrigger "unknown-trigger" "A trigger is not one of the protocol's.";
    UnknownOracle "unknown-oracle" "No oracle has this name.";
    UnknownFact "unknown-fact" "No event can ever have this fact.";
    UnknownPack "unknown-pack" "No policy pack has this name.";
    UnknownHook "unknown-hook" "No HOOK.md hook has this name.";
    DuplicateId "duplicate-id" "Two bindings of one trigger and layer have one id.";
    Locked "locked" "A later layer touches a locked binding.";
    BadScript "bad-script" "A script oracle does not compile or cannot be read.";
    BadHook "bad-hook" "A HOOK.md hook is not valid.";
    Cycle "cycle" "Packs extend each other in a circle.";
    NeverFires "never-fires" "A binding can never fire.";
    Shadowed "shadowed" "A binding repeats or contradicts another.";
    Intensity "intensity" "An intensity that the trigger or the host cannot carry.";
    ControlClash "control-clash" "Two controls of one stage change one target.";
    MissingFact "missing-fact" "An oracle needs a fact that the trigger never has.";
    UnusedOracle "unused-oracle" "A script oracle that no binding uses.";
    UnusedMark "unused-mark" "A mark that nothing asks for.";
    MisspeltFact "misspelt-fact" "A script asks for a fact that does not exist.";
    SharedId "shared-id" "Several issue files have one id.";
    Untrusted "untrusted" "A binding runs programs of a project that is not trusted.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
