//! Danger: which of the programs that a command line would run lose data, leak it or open the machine.
//!
//! The rules are data (`policies/rules/`, docs/rules.md). A section is found by the program's name, its patterns ask
//! predicates, and those see one invocation with what stands around it: each of them knows only what stands before it.

mod custom;
mod digest;
mod index;
mod judge;
mod pattern;
mod place;
mod predicate;
mod presets;
mod rules;
mod secret;
mod section;
mod sql;
mod words;

pub use self::custom::CommandPattern;
pub use self::judge::Finding;
pub use self::judge::Selection;
pub use self::judge::judge;
pub use self::judge::judge_statement;
pub use self::judge::secret_read;
pub use self::place::Place;
pub use self::place::place;
pub use self::presets::PRESETS;
pub use self::presets::Preset;
pub use self::rules::Rule;
pub use self::rules::RuleFault;
pub use self::rules::RuleFile;
pub use self::rules::all_rules;
pub use self::rules::check;
