//! Installer: what has to be done to wire a host in a scope, to unwire it, and which wires there are.

mod asks;
mod own_files;
mod requirements;
mod settings;

pub(super) use self::settings::settings_of;

use std::io;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::host::{Decoded, Form, HOSTS, Host, HostEvent, Settings, Shape};
use crate::place::Scope;
use crate::regular_file;
use crate::signal::Signal;
use crate::verdict::{Decision, Verdict};

use super::line::{is_ours, or_say, quoted};
use super::places::command;
use super::{
    Change, InstallError, MAX_SETTINGS, Needs, Patience, Places, Wire, http, plugin, scripts,
};

/// Wires one host.
#[derive(Clone, Copy, Debug)]
pub struct Installer {
    /// The host.
    pub host: &'static Host,
    settings: Settings,
    /// Where a judge is asked that answers over HTTP; none where programs are started.
    http: Option<SocketAddr>,
    /// The key by which no other hooks than the machine's run, where that is wanted.
    only: Option<&'static str>,
    /// Whether everything passes where there is no `ahp`.
    is_optional: bool,
}

impl Installer {
    /// Returns the installer of a host; none where the host has no settings to write.
    pub fn of(host: &'static Host) -> Option<Self> {
        let settings = host.settings?;
        Some(Self {
            host,
            settings,
            http: None,
            only: None,
            is_optional: false,
        })
    }

    /// Has the host post to a judge, wherever it can be told to block what was not answered; at its other events, programs
    /// are started as ever.
    ///
    /// # Errors
    /// The host cannot be told so, or others reach the address.
    pub fn over_http(mut self, judge: SocketAddr) -> Result<Self, InstallError> {
        if self.settings.form != Form::Json(Shape::GroupsClosing) {
            return Err(InstallError::OpenOverHttp(self.host.title));
        }
        if !judge.ip().is_loopback() {
            return Err(InstallError::NotLoopback(judge));
        }
        self.http = Some(judge);
        Ok(self)
    }

    /// Makes the hooks that it installs for the machine the only ones that run.
    ///
    /// # Errors
    /// The host has no setting for it.
    pub fn only(self) -> Result<Self, InstallError> {
        let only = self.settings.machine.and_then(|machine| machine.only);
        let only = only.ok_or(InstallError::NotOnly(self.host.name))?;
        Ok(Self {
            only: Some(only),
            ..self
        })
    }

    /// Has everything pass where there is no `ahp`, which the hooks of a project otherwise refuse.
    ///
    /// # Errors
    /// The host does not start its hooks by a shell.
    pub fn optional(self) -> Result<Self, InstallError> {
        match self.settings.form {
            Form::Json(_) | Form::Codex | Form::Toml => Ok(Self {
                is_optional: true,
                ..self
            }),
            _ => Err(InstallError::NotOptional(self.host.title)),
        }
    }

    /// Returns every installer, by name of its host.
    pub fn all() -> impl Iterator<Item = Self> {
        HOSTS.iter().copied().filter_map(Self::of)
    }

    /// Finds the installer of a host by any of its names.
    pub fn find(host: &str) -> Option<Self> {
        Host::find(host).and_then(Self::of)
    }

