//! Arguments: a plan as the command line of `bwrap`, and as the options of a container.

use std::path::Path;

use super::arrange::{Access, Mount};
use super::{INSIDE, Plan};
use crate::shell_word::quoted_where_needed;

/// Folders of `/run` that say how names are resolved and where drivers lie.
const KEPT_OF_RUN: &[&str] = &[
    "/run/current-system",
    "/run/opengl-driver",
    "/run/resolvconf",
    "/run/systemd/resolve",
];

/// What root could change of the kernel in a `/proc` of its own.
const KERNEL: &[&str] = &["/proc/bus", "/proc/irq", "/proc/sys"];

/// Where the private folder for sockets of a session lies inside.
const RUNTIME: &str = "/tmp/.runtime";

/// What a shield needs on the disk, beside what is planned; each path is one outside.
#[derive(Clone, Debug)]
pub struct Inside<'a> {
    /// What is seen at [`INSIDE`]: the marker and the judge's socket.
    pub shown: &'a Path,
    /// An empty file.
    pub empty: &'a Path,
    /// A file with the lines of [`Plan::exclude`].
    pub exclude: &'a Path,
    /// What is seen at `/tmp`.
    pub tmp: &'a Path,
    /// What is seen at `/var/tmp`.
    pub var_tmp: &'a Path,
    /// What only this program sees and writes, below [`super::SEEN_IN`], with where it sees it.
    pub folder: Option<(&'a Path, &'a Path)>,
}

impl Plan {
    /// Returns the arguments of `bwrap`, up to what it is to start.
    ///
    /// What was only to be hidden and is not there any more is left out.
    pub fn arguments(&self, inside: &Inside<'_>) -> Vec<String> {
        let mut words = Words::default();
        words.add(&["--ro-bind", "/", "/", "--dev", "/dev"]);
        words.add(&[
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
        ]);
        if !self.network {
            words.add(&["--unshare-net"]);
        }
        words.add(&["--proc", "/proc", "--cap-drop", "ALL", "--die-with-parent"]);
        if self.is_root {
            for path in KERNEL {
                words.add(&["--ro-bind-try", path, path]);
            }
        }
        words.add(&["--tmpfs", "/run"]);
        for path in KEPT_OF_RUN {
            words.add(&["--ro-bind-try", path, path]);
        }
        words.on("--ro-bind", inside.shown, Path::new(INSIDE));
        if let Some((folder, seen)) = inside.folder {
            words.on("--bind", folder, seen);
        }
        words.on("--bind", inside.tmp, Path::new("/tmp"));
        words.on("--bind", inside.var_tmp, Path::new("/var/tmp"));
        for Mount { path, access } in &self.mounts {
            match access {
                Access::Writable | Access::Way => words.on("--bind", path, path),
                Access::Held => words.on("--ro-bind", path, path),
                Access::Private(own) => words.on_if_there("--bind", own, path),
                Access::Seen => words.on("--ro-bind-try", path, path),
                Access::Device => words.on("--dev-bind-try", path, path),
                // Left out now, it would be open if it came back.
                Access::Covered | Access::Emptied => words.on("--ro-bind", inside.empty, path),
                // A device on a mount that has none cannot be opened.
                Access::HiddenFile => words.on_if_there("--ro-bind", Path::new("/dev/null"), path),
                Access::HiddenFolder if path.exists() => {
                    let path = text(path);
                    words.add(&["--tmpfs", &path, "--remount-ro", &path]);
                }
                Access::HiddenFolder => {}
            }
        }
        if let Some((path, _)) = &self.exclude {
            words.on_if_there("--ro-bind", inside.exclude, path);
        }
        words.add(&["--remount-ro", "/run"]);
        for name in &self.unset {
            words.add(&["--unsetenv", name]);
        }
        words.add(&["--setenv", "XDG_RUNTIME_DIR", RUNTIME]);
        words.0
    }

    /// Returns the options by which a container is started that holds the same places: each folder on the way is mounted
    /// too, for what holds a mount can be renamed otherwise.
    pub fn for_container(&self) -> Vec<String> {
        let option = |Mount { path, access }: &Mount| {
            let path = quoted_where_needed(&text(path));
            match access {
                Access::Way => Some(format!("-v {path}:{path}")),
                Access::Held => Some(format!("-v {path}:{path}:ro")),
                _ => None,
            }
        };
        self.mounts.iter().filter_map(option).collect()
    }
}

/// Makes the command that starts `bwrap`: a shell opens the filter of system calls as file 9, and keeps the keys of the
/// terminal from ending what stands between the person and the agent.
pub fn start_script(filter: &Path, bubblewrap: &Path, arguments: Vec<String>) -> Vec<String> {
    let script = "trap '' INT QUIT; exec 9<\"$0\"; exec \"$@\"";
    let mut argv = vec![
        "/bin/sh".to_owned(),
        "-c".to_owned(),
        script.to_owned(),
        text(filter),
        text(bubblewrap),
        "--seccomp".to_owned(),
        "9".to_owned(),
    ];
    argv.extend(arguments);
    argv
}

/// The words of a command line.
#[derive(Debug, Default)]
struct Words(Vec<String>);

impl Words {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(|word| (*word).to_owned()));
    }

    fn on(&mut self, option: &str, what: &Path, at: &Path) {
        self.add(&[option, &text(what), &text(at)]);
    }

    fn on_if_there(&mut self, option: &str, what: &Path, at: &Path) {
        if at.exists() {
            self.on(option, what, at);
        }
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
