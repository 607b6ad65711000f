//! DependencyChecker on crates that are wanted on one system and not on another.

use super::dependency_checker::{reason, with_issue};
use crate::world::is_here;

#[test]
fn a_crate_that_only_another_system_needs_may_be_absent() {
    if !is_here("cargo") || !is_here("rustc") {
        eprintln!("SKIPPED: a_crate_that_only_another_system_needs_may_be_absent: no cargo here");
        return;
    }
    let manifest = |condition: &str| {
        format!(
            "[package]\nname = \"a\"\nversion = \"0.0.0\"\n[workspace]\n\
             [target.'cfg({condition})'.dependencies]\nelsewhere = \"1\"\n"
        )
    };
    // A registry that knows the crate and does not have it: as after a build on one system.
    let checksum = "0".repeat(64);
    let known = format!(
        "{{\"name\":\"elsewhere\",\"vers\":\"1.0.0\",\"deps\":[],\"cksum\":\"{checksum}\",\"features\":{{}},\"yanked\":false}}\n"
    );
    let lock = format!(
        "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"0.0.0\"\ndependencies = [\n \"elsewhere\",\n]\n\n\
         [[package]]\nname = \"elsewhere\"\nversion = \"1.0.0\"\n\
         source = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"{checksum}\"\n"
    );
    let source = "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\nlocal-registry = \"registry\"\n";
    let rust = with_issue(&[
        ("Cargo.toml", &manifest("no_such_system")),
        ("Cargo.lock", &lock),
        ("src/lib.rs", ""),
        (".cargo/config.toml", source),
        ("registry/index/el/se/elsewhere", &known),
    ])
    .in_git();
    assert!(rust.judge("DependencyChecker", "").is_empty());
    rust.write("Cargo.toml", manifest("not(no_such_system)"));
    assert!(reason(&rust, "").contains("elsewhere v1.0.0"));
}
