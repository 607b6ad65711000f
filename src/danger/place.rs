//! Place: what kind of place a path is, by which deleting or changing it is judged.

use std::path::Path;
use std::path::PathBuf;

use super::pattern::glob;
use crate::shell::Invocation;
use crate::shell::Surroundings;
use crate::shell::Word;
use crate::shell::lexical;
use crate::shell::real;

/// What kind of place a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `/`, or all below it.
    Root,
    /// What the operating system lives in.
    System,
    /// The home directory, or all below it, or somebody else's.
    Home,
    /// What a person keeps in hidden files of the home directory: keys, settings, history.
    Personal,
    /// The project itself, a directory that holds it, or all of it.
    Project,
    /// What version control keeps: `.git`.
    Repository,
    /// A device.
    Device,
    /// Something else inside the project.
    Inside,
    /// Something else outside the project.
    Outside,
    /// What builds, tests and package managers make again.
    Artifact,
    /// What lies in a directory for temporary files.
    Temporary,
    /// It cannot be told before it runs.
    Unknown,
}

/// Directories of the operating system; what lies in them is its own too.
const SYSTEM: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/proc",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "/System",
    "/Library",
    "/Applications",
    "/private/etc",
    "/private/var",
    "/cores",
    "/snap",
    "/nix",
];

/// Directories in which everything is temporary.
const TEMPORARY: &[&str] = &[
    "/tmp",
    "/var/tmp",
    "/private/tmp",
    "/private/var/folders",
    "/var/folders",
    "/dev/shm",
    "/run/user",
];

/// Names of what can be made again.
const ARTIFACTS: &[&str] = &[
    "node_modules",
    "generated",
    "__generated__",
    "bower_components",
    "jspm_packages",
    ".npm",
    ".pnpm-store",
    ".yarn",
    "target",
    "dist",
    "build",
    "_build",
    ".build",
    ".next",
    ".nuxt",
    ".output",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".cache",
    ".vite",
    ".angular",
    ".expo",
    ".docusaurus",
    ".vercel",
    ".netlify",
    ".serverless",
    ".aws-sam",
    "cdk.out",
    "storybook-static",
    "coverage",
    "htmlcov",
    ".coverage",
    ".coverage.*",
    ".nyc_output",
    "lcov-report",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".pytype",
    ".tox",
    ".nox",
    ".eggs",
    "*.egg-info",
    "*.dist-info",
    ".venv",
    "venv",
    "wheelhouse",
    ".hypothesis",
    ".ipynb_checkpoints",
    "*.pyc",
    "*.pyo",
    "*.o",
    "*.obj",
    "*.class",
    "*.log",
    "*.tmp",
    "*.temp",
    "*.bak",
    "*.swp",
    "*.swo",
    "*.orig",
    "*.rej",
    "*~",
    "*.pid",
    "*.cache",
    "*.tsbuildinfo",
    ".DS_Store",
    "Thumbs.db",
    ".eslintcache",
    ".stylelintcache",
    "*.profraw",
    "*.gcda",
    "*.gcno",
    "*.min.js",
    "*.aux",
    "*.toc",
    ".tmp",
    ".temp",
    "tmp-*",
    "tmp_*",
    "temp-*",
    "temp_*",
    "*-tmp",
    "*_tmp",
    "tmp.*",
    ".logs",
    ".bundle",
    ".gradle",
    ".mvn",
    "DerivedData",
    "Pods",
    "Carthage",
    ".swiftpm",
    ".dart_tool",
    ".pub-cache",
    ".terraform",
    ".terragrunt-cache",
    "cmake-build-*",
    "CMakeFiles",
    "CMakeCache.txt",
    "bazel-*",
    "buck-out",
    ".sass-cache",
    ".jekyll-cache",
    "_site",
    ".stack-work",
    "dist-newstyle",
    "elm-stuff",
    "zig-cache",
    ".zig-cache",
    "zig-out",
    ".elixir_ls",
    "test-results",
    "test_results",
    "test-output",
    "playwright-report",
    ".nx",
    ".artifacts",
    "junit.xml",
    ".scratch",
    "tmpdir",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lockb",
    "bun.lock",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "Gemfile.lock",
    "composer.lock",
    "Cargo.lock",
    "go.sum",
    "*.lock",
    "flake.lock",
    ".terraform.lock.hcl",
    "dist-*",
    "dist_*",
    "build-*",
    "build_*",
    "*-build",
    "*_build",
    "target-*",
    "out-*",
    "docs/_build",
    "lib-cov",
    "*.tgz",
    "*.whl",
    ".wrangler",
    ".firebase",
    ".astro",
    ".contentlayer",
    ".rollup.cache",
    ".rpt2_cache*",
    ".webpack",
    ".mypy",
    ".import",
    ".godot",
    "__generated__",
    ".phpunit.cache",
    ".phpunit.result.cache",
    ".php-cs-fixer.cache",
    ".pdm-build",
    ".pixi",
    "node_modules.bak",
    "node_modules_old",
    "*.egg",
    "pip-wheel-metadata",
    ".ccache",
    ".cargo-cache",
    "__MACOSX",
    "benchmarks-out",
];

