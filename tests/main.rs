//! The one integration test binary; each module beside this file is named here.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test that cannot go on says where by panicking"
)]

mod analysis;
mod architecture;
mod check;
mod command;
mod command_hooks;
mod conditions;
mod config;
mod controls;
mod diagnostic;
mod documents;
mod engine;
mod event;
mod faults;
mod first_project;
mod gates;
mod hook;
mod hook_md;
mod host;
mod host_answers;
mod host_events;
mod host_questions;
mod in_force;
mod install;
mod message;
mod monoco;
mod oracle;
mod packaging;
mod pattern;
mod permission_checker;
mod portability;
mod process;
mod public_api;
mod red_team;
mod reference;
mod round_trips;
mod script;
mod secret;
mod serve;
mod session;
mod shell;
mod shield;
mod signal_log;
mod surface;
mod tables;
mod trust;
mod weighing;
mod workspace;
mod world;
