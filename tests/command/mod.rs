//! The command line as people and scripts use it: real processes, real repositories.

mod checking;
mod concurrency;
mod exec;
mod external;
mod running;
