//! HOOK.md hooks: read, matched, put in order and run.

mod bound;
mod front_matter;
mod order;
mod protocol;
mod seeds;
mod speed;
