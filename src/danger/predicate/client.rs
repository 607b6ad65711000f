//! Clients of services that no rule knows by name, and what they are told to do.

use super::reading::READERS;
use crate::danger::digest::Digest;
use crate::shell::Word;

/// Programs whose words are texts, names or other commands, not what is to be done at a service.
const OTHERS: &[&str] = &[
    "",
    ":",
    "[",
    "[[",
    "ack",
    "alias",
    "apropos",
    "apt-cache",
    "assert",
    "basename",
    "brew",
    "bun",
    "bunx",
    "bundle",
    "busybox",
    "cargo",
    "case",
    "cd",
    "chmod",
    "cmake",
    "code",
    "command",
    "compgen",
    "complete",
    "composer",
    "conda",
    "ctags",
    "curl",
    "dart",
    "deno",
    "diff",
    "dirname",
    "direnv",
    "dotnet",
    "du",
    "echo",
    "emacs",
    "eval",
    "exec",
    "export",
    "expr",
    "fd",
    "file",
    "find",
    "flutter",
    "for",
    "fzf",
    "gh",
    "git",
    "go",
    "gradle",
    "gradlew",
    "help",
    "http",
    "https",
    "hub",
    "if",
    "info",
    "invoke",
    "java",
    "jest",
    "just",
    "kill",
    "ln",
    "locate",
    "look",
    "ls",
    "make",
    "man",
    "mise",
    "mix",
    "mkdir",
    "mocha",
    "mvn",
    "mvnw",
    "mv",
    "node",
    "nox",
    "npm",
    "npx",
    "nvim",
    "open",
    "patch",
    "perl",
    "php",
    "pip",
    "pip3",
    "pnpm",
    "poetry",
    "printf",
    "pytest",
    "python",
    "python3",
    "rails",
    "rake",
    "read",
    "readlink",
    "realpath",
    "rm",
    "rspec",
    "ruby",
    "say",
    "set",
    "sql",
    "ssh",
    "stat",
    "sudo",
    "swift",
    "task",
    "test",
    "time",
    "tldr",
    "tmux",
    "touch",
    "tox",
    "trap",
    "tree",
    "tsx",
    "turbo",
    "type",
    "uv",
    "uvx",
    "vi",
    "vim",
    "vitest",
    "wc",
    "wget",
    "whatis",
    "which",
    "xargs",
    "xcrun",
    "xdg-open",
    "yarn",
];

/// Whether a program is a client of something, not one that works on text or starts others.
pub(super) fn is_client(digest: &Digest<'_>) -> bool {
    let program = digest.invocation.program.as_str();
    // What lies in the project is its own.
    let is_local = digest.invocation.path.text.contains('/');
    !is_local && !READERS.contains(&program) && !OTHERS.contains(&program)
}

/// Verbs that lose what a thing holds, though they may also mean less.
const CLEARS: &[&str] = &[
    "clear",
    "flush",
    "reset",
    "erase",
    "drop",
    "rm",
    "truncate",
    "empty",
    "remove-all",
];

/// Options that answer the question whether it is meant.
const CONFIRMS: &[&str] = &[
    "-y",
    "--yes",
    "--force",
    "--confirm",
    "--auto-approve",
    "--no-prompt",
    "--no-confirm",
    "--assume-yes",
];

/// What services keep for people.
const KEPT: &[&str] = &[
    "app",
    "backup",
    "bucket",
    "cluster",
    "collection",
    "database",
    "db",
    "disk",
    "domain",
    "environment",
    "index",
    "instance",
    "namespace",
    "project",
    "queue",
    "record",
    "server",
    "service",
    "snapshot",
    "stream",
    "table",
    "tenant",
    "topic",
    "user",
    "vm",
    "volume",
    "zone",
];

/// Whether something is cleared without a question, or a thing that a service keeps is: `clear --yes`, `servers rm`.
pub(super) fn clears(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let text = |at: usize| words.get(at).map_or("", |w| w.text.as_str());
    let (first, second) = (text(0), text(1));
    let (clears_first, clears_second) = (CLEARS.contains(&first), CLEARS.contains(&second));
    if !(clears_first || clears_second || matches!(second, "remove" | "del")) {
        return false;
    }
    let arguments = &digest.invocation.arguments;
    let confirmed = arguments
        .iter()
        .any(|w| CONFIRMS.contains(&w.text.split('=').next().unwrap_or_default()));
    let is_cache = arguments.iter().any(|w| w.text.contains("cache"));
    let one = first.strip_suffix('s').unwrap_or(first);
    (clears_first || clears_second) && confirmed && !is_cache
        || !clears_first && (KEPT.contains(&one) || matches!(first, "indices" | "indexes"))
}
