//! What a command line would run: cases of programs with their arguments, and properties.

mod properties;
mod unwrapping;
