//! What a shell command line would run: parsed, unwrapped and resolved, not searched for text.

mod analysis;
mod brace;
mod builtin;
mod command;
mod container;
mod destination;
mod effect;
mod exit;
mod expand;
mod fields;
mod finds;
mod flow;
mod gather;
mod guard;
mod guess;
mod hidden;
mod inline_code;
mod interpreter;
mod invocation;
mod issue_command;
mod made;
mod output;
mod parameter;
mod path;
mod plain;
mod powershell;
mod reading;
mod recipe;
mod scope;
mod scripts;
mod sed;
mod sink;
mod slice;
mod success;
mod text;
mod typed;
mod unwrap;
mod walk;
mod wrapper;

pub use self::analysis::{Analysis, Doubt, DoubtKind};
pub(crate) use self::brace::expand as expand_braces;
pub(crate) use self::destination::{authority, is_loopback};
pub use self::destination::{destination, names_destination};
pub use self::effect::{Effect, PathEffect};
pub use self::exit::tells_of_failures;
pub(crate) use self::expand::hidden_name;
pub(crate) use self::finds::{anywhere_below, before_action, found_by_find, is_depth_first, roots};
pub(crate) use self::guess::{Reading, is_plainly_command, is_program, reading};
pub(crate) use self::inline_code::{
    CodeWalk, code_of, code_only_reads, glob_of, may_list, only_in_memory,
};
pub use self::invocation::{Invocation, Redirect, Stdin, Word};
pub(crate) use self::invocation::{LINE_OF_FILE, file_name, program_name};
pub use self::issue_command::IssueCommand;
pub(crate) use self::issue_command::{CommitMessage, MessageFrom, joined};
pub(crate) use self::output::MADE_DIRECTORY;
pub(crate) use self::path::{is_clean, is_pattern, without_dots};
pub use self::path::{lexical, real};
pub(crate) use self::reading::is_reader;
pub(crate) use self::scripts::{Scripts, run_by, scripts};
pub(crate) use self::sed::scripts as sed_scripts;
pub(crate) use self::text::{shebang, unescape};

use std::path::PathBuf;

/// The longest text that is parsed, in bytes.
const MAX_LENGTH: usize = 32 * 1024;

/// Where a command line would run.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The directory in which it starts.
    pub work_dir: PathBuf,
    /// What `~` and `$HOME` stand for.
    pub home: Option<PathBuf>,
    /// The root of the project.
    pub project_root: PathBuf,
}

/// Finds out what a line of PowerShell would run.
pub fn analyse_powershell(command: &str, surroundings: Surroundings) -> Analysis {
    analyse(&powershell::as_posix(command), surroundings)
}

/// Finds out what a command line would run.
///
/// Never fails: what cannot be understood is a [`Doubt`], and what could be saved of it is in
/// the invocations, marked as uncertain.
pub fn analyse(command: &str, surroundings: Surroundings) -> Analysis {
    let analysis = guard::analyse(command, &surroundings);
    Analysis {
        surroundings,
        ..analysis
    }
}
