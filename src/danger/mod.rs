//! Danger: which of the programs that a command line would run lose data, leak it or open the machine.
//!
//! The rules are data (`policies/rules/`, docs/rules.md). A section is found by the program's name, its patterns ask
//! predicates, and those see one invocation with what stands around it: each of them knows only what stands before it.

mod container;
mod custom;
mod digest;
mod finding;
mod index;
mod judge;
mod knowledge;
mod pattern;
mod place;
mod predicate;
mod presets;
mod rules;
mod script;
mod secret;
mod section;
mod sql;
mod trace;
pub(crate) mod words;

pub use self::custom::CommandPattern;
pub use self::finding::Finding;
pub use self::judge::{Selection, judge, judge_with, said};
pub use self::knowledge::{Holder, Knowledge, NothingKnown};
pub use self::place::{Place, place};
pub use self::presets::{PRESETS, Preset};
pub use self::rules::{Rule, RuleFault, RuleFile, all_rules, check};
pub use self::trace::{Near, near};
