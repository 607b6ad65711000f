//! Script oracles: written in rhai, run in a sandbox (spec §6.2).

pub mod api;
mod bundled;
mod committed;
mod context;
pub mod coverage;
mod error;
mod expression;
mod extra;
mod guard;
mod library;
mod limits;
mod list;
pub mod manual;
mod memory;
mod names;
mod sandbox;
mod script;
mod survey;
mod value;
mod wording;
mod workers;

pub use self::bundled::{BUNDLED, Bundled};
pub use self::error::ScriptError;
pub use self::expression::ExprCondition;
pub use self::extra::{EXTRAS, Extra};
pub use self::library::{Found, Library};
pub use self::limits::{MAX_CALLS, MAX_ITEMS, MAX_OPERATIONS, MAX_TEXT};
pub use self::script::{MAX_SOURCE, Run, Script, ScriptOracle};
pub use self::survey::MisspeltFact;
