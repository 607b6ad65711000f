//! Danger: which of the programs that a command line would run lose data, leak it or open the machine.
//!
//! The rules are data (`policies/rules/`, docs/rules.md). A section is found by the program's name, its patterns ask
//! predicates, and those see one invocation with what stands around it: each of them knows only what stands before it.

mod container;
mod custom;
mod digest;
mod finding;
mod format;
mod index;
mod judge;
mod knowledge;
mod losses;
mod pattern;
mod place;
mod predicate;
mod rules;
mod script;
mod secret;
mod sql;
mod testing;
mod trace;

pub use self::custom::CommandPattern;
pub use self::finding::Finding;
pub use self::index::{PRESETS, Rule, all_rules};
pub use self::judge::{Selection, judge, judge_with, said};
pub use self::knowledge::{Holder, Knowledge, NothingKnown};
pub use self::place::{Place, place};
pub use self::rules::{RuleFault, RuleFile, check};
pub use self::trace::{Near, near};
