//! Packages: what takes our program away by its package, or puts another one under its name.

use super::binary::NAMES;
use super::found::{Found, act};
use super::judged::Judged;
use crate::search::read;
use crate::words::words;

const MANAGERS: &[&str] = words!("package-managers");

/// Their commands that take a program away.
const REMOVES: &[&str] = words!("package-removals");

/// The same as options of single programs, by how they begin.
const REMOVES_BY: &[(&str, &str)] = &[
    ("dpkg", "-r"),
    ("dpkg", "-P"),
    ("nix-env", "-e"),
    ("pacman", "-R"),
    ("rpm", "-e"),
];

/// Their commands that take every program away.
const REMOVES_ALL: &[&str] = &["uninstall-all"];

/// Their commands that bring one.
const BRINGS: &[&str] = words!("package-installs");

/// Finds a package manager that removes or shadows our program.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    let program = invocation.program.as_str();
    if !MANAGERS.contains(&program) {
        return None;
    }
    let names: Vec<String> = invocation
        .texts()
        .filter(|w| !w.starts_with('-'))
        .map(package)
        .collect();
    let is_named = |wanted: &str| names.iter().any(|name| name == wanted);
    let by_option = || {
        let mut options = REMOVES_BY.iter().filter(|(of, _)| *of == program);
        options.any(|(_, option)| invocation.texts().any(|word| word.starts_with(option)))
    };
    let removes = invocation.has_word(REMOVES) || by_option();
    if invocation.has_word(REMOVES_ALL) || (removes && NAMES.iter().any(|name| is_named(name))) {
        return Some(act("remove `ahp`"));
    }
    // The package of ours has another name.
    let brings = invocation.has_word(BRINGS) && is_named("ahp") && !only_builds(invocation);
    (brings || links_program(invocation)).then(|| act("put another program in the place of `ahp`"))
}

/// Whether a package of a folder, which has a program of our name, is installed for all that runs here.
fn links_program(invocation: &Judged<'_>) -> bool {
    let is_for_all = invocation.has_word(&["-g", "--global", "--location=global", "link"]);
    if !is_for_all || !matches!(invocation.program.as_str(), "bun" | "npm" | "pnpm" | "yarn") {
        return false;
    }
    let says = |text: &str| {
        text.contains("bin.ahp") || text.contains("\"bin\"") && text.contains("\"ahp\"")
    };
    let folders = invocation
        .texts()
        .filter(|text| text.starts_with(['.', '/', '~']));
    let mut folders = folders.chain(std::iter::once("."));
    folders.any(|dir| {
        let settings = invocation.path_of(dir).join("package.json");
        read(&settings).is_some_and(|text| says(&text))
    }) || invocation.analysis.texts().any(says)
}

/// Whether what is named `ahp` is only compiled where it lies, or noted as a part of the project.
fn only_builds(invocation: &Judged<'_>) -> bool {
    let first = invocation.first();
    let is_noted = first == "add" && invocation.program == "cargo";
    is_noted || (first == "build" && invocation.value_of(&["-o"]).is_none())
}

/// Returns the name that a package is known by: `cargo:ahp-hooks@1.2`, `AHP_hooks`, `example.com/ahp`.
fn package(word: &str) -> String {
    let name = match word.rsplit_once('@') {
        Some((name, _)) if !name.is_empty() => name,
        _ => word,
    };
    let name = name
        .split(['=', '<', '>', '~', '!', '['])
        .next()
        .unwrap_or(name);
    let name = name
        .trim_end_matches('/')
        .rsplit(['/', ':', '#'])
        .next()
        .unwrap_or(name);
    name.to_lowercase().replace(['_', '.'], "-")
}
