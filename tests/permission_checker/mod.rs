//! The corpus of commands, both sides: what must be stopped and what must never be touched.

mod corpus;
pub(crate) mod oracle;
mod rules;
