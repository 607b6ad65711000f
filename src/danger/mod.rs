//! Danger: which of the programs that a command line would run lose data, leak it or open the machine.

mod custom;
mod digest;
mod index;
mod judge;
mod pattern;
mod place;
mod predicate;
mod rules;
mod secret;
mod sql;

pub use self::custom::CommandPattern;
pub use self::judge::Finding;
pub use self::judge::Selection;
pub use self::judge::judge;
pub use self::judge::judge_statement;
pub use self::place::Place;
pub use self::place::place;
pub use self::rules::PRESETS;
pub use self::rules::Preset;
pub use self::rules::RuleText;
pub use self::rules::all_rules;
