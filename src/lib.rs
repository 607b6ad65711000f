//! AHP, the Agent Harness Protocol: a policy engine between an AI coding agent and its work.
//!
//! A host asks the engine before its agent acts, and does what the [`Verdict`] says:
//!
//! ```
//! use ahp::Decision;
//! use ahp::Engine;
//! use ahp::Event;
//! use ahp::Payload;
//! use ahp::block_on;
//! use ahp::serde_json::json;
//!
//! # fn main() -> Result<(), ahp::EngineError> {
//! // `Engine::for_project(".")` takes the policy of a project; this one is written here.
//! let engine = Engine::builder()
//!     .policy_text("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}")
//!     .build()?;
//!
//! let event = Event::tool_use("Bash", json!({"command": "git push --force origin main"}));
//! let verdict = block_on(engine.evaluate(event));
//!
//! assert_eq!(verdict.decision, Decision::Block);
//! for signal in &verdict.signals {
//!     match &signal.payload {
//!         Payload::Block(block) => println!("blocked: {}", block.reason),
//!         Payload::Control(control) => println!("changed: {} fields", control.modifications.len()),
//!         Payload::Prompt(prompt) => println!("warning: {}", prompt.message),
//!         Payload::Aid(aid) => println!("tip: {}", aid.context_info),
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The modules, in the order in which an event flows through them:
//!
//! - [`host`]: what each agent host sends, and the reply that it understands;
//! - [`event`]: one thing that an agent is about to do, or has just done;
//! - [`oracle`]: the checks, and the trait for your own;
//! - [`signal`], [`verdict`]: what the checks say, and what it adds up to;
//! - [`signal_log`]: what is remembered: every evaluation, signal and answer;
//! - [`policy_test`]: tests of policies as data.
//!
//! The other modules are public for the program `ahp` and for this project's tests. They are hidden here, and no promise
//! of stability covers them.

// Processes are ended by their groups, and files are opened without following links, as Unix alone does it.
#[cfg(not(unix))]
compile_error!("ahp needs a Unix system; on Windows, install it in WSL");

#[doc(hidden)]
pub mod analysis;
#[doc(hidden)]
pub mod condition;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod danger;
#[doc(hidden)]
pub mod diagnostic;
#[doc(hidden)]
pub mod engine;
pub mod event;
#[doc(hidden)]
pub mod fact;
mod glob;
#[doc(hidden)]
pub mod guard;
#[doc(hidden)]
pub mod hook_md;
pub mod host;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod install;
#[doc(hidden)]
pub mod machine_key;
#[doc(hidden)]
pub mod message;
pub mod oracle;
#[doc(hidden)]
pub mod pattern;
#[doc(hidden)]
pub mod place;
#[doc(hidden)]
pub mod policy;
pub mod policy_test;
#[doc(hidden)]
pub mod process;
mod program;
#[doc(hidden)]
pub mod provenance;
#[doc(hidden)]
pub mod random;
mod regular_file;
mod search;
#[doc(hidden)]
pub mod secret;
#[doc(hidden)]
pub mod session;
#[doc(hidden)]
pub mod shell;
mod shell_word;
#[doc(hidden)]
pub mod shield;
pub mod signal;
pub mod signal_log;
mod stamp;
#[doc(hidden)]
pub mod trust;
pub mod verdict;
#[doc(hidden)]
pub mod visible;
mod words;
#[doc(hidden)]
pub mod workspace;

pub use async_trait::async_trait;
pub use chrono;
pub use serde_json;
pub use uuid;

pub use crate::config::Locations;
pub use crate::engine::{Engine, EngineBuilder, EngineError, block_on};
pub use crate::event::{Event, ToolCall, Trigger};
pub use crate::oracle::{HookContext, Mode, Oracle, OracleError};
pub use crate::signal::{Intensity, Modification, Payload, Signal};
pub use crate::verdict::{Decision, Verdict};

/// The Rust of `docs/writing-oracles.md`, compiled.
#[cfg(doctest)]
#[doc = include_str!("../docs/writing-oracles.md")]
struct WritingOracles;

/// The Rust of `docs/how-to/rust-host.md`, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/how-to/rust-host.md")]
struct RustHost;
