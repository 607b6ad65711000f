//! Where the code asks which system it is on: in few files, each with an answer for the other systems.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ignore::WalkBuilder;

/// Files that ask for the system, or open what Linux alone has below `/proc`. Whoever adds one says in
/// `docs/reference/platforms.md` what is so on other systems, where a user can tell.
const FILES: &[&str] = &[
    "fleet/src/identity.rs",
    "src/bin/ahp/ask/mod.rs",
    "src/bin/ahp/command/serve/http.rs",
    "src/bin/ahp/command/shield/descriptors.rs",
    "src/bin/ahp/command/shield/inner.rs",
    "src/bin/ahp/command/shield/judge.rs",
    "src/bin/ahp/command/shield/mod.rs",
    "src/bin/ahp/command/shield/world.rs",
    "src/bin/ahp/daemon/kept.rs",
    "src/bin/ahp/daemon/socket.rs",
    "src/bin/ahp/daemon/unit.rs",
    "src/bin/ahp/interrupt.rs",
    "src/host/vscode.rs",
    "src/oracle/external/command/file.rs",
    "src/oracle/rhai/memory.rs",
    "src/place.rs",
    "src/process/pump.rs",
    "src/random.rs",
    "src/shield/mounts.rs",
    "src/shield/plan.rs",
    "src/shield/sockets/diag.rs",
    "src/shield/sockets/mod.rs",
    "src/shield/sockets/search.rs",
];

/// Calls that open what they are given.
const OPENING: &[&str] = &[
    "open(",
    "read(",
    "read_to_string(",
    "read_dir(",
    "metadata(",
];

/// Returns the lines of a file that are code.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim_start)
        .filter(|line| !line.starts_with("//"))
}

fn asks_for_system(line: &str) -> bool {
    line.contains("target_os")
        || OPENING
            .iter()
            .any(|call| line.contains(&format!("{call}\"/proc")))
}

#[test]
fn few_files_ask_for_the_system_and_each_answers_for_the_others() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut walk = WalkBuilder::new(root.join("src"));
    walk.add(root.join("fleet/src"));
    let mut asking = BTreeSet::new();
    for entry in walk.build().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        if !code(&text).any(asks_for_system) {
            continue;
        }
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let asks = code(&text).any(|line| line.starts_with("#[cfg(target_os"));
        let answers = code(&text).any(|line| {
            line.starts_with("#[cfg(not(target_os") || line.contains("!cfg!(target_os")
        });
        assert!(!asks || answers, "{name} has nothing for other systems");
        asking.insert(name);
    }
    assert_eq!(
        asking,
        FILES.iter().map(|name| (*name).to_owned()).collect()
    );
}
