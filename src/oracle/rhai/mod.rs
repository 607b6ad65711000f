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
mod list;
pub mod manual;
mod memory;
mod sandbox;
mod script;
mod survey;
mod value;
mod wording;
mod workers;

pub use self::bundled::BUNDLED;
pub use self::bundled::Bundled;
pub use self::error::ScriptError;
pub use self::expression::ExprCondition;
pub use self::extra::EXTRAS;
pub use self::extra::Extra;
pub use self::library::Found;
pub use self::library::Library;
pub use self::sandbox::MAX_CALLS;
pub use self::sandbox::MAX_ITEMS;
pub use self::sandbox::MAX_OPERATIONS;
pub use self::sandbox::MAX_TEXT;
pub use self::script::MAX_SOURCE;
pub use self::script::Run;
pub use self::script::Script;
pub use self::script::ScriptOracle;
pub use self::survey::MisspeltFact;
