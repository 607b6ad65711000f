//! The kinds of places.

/// What kind of place a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `/`, or all below it.
    Root,
    /// What the operating system lives in.
    System,
    /// The home directory, or all below it, or somebody else's.
    Home,
    /// What a person keeps in hidden files of the home directory: keys, settings, history.
    Personal,
    /// The project itself, a directory that holds it, or all of it.
    Project,
    /// What version control keeps: `.git`.
    Repository,
    /// A device.
    Device,
    /// Something else inside the project.
    Inside,
    /// Something else outside the project.
    Outside,
    /// What builds, tests and package managers make again.
    Artifact,
    /// What lies in a directory for temporary files.
    Temporary,
    /// It cannot be told before it runs.
    Unknown,
}