    /// Returns the host in whose name it is written: two that read one file share it, in the name of the first.
    fn speaks(&self, scope: Scope) -> &'static Host {
        let own = self.host.file(scope);
        let reads_same = |host: &&'static Host| own.is_some() && host.file(scope) == own;
        HOSTS.iter().copied().find(reads_same).unwrap_or(self.host)
    }

    /// Returns the scope that is taken where none is asked for: the project's, where the host knows that.
    pub fn default_scope(&self) -> Scope {
        match self.host.file(Scope::Project) {
            // A project is shared, and a judge is a person's own.
            Some(_) if self.http.is_none() => Scope::Project,
            _ => Scope::User,
        }
    }

    /// Returns the settings file or directory of a scope.
    ///
    /// # Errors
    /// The host has no such scope, or the home directory is not known.
    pub fn file(&self, places: &Places, scope: Scope) -> Result<PathBuf, InstallError> {
        file_of(self.host, places, scope)
    }

    /// Returns what has to be done to wire the host; nothing where it is wired so already.
    pub fn install(
        &self,
        places: &Places,
        scope: Scope,
        needs: &Needs,
        patience: Patience,
        git_hooks: Option<&Path>,
    ) -> Result<Vec<Change>, InstallError> {
        let file = self.file(places, scope)?;
        let host = self.speaks(scope);
        if self.http.is_some() && !matches!(scope, Scope::User | Scope::Local) {
            return Err(InstallError::SharedHttp(scope));
        }
        if self.is_optional && scope != Scope::Project {
            return Err(InstallError::OptionalElsewhere(scope));
        }
        let host_events = needs.host_events(host);
        let form = self.settings.form(scope);
        let program = match form {
            // A repository's own hooks are shared with nobody.
            Form::Git => quoted(&places.program),
            _ => places.program(scope),
        };
        let mut wanted: Vec<(&'static HostEvent, String)> = host_events
            .iter()
            .map(|host_event| {
                let http = self
                    .http
                    .filter(|_| host_event.gates() && !host_event.by_exit_code);
                let called = match http {
                    Some(judge) => http::address(judge, host, host_event, patience.own(host_event)),
                    None => command(&program, host, host_event, patience),
                };
                (*host_event, called)
            })
            .collect();
        match form {
            Form::Permitted(key) => settings::permit(&file, key),
            Form::Json(_) | Form::Codex | Form::CodexRequirements | Form::Toml => {
                for (host_event, command) in &mut wanted {
                    *command = or_say(command, &program, host_event, self.is_optional);
                }
                self.wire_settings(host, form, places, &file, &wanted, patience)
            }
            Form::Executables => wanted
                .iter()
                .filter_map(|(host_event, command)| {
                    let refusal = refusal(host, host_event);
                    let text =
                        scripts::executable(host.name, command, &program, refusal.as_deref());
                    own_files::put(&file.join(host_event.name()), text, true).transpose()
                })
                .collect(),
            Form::Plugin => {
                let text = scripts::opencode_plugin(&program, &host_events, patience);
                Ok(own_files::put(&file, text, false)?.into_iter().collect())
            }
            Form::Shim => {
                let text = scripts::monoco_shim(&program);
                Ok(own_files::put(&file, text, true)?.into_iter().collect())
            }
            Form::Git => {
                let dir = git_hooks
                    .ok_or_else(|| InstallError::NoRepository(places.roots.project.clone()))?;
                let mut changes = Vec::new();
                for (host_event, command) in &wanted {
                    let text = scripts::git_hook(host_event.name(), command);
                    changes.extend(own_files::put_first(&dir.join(host_event.name()), text)?);
                }
                Ok(changes)
            }
        }
    }

    fn wire_settings(
        &self,
        host: &'static Host,
        form: Form,
        places: &Places,
        file: &Path,
        wanted: &[(&HostEvent, String)],
        patience: Patience,
    ) -> Result<Vec<Change>, InstallError> {
        match form {
            Form::Json(shape) => {
                if shape == Shape::Cursor && wanted.iter().any(|(_, c)| c.contains("://")) {
                    return Err(InstallError::Address(host.title));
                }
                settings::into_json(file, host, shape, self.only, wanted, patience)
            }
            Form::Codex => settings::into_codex(places, file, host, wanted, patience),
            Form::CodexRequirements => {
                let program = &places.program;
                requirements::put_in(file, host, program, self.only, wanted, patience)
            }
            _ => settings::into_toml(file, host, wanted, patience),
        }
    }

    /// Returns what has to be done to take our wires out; nothing where there are none.
    pub fn uninstall(
        &self,
        places: &Places,
        scope: Scope,
        git_hooks: Option<&Path>,
    ) -> Result<Vec<Change>, InstallError> {
        let file = self.file(places, scope)?;
        let host = self.speaks(scope);
        match self.settings.form(scope) {
            Form::Permitted(key) => settings::permit_no_longer(&file, key),
            Form::Json(_) => {
                let machine = self.settings.machine.filter(|_| scope == Scope::System);
                settings::out_of_json(&file, host, machine.and_then(|machine| machine.only))
            }
            Form::Codex => settings::out_of_codex(places, &file, host),
            Form::CodexRequirements => requirements::take_out(&file, host, self.settings.machine),
            Form::Toml => settings::out_of_toml(&file, host),
            Form::Executables => {
                let paths = host.events.iter().map(|m| file.join(m.name()));
                // What cannot be read is not ours.
                let take = |path: PathBuf| own_files::take(path).ok().flatten();
                Ok(paths.filter_map(take).collect())
            }
            Form::Plugin | Form::Shim => Ok(own_files::take(file)?.into_iter().collect()),
            Form::Git => {
                let dir = git_hooks
                    .ok_or_else(|| InstallError::NoRepository(places.roots.project.clone()))?;
                let paths = host.events.iter().map(|m| dir.join(m.name()));
                paths
                    .filter_map(|path| own_files::take_and_restore(path).transpose())
                    .collect()
            }
        }
    }

    /// Returns every hook of ours that stands in the settings of a scope.
    pub fn wires(
        &self,
        places: &Places,
        scope: Scope,
        git_hooks: Option<&Path>,
    ) -> Result<Vec<Wire>, InstallError> {
        let Ok(file) = self.file(places, scope) else {
            return Ok(Vec::new());
        };
        let host = self.speaks(scope);
        let mut wires = match self.settings.form(scope) {
            Form::CodexRequirements => requirements::wires(&file)?,
            Form::Json(shape) => settings::json_wires(&file, shape)?,
            Form::Codex => settings::json_wires(&file, Shape::Groups)?,
            Form::Toml => settings::toml_wires(&file)?,
            Form::Executables => host
                .events
                .iter()
                .filter_map(|m| scripts::wire(m.name(), &read(&file.join(m.name())).ok()?))
                .collect(),
            Form::Plugin => scripts::plugin_wires(&read(&file)?),
            Form::Git => git_hooks.map_or_else(Vec::new, |dir| {
                host.events
                    .iter()
                    .filter_map(|m| scripts::git_wire(m.name(), &read(&dir.join(m.name())).ok()?))
                    .collect()
            }),
            Form::Shim | Form::Permitted(_) => Vec::new(),
        };
        wires.retain(|wire| is_ours(&wire.command, host.name));
        Ok(wires)
    }

    /// Returns the file that has the host load our plugin, which calls `ahp` as its own wires would; none where none does.
    pub fn plugin(&self, places: &Places) -> Option<PathBuf> {
        plugin::switched_on_in(self.host, &places.roots)
    }

    /// Returns the wires of our plugin.
    pub fn plugin_wires() -> Vec<Wire> {
        plugin::wires()
    }

    /// Returns the command line that our plugin has a host run at an event.
    pub fn plugin_command(host_event: &HostEvent) -> String {
        plugin::command(host_event)
    }

    /// Whether the wires run a `monoco` before the real one, in place of a host's hook.
    pub fn is_shim(&self) -> bool {
        self.settings.form == Form::Shim
    }

    /// Whether the shim of a scope is there.
    pub fn has_shim(&self, places: &Places, scope: Scope) -> bool {
        self.is_shim()
            && self
                .file(places, scope)
                .is_ok_and(|file| read(&file).is_ok_and(|text| scripts::is_ours(&text)))
    }

    /// Whether Codex trusts the hooks of ours that stand in the settings of a scope.
    pub fn is_trusted(&self, places: &Places, scope: Scope) -> bool {
        if self.settings.form(scope) != Form::Codex {
            return true;
        }
        let file = self.file(places, scope);
        file.and_then(|file| settings::codex_trusts(places, &file, self.host))
            .unwrap_or(false)
    }
}

