//! Script oracles and expressions, from outside.

mod commands;
mod expressions;
mod functions;
mod hostile;
mod manual;
mod project;
mod scripts;
