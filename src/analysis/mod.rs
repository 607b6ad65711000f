//! Analysis: what the signal log teaches.

mod advise;
mod entry;
mod filter;
mod patch;
mod stats;

pub use self::advise::Change;
pub use self::advise::Proposal;
pub use self::advise::RULES;
pub use self::advise::Rule;
pub use self::advise::advise;
pub use self::entry::Entry;
pub use self::entry::each_entry;
pub use self::entry::each_line;
pub use self::entry::newest_entries;
pub use self::filter::Filter;
pub use self::filter::Passed;
pub use self::filter::parse_since;
pub use self::filter::parse_until;
pub use self::patch::Edit;
pub use self::patch::edit;
pub use self::stats::BindingStats;
pub use self::stats::Figures;
pub use self::stats::GroupStats;
pub use self::stats::Intensities;
pub use self::stats::NamedFigures;
pub use self::stats::REPAIR_CLASSES;
pub use self::stats::Stats;
