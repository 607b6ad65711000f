//! The command line as people and scripts use it: real processes, real repositories.

mod allowing;
mod checking;
mod ci;
mod ci_base;
mod ci_policy;
mod ci_seen;
mod concurrency;
mod deciding;
mod exec;
mod external;
mod foreign;
mod help;
mod mcp;
mod packs;
mod running;
mod telling;
mod wiring;
