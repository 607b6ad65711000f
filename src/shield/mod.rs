//! Shield: which files an agent started by `ahp shield` may write, as a plan for `bwrap`, and the traces that it leaves.
//!
//! The whole tree is read-only; what may be written is a short list; what governs the agent is read-only again inside that
//! list. A plan is data: it is made by looking, it is shown by `--dry-run`, and it changes nothing.

mod arguments;
mod arrange;
mod filter;
mod held;
mod homes;
mod links;
mod mounts;
mod obstacle;
mod plan;
mod sockets;
mod traces;

pub use self::arguments::{Inside, start_script};
pub use self::arrange::{Access, Mount, arrange};
pub use self::filter::{SYSTEM_CALL_FILTER, filter_bytes};
pub use self::held::held;
pub use self::obstacle::{Obstacle, bubblewrap};
pub use self::plan::{Plan, Request, own_sockets};
pub use self::traces::{Missing, Nothing, Traces, sweep};

use std::path::PathBuf;

/// Where the shield's own folder is seen inside: the judge's socket and [`MARKER`].
pub const INSIDE: &str = "/run/ahp";

/// Where a program of the judge sees the folder that it is given: no two programs share what lies there.
pub const SEEN_IN: &str = "/run";

/// The file inside a shield that says so, and where its judge listens: no user can make it outside.
pub const MARKER: &str = "/run/ahp/shield.json";

/// Why a shield cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum ShieldError {
    /// The project is a directory that holds too much.
    #[error(
        "`{0}` cannot be shielded as a project: it is the home directory, or holds it, or is part of the system"
    )]
    TooWide(PathBuf),
    /// A link cannot be a mount point.
    #[error("`{0}` is a link on the way to a place that is to be held: put the real thing there")]
    Link(PathBuf),
    /// What a held link leads to is written inside.
    #[error(
        "`{0}` is to be held, and leads to `{1}`, which can be written inside: put the real thing in the place of the link"
    )]
    LeadsOut(PathBuf, PathBuf),
    /// More than can be looked at.
    #[error("`{0}` is to be held, and holds too much to look for links in it")]
    TooMuch(PathBuf),
    /// A file stands where a folder is to be.
    #[error("`{0}` is not a folder, and a held place lies below it")]
    NotFolder(PathBuf),
    /// Something is to be written that is held.
    #[error("`{0}` cannot be made writable: it is held, or lies in a held folder")]
    WritesHeld(PathBuf),
    /// Something that was named would open what keeps the shield shut.
    #[error(
        "`{0}` cannot be let in or hidden: it holds, or lies in, what keeps a shield shut (`/dev`, `/proc`, `/run`)"
    )]
    KeepsShut(PathBuf),
    /// The project would not be there.
    #[error("`{0}` cannot be hidden: the project lies in it")]
    HidesProject(PathBuf),
    /// Something that was named is not there.
    #[error("`{0}`: {1}")]
    Unreadable(PathBuf, std::io::Error),
    /// The log would be renamed in a writable folder.
    #[error(
        "the log `{0}` lies in a folder that stays writable: set `settings.log.path` below `.ahp/`"
    )]
    Log(PathBuf),
    /// The agent could change what shields are made of.
    #[error(
        "`{0}`, where shields keep what they are made of, lies in a folder that is to be writable: name a smaller one, or set \
         XDG_CACHE_HOME"
    )]
    Shields(PathBuf),
    /// A path that could lead out of where its words lie.
    #[error("`{0}` cannot be planned: it is relative, or has `..`")]
    NotPlain(PathBuf),
    /// The kernel does not tell which sockets there are.
    #[error("what listens on this machine cannot be told, and so not be covered: {0}")]
    Sockets(std::io::Error),
    /// A path cannot be written on a command line.
    #[error("`{0}` is not text, and cannot be held")]
    NotText(PathBuf),
    /// The home directory, the state or the cache directory is not known.
    #[error("{0} is not known: set HOME")]
    Unknown(&'static str),
}
