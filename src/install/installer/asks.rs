//! Whether a host asks `ahp` at all: what switches its hooks off, and what a change of its settings has undone.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::event::Trigger;
use crate::host::Form;
use crate::install::{InstallError, Installer, Needs, Places, Wire};
use crate::place::Scope;

use super::{requirements, settings};

impl Installer {
    /// Returns the setting by which the host runs no hook of ours, and its file: of those that are everybody's to write the
    /// narrowest decides, and none of them reaches the hooks of the machine.
    pub fn switched_off(
        &self,
        places: &Places,
    ) -> Result<Option<(&'static str, PathBuf)>, InstallError> {
        const ALL: &str = "disableAllHooks";
        if let Ok(file) = self.file(places, Scope::System) {
            let form = self.settings.form(Scope::System);
            let says = |key| match form {
                Form::CodexRequirements => requirements::says(&file, key),
                _ => settings::says(&file, key),
            };
            let is_wired = !self.wires(places, Scope::System, None)?.is_empty();
            if let Form::Permitted(key) = form
                && says(key)? == Some(false)
            {
                return Ok(Some((key, file)));
            }
            if let Some(only) = self.settings.machine.and_then(|machine| machine.only)
                && !is_wired
                && says(only)? == Some(true)
            {
                return Ok(Some((only, file)));
            }
            match says(ALL)? {
                Some(true) => return Ok(Some((ALL, file))),
                Some(false) => return Ok(None),
                None if is_wired => return Ok(None),
                None => {}
            }
        }
        if !matches!(self.settings.form, Form::Json(_)) {
            return Ok(None);
        }
        let files = [Scope::Local, Scope::Project, Scope::User]
            .into_iter()
            .filter_map(|scope| self.file(places, scope).ok());
        for file in files {
            if let Some(is_off) = settings::says(&file, ALL)? {
                return Ok(is_off.then_some((ALL, file)));
            }
        }
        Ok(None)
    }

    /// Says why the host, after a change of its settings, would no longer ask this program, or the judge that answers over HTTP
    /// here, before a tool, at its next change of settings, or where a gate stands that has to be told; none where it would.
    pub fn is_undone(
        &self,
        places: &Places,
        needs: &Needs,
        judge: Option<SocketAddr>,
    ) -> Option<String> {
        match self.switched_off(places) {
            Ok(None) => {}
            Ok(Some((key, file))) => {
                return Some(format!("`{key}` stands in {}: take it out", file.display()));
            }
            Err(error) => return Some(error.to_string()),
        }
        if self.plugin(places).is_some() {
            return None;
        }
        let wires = |scope| self.wires(places, scope, None).unwrap_or_default();
        let wires: Vec<Wire> = Scope::ALL.into_iter().flat_map(wires).collect();
        let weakness = |wire: &Wire| {
            let weakness = wire.weakness(self.host);
            weakness.or_else(|| wire.stranger(places, judge))
        };
        let wanted = needs.host_events(self.host).into_iter();
        let mut wanted = wanted.filter(|event| event.is_settings || event.may_refuse());
        wanted.find_map(|event| {
            let at = match event.trigger {
                Some(Trigger::PreToolUse) if !event.is_permission && !event.is_settings => {
                    "before a tool".to_owned()
                }
                _ => format!("at `{}`", event.name()),
            };
            let mut why = format!("no settings file wires `ahp` {at}, and the policy judges there");
            let own = |wire: &&Wire| event.names.contains(&wire.event.as_str());
            for wire in wires.iter().filter(own) {
                why = format!("of the hook {at}, {}", weakness(wire)?);
            }
            Some(format!(
                "{why}; run `ahp install {}`, then make the change again",
                self.host.name
            ))
        })
    }
}
