//! Configure: a binding's `config:` checked against what a script declares.

use rhai::Map;

use super::Script;
use crate::config::Node;
use crate::diagnostic::{Code, Diagnostic};
use crate::oracle::ConfigError;
use crate::oracle::rhai::{list, value};

impl Script {
    /// Checks a configuration and completes it with the defaults.
    pub(super) fn configure(&self, node: &Node) -> Result<Map, ConfigError> {
        let mut config = self.defaults.clone();
        let mut faults = Vec::new();
        for (key, given) in node.entries() {
            let name = key.name.as_str();
            let Some(default) = self.defaults.get(name) else {
                let known: Vec<_> = self.defaults.keys().map(|key| &**key).collect();
                let fault =
                    Diagnostic::error(Code::UnknownKey, format!("unknown key `{name}`"), key.span)
                        .did_you_mean(name, known.iter().copied());
                faults.push(if known.is_empty() {
                    fault.help(format!("`{}` takes no configuration", self.name))
                } else {
                    fault.help(format!("expected one of `{}`", known.join("`, `")))
                });
                continue;
            };
            let made = value::from_json(&given.to_json());
            let made = if default.is_float() && made.is_int() {
                value::float(&made)
            } else {
                made
            };
            if !default.is_unit() && value::type_name(default) != value::type_name(&made) {
                faults.push(Diagnostic::error(
                    Code::WrongType,
                    format!(
                        "expected {}, found {}",
                        value::type_name(default),
                        given.type_name()
                    ),
                    given.span,
                ));
                continue;
            }
            if let Some(choices) = self.choices.get(name) {
                let choices = list::texts(choices).unwrap_or_default();
                let chosen = made.to_string();
                if !choices.contains(&chosen) {
                    faults.push(
                        Diagnostic::error(
                            Code::BadValue,
                            format!("`{chosen}` is not one of the values offered"),
                            given.span,
                        )
                        .did_you_mean(&chosen, choices.iter().map(String::as_str))
                        .help(format!("expected one of `{}`", choices.join("`, `"))),
                    );
                    continue;
                }
            }
            config.insert(name.into(), made);
        }
        if faults.is_empty() {
            Ok(config)
        } else {
            Err(ConfigError(faults))
        }
    }
}
