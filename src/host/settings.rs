//! Settings: where a host keeps its hooks and in which form, what else decides over them, and what switches them off.

use crate::place::{Place, Scope};

/// How and where `ahp install` wires a host.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How its hooks are written.
    pub form: Form,
    /// The file of each scope that the host knows; for [`Form::Executables`] and [`Form::Git`] the directory.
    pub files: &'static [(Scope, Place)],
    /// The settings of the machine, where its administrator can wire it for everybody.
    pub machine: Option<&'static MachineSettings>,
}

impl Settings {
    /// Returns how hooks are written in a scope.
    pub fn form(self, scope: Scope) -> Form {
        match self.machine {
            Some(machine) if scope == Scope::System => machine.form,
            _ => self.form,
        }
    }

    /// Returns the file or directory of a scope; none where the host has no such scope.
    pub(super) fn file(self, scope: Scope) -> Option<&'static Place> {
        let mut files = self.files();
        files.find_map(|(of, place)| (of == scope).then_some(place))
    }

    /// Returns the file or directory of each scope that the host knows.
    pub(super) fn files(self) -> impl Iterator<Item = (Scope, &'static Place)> {
        let files = self.files.iter().map(|(scope, place)| (*scope, place));
        let machine = self.machine.map(|machine| (Scope::System, &machine.file));
        files.chain(machine)
    }
}

/// How `ahp install --system` wires a host.
#[derive(Clone, Copy, Debug)]
pub struct MachineSettings {
    /// How the hooks are written there.
    pub form: Form,
    /// The file.
    pub file: Place,
    /// The key of it by which no other hooks than those of this file run.
    pub only: Option<&'static str>,
}

/// How a host is given its hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Listed in a JSON file, comments allowed.
    Json(Shape),
    /// Listed in a JSON file in [`Shape::Groups`], and trusted by hash in a TOML file beside it.
    Codex,
    /// Listed as `[[hooks.EVENT]]` tables of Codex's requirements, which nobody below the administrator can switch off.
    CodexRequirements,
    /// Not listed: a key of a JSON file that is true keeps the hooks of every person's own settings on.
    Permitted(&'static str),
    /// Listed as `[[hooks]]` tables of a TOML file.
    Toml,
    /// One executable for each event, in a directory.
    Executables,
    /// A plugin in the host's own language.
    Plugin,
    /// The hooks of a git repository.
    Git,
    /// A program of the host's name that stands before it in the search path.
    Shim,
}

/// How a JSON file lists one hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `{"hooks": [{"type": "command", "command": …, "timeout": seconds}]}`.
    Groups,
    /// The same with `"onFailure": "block"` at every event that gates: a hook that is missing, fails or is late then stops
    /// what it was asked about.
    GroupsClosing,
    /// The same with milliseconds.
    GroupsMillis,
    /// `{"type": "command", "bash": …, "timeoutSec": seconds}`, in a file with a version.
    Copilot,
    /// `{"command": …, "timeout": seconds}`, in a file with a version, with `"failClosed": true` at every event that gates.
    Cursor,
    /// `{"command": …}`.
    Windsurf,
}

/// The name of our plugin; behind it a host writes `@` and the marketplace that it came from.
pub(crate) const OUR_PLUGIN: &str = "ahp";

/// The commands that switch plugins off or take them away, in every host that takes plugins; `plugins` is the same word.
pub(crate) const PLUGIN_REMOVALS: &[&str] = &[
    "plugin disable",
    "plugin marketplace remove",
    "plugin marketplace rm",
    "plugin remove",
    "plugin rm",
    "plugin uninstall",
];

/// What makes a host run without its hooks, or with code in it that can pass them by.
#[derive(Clone, Copy, Debug)]
pub struct Switches {
    /// Words of its command line, in lower case: each is looked for in the whole of it.
    pub flags: &'static [&'static str],
    /// Options with settings, or a file of such, as their value.
    pub settings: &'static [&'static str],
    /// Its own commands that bring code in, such as `plugin install`; `plugins` is the same word.
    pub commands: &'static [&'static str],
    /// Environment variables.
    pub variables: &'static [&'static str],
    /// Where code lies that the host runs in itself and that can skip every hook of its settings.
    pub code: &'static [Place],
    /// Files of words for an agent that carry hooks where their front matter has such.
    pub front_matter: &'static [Place],
    /// Whether it takes plugins that bring hooks, and says in its settings which are on: ours may be one.
    pub plugins: bool,
    /// Files that anybody may write, each as the end of a path, with the words in them that matter, in lower case.
    pub words: &'static [(&'static [&'static str], &'static [&'static str])],
    /// Files that anybody may write, each as the end of a path, with commands that it starts by itself.
    pub starts: &'static [&'static str],
}

impl Switches {
    /// None that is known.
    pub(super) const NONE: Self = Self {
        flags: &[],
        settings: &[],
        commands: &[],
        variables: &[],
        code: &[],
        front_matter: &[],
        plugins: false,
        words: &[],
        starts: &[],
    };
}
