//! One module for each subcommand.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod edit;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod hook;
pub(crate) mod hook_md;
pub(crate) mod init;
pub(crate) mod install;
pub(crate) mod log;
pub(crate) mod oracle;
pub(crate) mod replay;
pub(crate) mod respond;
pub(crate) mod run;
pub(crate) mod run_in_background;
pub(crate) mod schema;
pub(crate) mod test;
pub(crate) mod trust;
