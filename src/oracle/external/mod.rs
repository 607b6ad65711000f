//! External oracles: programs that judge, each by its own standard's input, exit codes and output.

mod answer;
pub mod command;
mod hook;
mod input;

pub use self::hook::{HookFactory, HookOracle};

pub(crate) use self::answer::{for_log, is_text, shortened};
