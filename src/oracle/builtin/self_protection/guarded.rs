//! Guarded: the files that no agent may change.

use std::cell::OnceCell;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use crate::shell::Effect;
use crate::shell::PathEffect;
use crate::shell::lexical;
use crate::shell::real;

/// Of the project; a directory means all below it.
const OF_PROJECT: &[&str] = &[
    ".ahp",
    ".agents/hooks",
    ".claude/hooks",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".cline/hooks",
    ".clinerules/hooks",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".gemini/settings.json",
    ".git/config",
    ".git/hooks",
    ".github/copilot/settings.json",
    ".github/copilot/settings.local.json",
    ".github/hooks",
    ".kimi/config.toml",
    ".kimi-code/config.toml",
    ".monoco/hooks",
    ".opencode/plugin",
    ".opencode/plugins",
    ".qwen/settings.json",
    ".windsurf/hooks.json",
    "opencode.json",
    "opencode.jsonc",
];

/// Of the person, below the home directory.
const OF_PERSON: &[&str] = &[
    ".ahp",
    ".cache/ahp",
    ".claude/hooks",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codeium/hooks.json",
    ".codeium/windsurf/hooks.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".config/agents/hooks",
    ".config/ahp",
    ".config/git/config",
    ".config/opencode/opencode.json",
    ".config/opencode/plugin",
    ".config/opencode/plugins",
    ".copilot/config.json",
    ".copilot/hooks",
    ".copilot/settings.json",
    ".cursor/hooks.json",
    ".gemini/settings.json",
    ".gitconfig",
    ".kimi/config.toml",
    ".kimi-code/config.toml",
    ".local/share/ahp",
    ".local/state/ahp",
    ".qwen/settings.json",
    "Documents/Cline/Hooks",
    "Library/Application Support/ahp",
];

/// Of the machine.
const OF_MACHINE: &[&str] = &[
    "/etc/ahp",
    "/etc/claude-code",
    "/etc/codex",
    "/etc/cursor",
    "/etc/gemini-cli",
    "/etc/github-copilot",
    "/etc/windsurf",
    "/Library/Application Support/ClaudeCode",
    "/Library/Application Support/Cursor",
    "/Library/Application Support/Windsurf",
];

/// Names that are ours wherever they lie in the project or home: a nested `.ahp` is a policy of its own.
const OURS: &[&[&str]] = &[&[".ahp"], &[".agents", "hooks"]];

/// Files of ours that are told by their name where the directory is not known.
const TELLING: &[&str] = &["hooks.yaml", "hooks.local.yaml", "signals.jsonl"];

/// Files of ours that a search may meet.
const FILES: &[&str] = &["hook.md", "hooks.local.yaml", "hooks.yaml", "signals.jsonl"];

/// The files that no agent may change.
#[derive(Debug)]
pub(super) struct Guarded {
    /// Made when something would first be changed, which most commands do not.
    paths: OnceCell<Vec<(PathBuf, Vec<String>)>>,
    more: Vec<PathBuf>,
    pub(super) root: PathBuf,
    pub(super) home: Option<PathBuf>,
}

impl Guarded {
    pub(super) fn new(root: &Path, home: Option<&Path>, state_dir: &Path, more: &[String]) -> Self {
        let mut others: Vec<PathBuf> = more.iter().map(|p| lexical(p, root, home)).collect();
        others.push(state_dir.to_owned());
        Self {
            paths: OnceCell::new(),
            more: others,
            root: root.to_owned(),
            home: home.map(Path::to_owned),
        }
    }

    fn paths(&self) -> &[(PathBuf, Vec<String>)] {
        self.paths.get_or_init(|| {
            let mut paths = self.more.clone();
            paths.extend(OF_MACHINE.iter().map(PathBuf::from));
            let both = |dir: &Path| {
                let followed = real(dir);
                let differs = followed != dir;
                std::iter::once(dir.to_owned()).chain(differs.then_some(followed))
            };
            for root in both(&self.root) {
                paths.extend(OF_PROJECT.iter().map(|p| root.join(p)));
            }
            for home in self.home.iter().flat_map(|home| both(home)) {
                paths.extend(OF_PERSON.iter().map(|p| home.join(p)));
            }
            // What a guarded name leads to is guarded by its own name too.
            let targets: Vec<PathBuf> = paths
                .iter()
                .filter(|path| path.is_symlink())
                .map(|path| real(path))
                .collect();
            paths.extend(targets);
            paths
                .into_iter()
                .map(|path| {
                    let parts = components(&path);
                    (path, parts)
                })
                .collect()
        })
    }

