//! AHP, the Agent Harness Protocol: a policy engine between an AI coding agent and its work.
//!
//! The modules in the order in which an event flows through them:
//!
//! - [`event`]: one thing that an agent is about to do, or has just done;
//! - [`process`]: the one place that runs other programs;
//! - [`pattern`]: regular expressions that cost little at start-up;
//! - [`shell`]: what a command line would really run;
//! - [`danger`]: which of it loses data, leaks it or opens the machine;
//! - [`workspace`], [`fact`]: what the project looks like, asked lazily;
//! - [`config`], [`diagnostic`]: the layers that users write, and what is wrong in them;
//! - [`hook_md`], [`trust`]: the programs of users and projects that judge too, and which of them may run;
//! - [`condition`], [`policy`]: what was written, ready to be asked;
//! - [`oracle`]: the checks;
//! - [`signal`], [`verdict`]: what they say, and what it adds up to;
//! - [`engine`]: what brings all of them together;
//! - [`signal_log`], [`analysis`]: what is remembered, and what it teaches;
//! - [`message`], [`host`]: how it is said, and in whose form;
//! - [`policy_test`]: tests of all this as data.

pub mod analysis;
pub mod condition;
pub mod config;
pub mod danger;
pub mod diagnostic;
pub mod engine;
pub mod event;
pub mod fact;
pub mod hook_md;
pub mod host;
#[cfg(feature = "cli")]
pub mod install;
pub mod message;
pub mod oracle;
pub mod pattern;
pub mod policy;
pub mod policy_test;
pub mod process;
pub mod shell;
pub mod signal;
pub mod signal_log;
mod stamp;
pub mod trust;
pub mod verdict;
pub mod workspace;

/// The Rust of `docs/writing-oracles.md`, compiled.
#[cfg(doctest)]
#[doc = include_str!("../docs/writing-oracles.md")]
struct WritingOracles;
