//! Built-in oracles, each judging events in made-up and in real projects.

pub(crate) mod bench;
mod change_logger;
mod checklist_validator;
mod commit_message_validator;
mod context_loader;
mod file_change_limiter;
mod pages;
mod retrospective_generator;
