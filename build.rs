//! Links the program at a fixed address on Linux.
//!
//! A host starts it on every tool call. Where it may lie anywhere, the system's loader first corrects the tens of thousands of
//! addresses in its tables, which takes longer than judging the event. The stack, the heap and the libraries still lie where
//! nobody can foretell.

#![expect(
    clippy::disallowed_methods,
    reason = "this is how a build script hears from cargo"
)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
