//! Installer: for each host, which files it reads its hooks from and how they are written there.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::path::PathBuf;

use crate::host::Host;
use crate::host::Moment;

use super::Change;
use super::InstallError;
use super::JsonText;
use super::Needs;
use super::Patience;
use super::Places;
use super::Scope;
use super::Wire;
use super::change::backup_of;
use super::json_hooks;
use super::json_hooks::Shape;
use super::places::command;
use super::places::is_ours;
use super::scripts;
use super::toml_hooks;

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

/// Every host that can be wired, by name.
static INSTALLERS: &[Installer] = &[
    Installer {
        host: "claude-code",
        file: |p, scope| {
            Some(match scope {
                Scope::User => p.home.join(".claude/settings.json"),
                Scope::Project => p.project.join(".claude/settings.json"),
                Scope::Local => p.project.join(".claude/settings.local.json"),
            })
        },
        form: Form::Json(Shape::Groups),
    },
    Installer {
        host: "cline",
        file: |p, scope| match scope {
            Scope::User => Some(p.home.join(".cline/hooks")),
            Scope::Project => Some(p.project.join(".clinerules/hooks")),
            Scope::Local => None,
        },
        form: Form::Executables,
    },
    Installer {
        host: "codex",
        file: |p, scope| match scope {
            Scope::User => Some(p.codex().join("hooks.json")),
            Scope::Project => Some(p.project.join(".codex/hooks.json")),
            Scope::Local => None,
        },
        form: Form::Codex,
    },
    Installer {
        host: "copilot",
        file: copilot_file,
        form: Form::Json(Shape::Copilot),
    },
    Installer {
        host: "cursor",
        file: |p, scope| match scope {
            Scope::User => Some(p.home.join(".cursor/hooks.json")),
            Scope::Project => Some(p.project.join(".cursor/hooks.json")),
            Scope::Local => None,
        },
        form: Form::Json(Shape::Cursor),
    },
    Installer {
        host: "gemini-cli",
        file: |p, scope| match scope {
            Scope::User => Some(p.home.join(".gemini/settings.json")),
            Scope::Project => Some(p.project.join(".gemini/settings.json")),
            Scope::Local => None,
        },
        form: Form::Json(Shape::GroupsMillis),
    },
    Installer {
        host: "git",
        file: |p, scope| (scope == Scope::Project).then(|| p.project.clone()),
        form: Form::Git,
    },
    Installer {
        host: "kimi-cli",
        file: |p, scope| (scope == Scope::User).then(|| p.home.join(".kimi/config.toml")),
        form: Form::Toml,
    },
    Installer {
        host: "kimi-code",
        file: |p, scope| (scope == Scope::User).then(|| p.home.join(".kimi-code/config.toml")),
        form: Form::Toml,
    },
    Installer {
        host: "monoco",
        file: |p, scope| match scope {
            Scope::User => Some(p.ahp_home.join("bin/monoco")),
            Scope::Project => Some(p.project.join(".ahp/bin/monoco")),
            Scope::Local => None,
        },
        form: Form::Shim,
    },
    Installer {
        host: "opencode",
        file: |p, scope| match scope {
            Scope::User => Some(p.config_home.join("opencode/plugin/ahp.js")),
            Scope::Project => Some(p.project.join(".opencode/plugin/ahp.js")),
            Scope::Local => None,
        },
        form: Form::Plugin,
    },
    Installer {
        host: "qwen-code",
        file: |p, scope| match scope {
            Scope::User => Some(p.home.join(".qwen/settings.json")),
            Scope::Project => Some(p.project.join(".qwen/settings.json")),
            Scope::Local => None,
        },
        form: Form::Json(Shape::GroupsMillis),
    },
    // It reads the files of Copilot CLI, so that the two share one: whoever calls is told by the payload.
    Installer {
        host: "vscode",
        file: copilot_file,
        form: Form::Json(Shape::Copilot),
    },
    Installer {
        host: "windsurf",
        file: |p, scope| match scope {
            Scope::User => Some(p.home.join(".codeium/windsurf/hooks.json")),
            Scope::Project => Some(p.project.join(".windsurf/hooks.json")),
            Scope::Local => None,
        },
        form: Form::Json(Shape::Windsurf),
    },
];

