//! The project as oracles see it: issues, git, files, evidence.

mod evidence;
mod files;
mod git;
mod issue_files;
mod issues;
pub(crate) mod repository;
