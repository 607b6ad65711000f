//! The corpus of commands, both sides: what must be stopped and what must never be touched.

mod blind;
mod branches;
mod corpus;
mod disk;
mod kept;
mod known;
pub(crate) mod oracle;
mod reads;
mod rules;