fn copilot_file(p: &Places, scope: Scope) -> Option<PathBuf> {
    match scope {
        Scope::User => Some(p.copilot().join("hooks/ahp.json")),
        Scope::Project => Some(p.project.join(".github/hooks/ahp.json")),
        Scope::Local => None,
    }
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
                let text = json_with(&file, host, shape, &wanted, patience)?;
                Ok(written(&file, text, false))
            }
            Form::Codex => {
                let text = json_with(&file, host, Shape::Groups, &wanted, patience)?;
                let config = places.codex().join("config.toml");
                let trusted = trusted(&config, &file, &text, host)?;
                let mut changes = written(&file, text, false);
                changes.extend(written(&config, trusted, false));
                Ok(changes)
            }
            Form::Toml => {
                let before = read(&file)?;
                let mut document = toml_hooks::read(&before)?;
                let there: Vec<String> = toml_hooks::wires(&document)
                    .into_iter()
                    .map(|wire| wire.command)
                    .filter(|c| is_ours(c, host.name))
                    .collect();
                if there.iter().eq(wanted.iter().map(|(_, c)| c)) {
                    return Ok(Vec::new());
                }
                toml_hooks::remove(&mut document, host.name);
                toml_hooks::add(&mut document, host, &wanted, patience)?;
                Ok(written(&file, document.to_string(), false))
            }
            Form::Executables => {
                let mut changes = Vec::new();
                for (moment, command) in &wanted {
                    let path = file.join(moment.name());
                    let before = read(&path)?;
                    if !before.is_empty() && !scripts::is_ours(&before) {
                        return Err(InstallError::InTheWay(path));
                    }
                    changes.extend(written(
                        &path,
                        scripts::executable(host.name, command),
                        true,
                    ));
                }
                Ok(changes)
            }
            Form::Plugin => {
                let before = read(&file)?;
                if !before.is_empty() && !scripts::is_ours(&before) {
                    return Err(InstallError::InTheWay(file));
                }
                Ok(written(
                    &file,
                    scripts::opencode_plugin(places, &moments, patience),
                    false,
                ))
            }
            Form::Git => {
                let dir = git_hooks.ok_or_else(|| InstallError::NoRepository(file.clone()))?;
                let mut changes = Vec::new();
                for (moment, command) in &wanted {
                    let path = dir.join(moment.name());
                    let before = read(&path)?;
                    if !before.is_empty() && !scripts::is_ours(&before) {
                        changes.push(Change::Move {
                            from: path.clone(),
                            to: backup_of(&path),
                        });
                    }
                    changes.extend(written(
                        &path,
                        scripts::git_hook(moment.name(), command),
                        true,
                    ));
                }
                Ok(changes)
            }
            Form::Shim => {
                let before = read(&file)?;
                if !before.is_empty() && !scripts::is_ours(&before) {
                    return Err(InstallError::InTheWay(file));
                }
                Ok(written(&file, scripts::monoco_shim(&places.program), true))
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
            Form::Json(_) | Form::Codex => {
                let before = read(&file)?;
                let mut changes = Vec::new();
                let mut text = json(&file, &before)?;
                json_hooks::remove(&mut text, host.name);
                let value = text.value();
                if text.text() != before && !before.is_empty() {
                    let left = value
                        .as_object()
                        .is_some_and(|map| map.keys().any(|k| k != "version"));
                    let comments = text.text().contains("//") || text.text().contains("/*");
                    if left || comments {
                        changes.extend(written(&file, text.text().to_owned(), false));
                    } else {
                        changes.push(Change::Remove { path: file.clone() });
                    }
                }
                if self.form == Form::Codex {
                    let config = places.codex().join("config.toml");
                    let trusted = trusted(&config, &file, text.text(), host)?;
                    changes.extend(written(&config, trusted, false));
                }
                Ok(changes)
            }
            Form::Toml => {
                let before = read(&file)?;
                let mut document = toml_hooks::read(&before)?;
                toml_hooks::remove(&mut document, host.name);
                let text = document.to_string();
                if text.trim().is_empty() && !before.trim().is_empty() {
                    return Ok(vec![Change::Remove { path: file }]);
                }
                Ok(written(&file, text, false))
            }
            Form::Executables => {
                let ours =
                    |m: &&Moment| read(&file.join(m.name())).is_ok_and(|t| scripts::is_ours(&t));
                Ok(host
                    .moments
                    .iter()
                    .filter(ours)
                    .map(|m| Change::Remove {
                        path: file.join(m.name()),
                    })
                    .collect())
            }
            Form::Plugin | Form::Shim => Ok(if scripts::is_ours(&read(&file)?) {
                vec![Change::Remove { path: file }]
            } else {
                Vec::new()
            }),
            Form::Git => {
                let dir = git_hooks.ok_or_else(|| InstallError::NoRepository(file.clone()))?;
                let mut changes = Vec::new();
                for moment in host.moments {
                    let path = dir.join(moment.name());
                    if !scripts::is_ours(&read(&path)?) {
                        continue;
                    }
                    let before = backup_of(&path);
                    changes.push(if before.exists() && !scripts::is_ours(&read(&before)?) {
                        Change::Move {
                            from: before,
                            to: path,
                        }
                    } else {
                        Change::Remove { path }
                    });
                }
                Ok(changes)
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
            Form::Json(_) | Form::Codex => json_hooks::wires(&json(&file, &read(&file)?)?),
            Form::Toml => toml_hooks::wires(&toml_hooks::read(&read(&file)?)?),
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

    /// Whether Codex trusts the hooks of ours that stand in the settings of a scope.
    pub fn is_trusted(&self, places: &Places, scope: Scope) -> bool {
        if self.form != Form::Codex {
            return true;
        }
        let check = || -> Result<bool, InstallError> {
            let file = self.file(places, scope)?;
            let config = places.codex().join("config.toml");
            let host = self.speaks();
            let text = read(&file)?;
            Ok(host.is_some_and(|host| {
                trusted(&config, &file, &text, host).is_ok_and(|wanted| {
                    read(&config).is_ok_and(|there| there.trim() == wanted.trim())
                })
            }))
        };
        check().unwrap_or(false)
    }
}

/// Returns a settings file's text; none is an empty one.
fn read(path: &Path) -> Result<String, InstallError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(String::new())
        }
        Err(source) => Err(InstallError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

fn json(path: &Path, text: &str) -> Result<JsonText, InstallError> {
    JsonText::read(text).map_err(|fault| InstallError::Json {
        path: path.to_owned(),
        fault,
    })
}

/// Returns a JSON settings file with our wires in it; unchanged where they are there already.
fn json_with(
    file: &Path,
    host: &Host,
    shape: Shape,
    wanted: &[(&Moment, String)],
    patience: Patience,
) -> Result<String, InstallError> {
    let before = read(file)?;
    let mut text = json(file, &before)?;
    let there: Vec<Wire> = json_hooks::wires(&text)
        .into_iter()
        .filter(|wire| is_ours(&wire.command, host.name))
        .collect();
    let same = there.len() == wanted.len()
        && wanted.iter().all(|(moment, command)| {
            there
                .iter()
                .any(|w| w.event == moment.name() && w.command == *command)
        });
    if !same {
        json_hooks::remove(&mut text, host.name);
        json_hooks::add(&mut text, shape, host, wanted, patience)?;
    }
    Ok(text.text().to_owned())
}

/// Returns Codex's configuration with the hashes of our hooks in it.
fn trusted(
    config: &Path,
    hooks_file: &Path,
    hooks: &str,
    host: &Host,
) -> Result<String, InstallError> {
    let mut document = toml_hooks::read(&read(config)?)?;
    let settings = json(hooks_file, hooks)?.value();
    // It names a file by where it really lies.
    let name = hooks_file
        .parent()
        .and_then(|dir| dir.canonicalize().ok())
        .map_or_else(|| hooks_file.to_owned(), |dir| dir.join("hooks.json"));
    toml_hooks::trust_codex(
        &mut document,
        &name.to_string_lossy(),
        &settings,
        |command| is_ours(command, host.name),
    )?;
    Ok(document.to_string())
}

/// Returns the change that gives a file its text; none where it has it.
fn written(path: &Path, text: String, executable: bool) -> Vec<Change> {
    if fs::read_to_string(path).is_ok_and(|before| before == text)
        || (text.trim().is_empty() && !path.exists())
    {
        return Vec::new();
    }
    vec![Change::Write {
        path: path.to_owned(),
        text,
        executable,
    }]
}
