//! Analysis: what the signal log teaches.

mod advise;
mod entry;
mod filter;
mod patch;
mod stats;

pub use self::advise::{Change, Proposal, RULES, Rate, Rule, advise};
pub use self::entry::{Entry, each_entry, each_line, newest_entries};
pub use self::filter::{Filter, Passed, parse_since, parse_until};
pub use self::patch::{Edit, allow_command, edit};
pub use self::stats::{
    BindingStats, Fates, Figures, FindingStats, Gap, Gathered, GroupStats, Intensities, MarkStats,
    NamedFigures, PartStats, REPAIR_CLASSES, Silent, Stats,
};
