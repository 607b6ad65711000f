//! Build script: a program that starts fast, by whatever way it is built (docs/performance.md, "The whole process"). What it
//! knows is taken apart here (policies/reader/), not by each process.
//!
//! A program at a fixed address has nothing to relocate at each start, and with the unwinder linked in the loader has one library
//! less to find. Flags in `.cargo/config.toml` would reach the macros of dependencies too, and are not read where the source
//! comes from a registry.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script by variables, and the compiler is asked for a place alone"
)]

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

#[path = "policies/reader/mod.rs"]
mod tables;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(error) = tables::write() {
        println!("cargo::error={error}");
        return ExitCode::FAILURE;
    }
    link();
    ExitCode::SUCCESS
}

/// Tells the compiler how the program is linked.
fn link() {
    println!("cargo::rerun-if-env-changed=CC");
    println!("cargo::rerun-if-env-changed=AHP_BUILD_PIE");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|given| given == value);
    let is_meant = is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && env::var_os("CARGO_FEATURE_CLI").is_some()
        // For those who want the program to lie at an address of chance.
        && env::var_os("AHP_BUILD_PIE").is_none();
    if !is_meant {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let asked = Command::new(compiler)
        .arg("-print-file-name=libgcc_eh.a")
        .output();
    // A compiler that does not have the library answers with its bare name.
    let found = asked
        .ok()
        .and_then(|answer| String::from_utf8(answer.stdout).ok());
    if let Some(dir) = found
        .as_deref()
        .map(|path| Path::new(path.trim()))
        .filter(|path| path.is_absolute())
        .and_then(Path::parent)
    {
        println!("cargo::rustc-link-search=native={}", dir.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}
