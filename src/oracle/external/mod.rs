//! External oracles: programs that judge, each by its own standard's input, exit codes and output.

mod answer;
pub(crate) mod command;
mod hook;
mod input;

pub use self::hook::HookFactory;
pub use self::hook::HookOracle;

pub(crate) use self::answer::shortened;
