//! ToldBase: the commit that a change is measured against, where a person or a CI system says it.

/// What is told of the commit that a change is measured against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToldBase {
    /// The commit or the ref; the change is what HEAD has beyond their merge base.
    pub commit: Option<String>,
    /// A commit that was made of the base and the branch; where it is checked out, its first parent is the base.
    pub merge: Option<String>,
    /// The base that a CI system names for the repository that it has checked out, where that is another than this one.
    pub elsewhere: Option<String>,
    /// Whether this is a CI system: without a base nobody can tell there what the change is.
    pub is_ci: bool,
}
