//! Installer: what has to be done to wire a host in a scope, to unwire it, and which wires there are.

mod hosts;
mod own_files;
mod settings;

use std::fs;
use std::io;
use std::io::ErrorKind;
use std::path::Path;
use std::path::PathBuf;

use crate::host::Host;
use crate::host::Moment;

use self::hosts::INSTALLERS;
use super::Change;
use super::InstallError;
use super::Needs;
use super::Patience;
use super::Places;
use super::Scope;
use super::Wire;
use super::json_hooks::Shape;
use super::places::command;
use super::places::is_ours;
use super::scripts;

/// How a host is wired.
#[derive(Debug)]
pub struct Installer {
    /// The host's name.
    pub host: &'static str,
    /// Where its settings lie, by scope; for hosts that run executables, the directory.
    file: fn(&Places, Scope) -> Option<PathBuf>,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json(Shape),
    /// JSON whose hooks have to be trusted by hash in a file beside it.
    Codex,
    Toml,
    Executables,
    Plugin,
    Git,
    Shim,
}

impl Installer {
    /// Returns every installer, by name of its host.
    pub fn all() -> &'static [Self] {
        INSTALLERS
    }

    /// Finds the installer of a host.
    pub fn find(host: &str) -> Option<&'static Self> {
        INSTALLERS.iter().find(|i| i.host == host)
    }

    /// Returns the host in whose name it is written; two that read one file share it.
    fn speaks(&self) -> Option<&'static Host> {
        Host::find(if self.host == "vscode" {
            "copilot"
        } else {
            self.host
        })
    }

    /// Returns the scope that is taken where none is asked for: the project's, where the host knows that.
    pub fn default_scope(&self, places: &Places) -> Scope {
        [Scope::Project, Scope::User]
            .into_iter()
            .find(|scope| (self.file)(places, *scope).is_some())
            .unwrap_or(Scope::User)
    }

    /// Returns the settings file or directory of a scope.
    pub fn file(&self, places: &Places, scope: Scope) -> Result<PathBuf, InstallError> {
        (self.file)(places, scope).ok_or_else(|| InstallError::NoScope {
            host: self.host,
            scope,
            other: Scope::ALL
                .into_iter()
                .find(|other| (self.file)(places, *other).is_some()),
        })
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
        let Some(host) = self.speaks() else {
            return Ok(Vec::new());
        };
        let moments = needs.moments(host);
        let wanted: Vec<(&Moment, String)> = moments
            .iter()
            .map(|moment| (*moment, command(places, host, moment, patience)))
            .collect();
        match self.form {
            Form::Json(shape) => {
                if self.host == "cursor" && wanted.iter().any(|(_, c)| c.contains("://")) {
                    return Err(InstallError::Address("Cursor"));
                }
                settings::into_json(&file, host, shape, &wanted, patience)
            }
            Form::Codex => settings::into_codex(places, &file, host, &wanted, patience),
            Form::Toml => settings::into_toml(&file, host, &wanted, patience),
            Form::Executables => wanted
                .iter()
                .filter_map(|(moment, command)| {
                    let text = scripts::executable(host.name, command);
                    own_files::put(&file.join(moment.name()), text, true).transpose()
                })
                .collect(),
            Form::Plugin => {
                let text = scripts::opencode_plugin(places, &moments, patience);
                Ok(own_files::put(&file, text, false)?.into_iter().collect())
            }
            Form::Shim => {
                let text = scripts::monoco_shim(&places.program);
                Ok(own_files::put(&file, text, true)?.into_iter().collect())
            }
            Form::Git => {
                let dir = git_hooks.ok_or_else(|| InstallError::NoRepository(file.clone()))?;
                let mut changes = Vec::new();
                for (moment, command) in &wanted {
                    let text = scripts::git_hook(moment.name(), command);
                    changes.extend(own_files::put_first(&dir.join(moment.name()), text)?);
                }
                Ok(changes)
            }
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
        let Some(host) = self.speaks() else {
            return Ok(Vec::new());
        };
        match self.form {
            Form::Json(_) => settings::out_of_json(&file, host),
            Form::Codex => settings::out_of_codex(places, &file, host),
            Form::Toml => settings::out_of_toml(&file, host),
            Form::Executables => {
                let paths = host.moments.iter().map(|m| file.join(m.name()));
                // What cannot be read is not ours.
                let take = |path: PathBuf| own_files::take(path).ok().flatten();
                Ok(paths.filter_map(take).collect())
            }
            Form::Plugin | Form::Shim => Ok(own_files::take(file)?.into_iter().collect()),
            Form::Git => {
                let dir = git_hooks.ok_or_else(|| InstallError::NoRepository(file.clone()))?;
                let paths = host.moments.iter().map(|m| dir.join(m.name()));
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
        let Some(file) = (self.file)(places, scope) else {
            return Ok(Vec::new());
        };
        let Some(host) = self.speaks() else {
            return Ok(Vec::new());
        };
        let mut wires = match self.form {
            Form::Json(shape) => settings::json_wires(&file, shape)?,
            Form::Codex => settings::json_wires(&file, Shape::Groups)?,
            Form::Toml => settings::toml_wires(&file)?,
            Form::Executables => host
                .moments
                .iter()
                .filter_map(|m| scripts::wire(m.name(), &read(&file.join(m.name())).ok()?))
                .collect(),
            Form::Plugin => scripts::plugin_wires(&read(&file)?),
            Form::Git => git_hooks.map_or_else(Vec::new, |dir| {
                host.moments
                    .iter()
                    .filter_map(|m| scripts::git_wire(m.name(), &read(&dir.join(m.name())).ok()?))
                    .collect()
            }),
            Form::Shim => Vec::new(),
        };
        wires.retain(|wire| is_ours(&wire.command, host.name));
        Ok(wires)
    }

    /// Whether the wires run a `monoco` before the real one, in place of a host's hook.
    pub fn is_shim(&self) -> bool {
        self.form == Form::Shim
    }

    /// Whether the shim of a scope is there.
    pub fn has_shim(&self, places: &Places, scope: Scope) -> bool {
        self.is_shim()
            && (self.file)(places, scope)
                .is_some_and(|file| read(&file).is_ok_and(|text| scripts::is_ours(&text)))
    }

    /// Returns the settings file that switches off every hook of the host: the narrowest that speaks of it decides.
    pub fn switched_off(&self, places: &Places) -> Result<Option<PathBuf>, InstallError> {
        if !matches!(self.form, Form::Json(_)) {
            return Ok(None);
        }
        let files = [Scope::Local, Scope::Project, Scope::User]
            .into_iter()
            .filter_map(|scope| (self.file)(places, scope));
        for file in files {
            if let Some(is_off) = settings::switches_off(&file)? {
                return Ok(is_off.then_some(file));
            }
        }
        Ok(None)
    }

    /// Whether Codex trusts the hooks of ours that stand in the settings of a scope.
    pub fn is_trusted(&self, places: &Places, scope: Scope) -> bool {
        if self.form != Form::Codex {
            return true;
        }
        let (Ok(file), Some(host)) = (self.file(places, scope), self.speaks()) else {
            return false;
        };
        settings::codex_trusts(places, &file, host).unwrap_or(false)
    }
}

/// Returns a settings file's text; none is an empty one.
fn read(path: &Path) -> Result<String, InstallError> {
    String::from_utf8(bytes(path)?).map_err(|error| unreadable(path, io::Error::other(error)))
}

/// Returns what a file holds; none is an empty one.
fn bytes(path: &Path) -> Result<Vec<u8>, InstallError> {
    match fs::read(path) {
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
