//! Tables: what `policies/` says of rules, programs and words, written as Rust when the program is built, so that no process
//! that judges one command reads it anew.

mod programs;
mod rules;
mod words;

use std::error::Error;
use std::path::Path;
use std::{env, fs};

/// Writes the tables into the directory of the build.
pub(crate) fn write() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=policies/reader");
    println!("cargo::rerun-if-changed=src/danger/format.rs");
    let read = |path: &str| {
        println!("cargo::rerun-if-changed={path}");
        fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
    };
    let out = env::var("OUT_DIR")?;
    let words = read("policies/words.txt")?;
    let lists = words::lists(&words);
    let (rules, losses) = rules::written(read, &lists)?;
    for (name, text) in [
        (
            "programs.rs",
            programs::written(&read("policies/programs.table")?)?,
        ),
        ("rules.rs", rules),
        ("losses.rs", losses),
        ("words.rs", words::written(&lists)?),
    ] {
        fs::write(Path::new(&out).join(name), text)?;
    }
    Ok(())
}
