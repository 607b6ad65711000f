//! The oracles that run programs or read much: on real projects in folders of their own.

mod cheats;
mod completion_verifier;
mod dependency_checker;
mod dependency_platforms;
mod dependency_workspaces;
mod intensities;
mod issue;
mod lint_checker;
mod matrix;
mod project;
mod replaced;
mod review_trigger;
mod security_scanner;
mod surroundings;
mod test_gate;
