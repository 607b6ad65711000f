//! Manner: what a host does with a signal beyond what its intensity says.

/// What a host does with a signal beyond what its intensity says, where the hook that gave it asked for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Manner {
    /// The run of the agent ends: the agent is not to try another way. Where a host cannot end it, the intensity says what
    /// happens.
    EndsRun,
    /// The person alone is told; where a host cannot show it, the log has it.
    ForPerson,
    /// Nobody is told: it is for the log.
    ForLog,
}