/// Names that mean the same, but only at the start or the end of a path, and not among sources.
const WEAK_ARTIFACTS: &[&str] = &[
    "bin",
    "obj",
    "pkg",
    "Debug",
    "Release",
    "debug",
    "release",
    "env",
    "log",
    "logs",
    "vendor",
    "deps",
    "site",
    "reports",
    "report",
    "gen",
    "generated",
    "output",
    "out",
    "cache",
    "caches",
    "Caches",
    "artifacts",
    "tmp",
    "temp",
    "sandbox",
    "scratch",
    "builds",
    "virtualenv",
    "*.out",
    "__snapshots__",
    "core",
];

/// Words in the names of variables that hold something temporary or made again.
const PASSING: &[&str] = &[
    "TMP",
    "TEMP",
    "SCRATCH",
    "BUILD",
    "DIST",
    "CACHE",
    "TARGET_DIR",
    "OUT_DIR",
    "OUTDIR",
    "OUTPUT",
    "VENV",
    "COVERAGE",
    "ARTIFACT",
    "STAGING_DIR",
    "SANDBOX",
    "WORKTREE",
    "TESTDIR",
    "TEST_DIR",
    "FIXTURE",
];

/// Tells what kind of place a word of an invocation means.
pub fn place(word: &Word, invocation: &Invocation, surroundings: &Surroundings) -> Place {
    let text = word.text.as_str();
    if text.is_empty() {
        return Place::Inside;
    }
    let drive = text.as_bytes().get(1) == Some(&b':')
        && text.starts_with(|c: char| c.is_ascii_alphabetic());
    if drive {
        let rest = text
            .get(2..)
            .unwrap_or_default()
            .trim_matches(['\\', '/', '*']);
        return match rest.to_ascii_lowercase().as_str() {
            "" => Place::Root,
            r if r.starts_with("windows") || r.starts_with("program") => Place::System,
            r if r.starts_with("users") && r.matches(['\\', '/']).count() < 2 => Place::Home,
            _ => Place::Outside,
        };
    }
    if word.dynamic && !text.starts_with(['/', '.', '~']) || text.starts_with("{}") {
        return unknown(text);
    }
    let base = match &invocation.work_dir {
        Some(dir) if !invocation.remote => dir.clone(),
        _ if text.starts_with(['/', '~']) => PathBuf::from("/"),
        // Where it is relative to something unknown, only its own name tells.
        _ => {
            let components: Vec<&str> = text.split('/').collect();
            return match text {
                "." | "./" | "*" | "./*" | ".." | "../" | "../*" if invocation.remote => {
                    Place::Outside
                }
                "." | "./" | "*" | "./*" | ".." | "../" | "../*" => Place::Project,
                _ if is_artifact(&components) => Place::Artifact,
                _ => Place::Unknown,
            };
        }
    };
    let home = surroundings.home.as_deref();
    let all = matches!(
        text.rsplit('/').next(),
        Some("*" | ".*" | "{*,.*}" | ".[!.]*" | "**")
    ) && word.glob;
    let bare = if all {
        text.rsplit_once('/')
            .map_or(".", |(dir, _)| if dir.is_empty() { "/" } else { dir })
    } else {
        text
    };
    if bare == "~" || (bare.starts_with("~/") && home.is_none()) {
        return in_home(
            Path::new(bare.trim_start_matches('~').trim_start_matches('/')),
            all,
        );
    }
    let path = lexical(bare, &base, home);
    let relative = !bare.starts_with(['/', '~']);
    let found = classify(&path, relative, all, surroundings);
    if invocation.remote
        || word.glob
        || !matches!(found, Place::Inside | Place::Artifact | Place::Temporary)
    {
        return found;
    }
    // A link inside may lead to a place outside.
    match std::fs::symlink_metadata(&path) {
        Ok(meta) if meta.is_symlink() && !text.ends_with('/') => found,
        Ok(_) => {
            let target = real(&path);
            if target == path || real(&surroundings.project_root).join("x") == target.join("x") {
                found
            } else {
                let at_home = Surroundings {
                    work_dir: real(&surroundings.work_dir),
                    home: surroundings.home.as_deref().map(real),
                    project_root: real(&surroundings.project_root),
                };
                classify(&target, false, all, &at_home)
            }
        }
        Err(_) => found,
    }
}

