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
    /// The person is told as well as the agent, and the operation goes on.
    Warns,
    /// It is said at this event, to the agent where the host takes words there and to the person, and is never kept for a later
    /// one.
    AtOnce,
    /// Nobody is told: it is for the log.
    ForLog,
}