/// Returns what a host takes as a refusal, for a machine that has no `ahp`; none at events that gate nothing.
fn refusal(host: &'static Host, host_event: &'static HostEvent) -> Option<String> {
    let trigger = host_event.trigger.filter(|_| host_event.gates())?;
    let missing = "nothing passes here without `ahp`: install it, or put it into the search path";
    let signals = vec![Signal::block("not-installed", missing)];
    let verdict = Verdict {
        decision: Decision::of(&signals),
        signals,
        ..Verdict::none(trigger)
    };
    let decoded = Decoded {
        host,
        event: host_event.name().to_owned(),
        host_event: Some(host_event),
        session_id: None,
        events: Vec::new(),
        notes: Vec::new(),
    };
    Some(host.answer(&decoded, vec![verdict], None).stdout)
}

/// Returns a host's settings file or directory of a scope.
fn file_of(host: &'static Host, places: &Places, scope: Scope) -> Result<PathBuf, InstallError> {
    let place = host.file(scope).ok_or_else(|| InstallError::NoScope {
        host: host.name,
        scope,
        other: Scope::ALL.into_iter().find(|s| host.file(*s).is_some()),
    })?;
    places.roots.path(place).ok_or(InstallError::NoHome)
}

/// Returns a settings file's text; none is an empty one.
fn read(path: &Path) -> Result<String, InstallError> {
    String::from_utf8(bytes(path)?).map_err(|error| unreadable(path, io::Error::other(error)))
}

/// Returns what a file holds; none is an empty one.
fn bytes(path: &Path) -> Result<Vec<u8>, InstallError> {
    match regular_file::read_linked(path, MAX_SETTINGS) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        read => read.map_err(|error| unreadable(path, error)),
    }
}

fn unreadable(path: &Path, source: io::Error) -> InstallError {
    InstallError::Read {
        path: path.to_owned(),
        source,
    }
}
