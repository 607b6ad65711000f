//! Faults: in programs that judge, and in oracles. Whatever they do, the verdict is right, in time, and nothing stays.

mod commands;
mod ended;
mod inside;
mod oracles;
mod page;
mod pipes;
mod programs;
mod watched;