/// What a text is whose value is known only when it runs: its name may tell.
fn unknown(text: &str) -> Place {
    let upper = text.to_ascii_uppercase();
    let components: Vec<&str> = text.split('/').collect();
    let is_variable = text.starts_with('$') && !text.starts_with("$(");
    if components.len() > 1 && is_artifact(components.get(1..).unwrap_or_default()) {
        return Place::Artifact;
    }
    if is_variable && PASSING.iter().any(|p| upper.contains(p)) {
        let all = components.last().is_some_and(|c| matches!(*c, "*" | ""));
        return if all {
            Place::Unknown
        } else {
            Place::Temporary
        };
    }
    Place::Unknown
}

fn classify(path: &Path, relative: bool, all: bool, surroundings: &Surroundings) -> Place {
    let text = path.to_string_lossy();
    let text = text.as_ref();
    if text == "/" {
        return Place::Root;
    }
    let root = &surroundings.project_root;
    let has_root = root.as_os_str().len() > 1;
    for dir in TEMPORARY {
        if let Some(rest) = text.strip_prefix(dir)
            && (rest.starts_with('/') || (rest.is_empty() && all))
        {
            // A project may itself lie among temporary files.
            if has_root && root.starts_with(dir) && (path == root || root.starts_with(path)) {
                break;
            }
            // So may a home directory: what is somebody's home is not there to be thrown away.
            let of_home = surroundings.home.as_ref().is_some_and(|home| {
                home.starts_with(dir) && (path.starts_with(home) || home.starts_with(path))
            });
            let of_project = has_root && path.starts_with(root);
            if !of_home && !of_project {
                return Place::Temporary;
            }
        }
    }
    if has_root && path.starts_with(root) {
        let inner = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
        let components: Vec<&str> = inner.split('/').filter(|c| !c.is_empty()).collect();
        return match components.as_slice() {
            [] if all && relative => Place::Project,
            [] => Place::Project,
            [.., ".git"] | [".git", ..] => Place::Repository,
            parts if is_artifact(parts) => Place::Artifact,
            _ => Place::Inside,
        };
    }
    if let Some(home) = &surroundings.home
        && home.as_os_str().len() > 1
    {
        if let Ok(inner) = path.strip_prefix(home) {
            let is_parent = has_root && root.starts_with(path);
            return match in_home(inner, all) {
                Place::Outside if is_parent => Place::Project,
                place => place,
            };
        }
        if home.starts_with(path) {
            return Place::Home;
        }
    }
    if has_root && root.starts_with(path) {
        return Place::Project;
    }
    let is_device = text.starts_with("/dev/")
        && !matches!(
            text,
            "/dev/null"
                | "/dev/stdout"
                | "/dev/stderr"
                | "/dev/tty"
                | "/dev/zero"
                | "/dev/full"
                | "/dev/random"
                | "/dev/urandom"
        )
        && !text.starts_with("/dev/fd/")
        && !text.starts_with("/dev/tcp/")
        && !text.starts_with("/dev/udp/");
    if is_device {
        return Place::Device;
    }
    if text == "/dev/null" || text.starts_with("/dev/") && !is_device {
        return Place::Temporary;
    }
    if let Some(inner) = text
        .strip_prefix("/home/")
        .or_else(|| text.strip_prefix("/Users/"))
    {
        let mut parts = inner.splitn(2, '/');
        parts.next();
        return in_home(Path::new(parts.next().unwrap_or_default()), all);
    }
    if matches!(
        text,
        "/home" | "/Users" | "/mnt" | "/media" | "/Volumes" | "/data" | "/backup" | "/backups"
    ) {
        return Place::System;
    }
    if let Some(inner) = text.strip_prefix("/root") {
        if inner.is_empty() {
            return Place::Home;
        }
        if let Some(inner) = inner.strip_prefix('/') {
            return in_home(Path::new(inner), all);
        }
    }
    if SYSTEM.iter().any(|dir| path.starts_with(dir)) || TEMPORARY.contains(&text) {
        // What package managers and web servers keep can be made again.
        let again = text.starts_with("/var/cache/") || text.starts_with("/var/lib/apt/lists");
        return if again {
            Place::Artifact
        } else {
            Place::System
        };
    }
    let components: Vec<&str> = text.split('/').filter(|c| !c.is_empty()).collect();
    if components.len() > 1 && is_artifact(&components) {
        return Place::Artifact;
    }
    if components.len() == 1 && !relative {
        return Place::System;
    }
    Place::Outside
}

