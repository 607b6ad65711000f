//! Finding: what is told of a command line that breaks a rule.

use crate::signal::Severity;

/// One rule that a command line breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's id: `git:reset-hard`.
    pub rule: String,
    /// How grave it is.
    pub severity: Severity,
    /// Why it is dangerous.
    pub reason: String,
    /// What can be done instead.
    pub instead: String,
    /// The command that breaks it, as one line.
    pub command: String,
    /// The programs it would run through, outermost first.
    pub through: Vec<String>,
    /// Whether the command was found in a part that could not be understood.
    pub uncertain: bool,
}
