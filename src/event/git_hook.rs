//! GitHook: what git tells one of its own hooks beside the command line.

use std::path::PathBuf;

use super::tool::quote;

/// What git tells one of its own hooks. No event in JSON has it: only git's own wire tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitHook {
    /// The commit that is being made is made of this index.
    Commit(PathBuf),
    /// These refs are about to be sent.
    Push(Push),
}

/// What a push is about to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    /// The remote, by its name or else its address.
    pub remote: String,
    /// Each ref that changes.
    pub refs: Vec<PushedRef>,
}

/// One ref that a push changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedRef {
    /// The ref that is sent, as git names it.
    pub local: String,
    /// The object that the remote will have.
    pub new: String,
    /// The ref of the remote.
    pub remote: String,
    /// The object that the remote has.
    pub old: String,
}

/// The folder of branches.
const BRANCHES: &str = "refs/heads/";

impl Push {
    /// Returns the command line that says what is pushed, with a `+` before each ref that `is_forced`.
    pub fn command(&self, is_forced: impl Fn(&PushedRef) -> bool) -> String {
        let refs = self.refs.iter().map(|pushed| {
            let (local, remote) = pushed.names();
            let plus = if is_forced(pushed) { "+" } else { "" };
            quote(&format!("{plus}{local}:{remote}"))
        });
        let words = std::iter::once(quote(&self.remote)).chain(refs);
        format!("git push {}", words.collect::<Vec<_>>().join(" "))
    }
}

impl PushedRef {
    /// Whether the remote loses nothing that it has by this name, so that there is no need to ask: it is new there, or
    /// goes away, which its command line says.
    pub fn replaces_nothing(&self) -> bool {
        is_none(&self.old) || is_none(&self.new)
    }

    /// Whether it may only ever be replaced by force, as a tag.
    pub fn is_fixed(&self) -> bool {
        self.remote.starts_with("refs/tags/")
    }

    /// Returns both names as a person would write them: a branch without the folder of branches, and nothing for what
    /// takes a ref away.
    fn names(&self) -> (&str, &str) {
        let short = |name| str::strip_prefix(name, BRANCHES).unwrap_or(name);
        let local = if is_none(&self.new) { "" } else { &*self.local };
        (short(local), short(&self.remote))
    }
}

/// Whether git says by a name of an object that there is none.
fn is_none(object: &str) -> bool {
    !object.is_empty() && object.bytes().all(|byte| byte == b'0')
}