fn in_home(inner: &Path, all: bool) -> Place {
    let text = inner.to_string_lossy();
    let components: Vec<&str> = text.split('/').filter(|c| !c.is_empty()).collect();
    match components.as_slice() {
        [] => Place::Home,
        [
            ".cache" | ".npm" | ".pnpm-store" | ".nuget" | ".gradle" | ".m2" | ".ivy2" | ".yarn"
            | ".bun" | ".deno" | ".pub-cache",
            _,
            ..,
        ] => Place::Artifact,
        [".cargo", "registry" | "git", ..] => Place::Artifact,
        [".cache" | ".npm", ..] if !all => Place::Artifact,
        ["Library", "Caches", ..] | ["Library", "Developer", "Xcode", "DerivedData", ..] => {
            Place::Artifact
        }
        [".Trash", ..] => Place::Personal,
        [first, ..] if first.starts_with('.') => Place::Personal,
        ["Library", ..] => Place::Personal,
        ["Documents" | "Desktop" | "Downloads" | "Pictures" | "Music" | "Movies" | "Videos"] => {
            Place::Home
        }
        parts if parts.len() > 1 && is_artifact(parts) => Place::Artifact,
        ["tmp" | "temp", ..] => Place::Temporary,
        _ => Place::Outside,
    }
}

/// Whether a path, by its components, can be made again.
fn is_artifact(components: &[&str]) -> bool {
    let is_one = |names: &[&str], component: &str| {
        !component.is_empty()
            && component != "*"
            && names.iter().any(|name| {
                let is_pattern = component.contains('*') && !component.starts_with('*');
                glob(name, component)
                    || (is_pattern && component.len() > 2 && glob(component, name))
            })
    };
    if components.iter().any(|c| is_one(ARTIFACTS, c)) {
        return true;
    }
    let among_sources = components
        .iter()
        .any(|c| matches!(*c, "src" | "lib" | "app" | "internal" | "cmd"));
    !among_sources
        && [components.first(), components.last()]
            .into_iter()
            .flatten()
            .any(|c| is_one(WEAK_ARTIFACTS, c))
}