    /// Returns what is guarded and would be changed by an effect.
    pub(super) fn hit(&self, effect: &PathEffect) -> Option<PathBuf> {
        let takes_all = effect.recursive
            && matches!(
                effect.effect,
                Effect::Delete | Effect::Move | Effect::Rights
            );
        self.meets(&effect.path, takes_all, effect.inexact)
            .or_else(|| {
                let followed = real(&effect.path);
                (followed != effect.path)
                    .then(|| self.meets(&followed, takes_all, effect.inexact))
                    .flatten()
            })
    }

    /// Returns what is guarded and is, or lies at or below, this path.
    pub(super) fn covers(&self, path: &Path) -> Option<PathBuf> {
        self.hit(&PathEffect {
            path: path.to_owned(),
            effect: Effect::Write,
            program: String::new(),
            recursive: false,
            inexact: false,
        })
    }

    fn meets(&self, path: &Path, takes_all: bool, inexact: bool) -> Option<PathBuf> {
        let parts = components(path);
        if self.is_ours(path, &parts) {
            return Some(path.to_owned());
        }
        if let Some(name) = parts.last()
            && TELLING.contains(&name.as_str())
            && (inexact || path.is_relative())
        {
            return Some(path.to_owned());
        }
        // A tool of ours on the search path.
        if let [.., dir, name] = parts.as_slice()
            && name == "ahp"
            && dir == "bin"
        {
            return Some(path.to_owned());
        }
        // `find` looks at every depth, and into what is hidden.
        if let Some(deep) = parts.iter().position(|part| part == "**") {
            let (above, below) = (parts.get(..deep)?, parts.last()?);
            let named = |name: &str| fast_glob::glob_match(below.as_str(), name);
            let holds = |(guarded, wanted): &&(PathBuf, Vec<String>)| {
                wanted.starts_with(above)
                    && guarded.exists()
                    && (wanted.last().is_some_and(|name| named(name))
                        || (guarded.is_dir()
                            && FILES.iter().any(|f| named(f) && holds_file(guarded, f))))
            };
            return self
                .paths()
                .iter()
                .find(holds)
                .map(|(path, _)| path.clone());
        }
        self.paths()
            .iter()
            .find(|(guarded, wanted)| {
                let is_common = !parts.is_empty()
                    && parts
                        .iter()
                        .zip(wanted)
                        .all(|(part, wanted)| fits(part, wanted, inexact));
                // A pattern meets only what is there; so does what takes all below it away.
                let is_at = parts.len() >= wanted.len();
                is_common && ((is_at && !inexact) || ((is_at || takes_all) && guarded.exists()))
            })
            .map(|(guarded, _)| guarded.clone())
    }

    fn is_ours(&self, path: &Path, parts: &[String]) -> bool {
        let names_ours = OURS.iter().any(|names| {
            parts
                .windows(names.len())
                .any(|window| window.iter().zip(*names).all(|(a, b)| a == b))
        });
        let is_below = |dir: &Path| {
            dir.as_os_str().len() > 1 && (path.starts_with(dir) || path.starts_with(real(dir)))
        };
        names_ours
            && (path.is_relative()
                || is_below(&self.root)
                || self.home.as_deref().is_some_and(is_below))
    }
}

/// Returns what a folder holds that would be guarded in a project.
pub(super) fn guarded_in(dir: &Path) -> Option<&'static str> {
    let mut names = OF_PROJECT.iter().copied();
    names.find(|name| dir.join(name).exists())
}

/// Whether a guarded folder holds a file of ours: its policy beside it, a hook one folder down.
fn holds_file(dir: &Path, name: &str) -> bool {
    if name != "hook.md" {
        return dir.join(name).exists();
    }
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .take(64)
        .any(|entry| entry.path().join("HOOK.md").exists())
}

/// Returns the names of a path in lower case: some file systems do not tell them apart.
fn components(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect()
}

/// Whether a name, or the pattern that stands for it, can be the wanted one.
fn fits(part: &str, wanted: &str, inexact: bool) -> bool {
    if part == wanted {
        return true;
    }
    if !inexact || !part.contains(['*', '?', '[']) {
        return false;
    }
    // A pattern meets a hidden file only where it starts with a dot itself.
    if wanted.starts_with('.') && !part.starts_with(['.', '[']) {
        return false;
    }
    fast_glob::glob_match(part, wanted)
}
