//! Go: `go.sum` names every module that `go.mod` requires.

use super::manifest::{Fault, Manifest};
use crate::oracle::wording::listed;

impl Manifest<'_> {
    pub(super) fn go(&self, text: &str) -> Vec<Fault> {
        if !text
            .lines()
            .any(|line| line.trim_start().starts_with("module "))
        {
            return vec![self.broken("it has no `module` line")];
        }
        let mut required = Vec::new();
        let mut block = "";
        let mut replaced = Vec::new();
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or_default().trim();
            // A block opens with its keyword: `require (`.
            let (keyword, entry) = match line.split_once(char::is_whitespace) {
                Some((keyword, "(")) => {
                    block = keyword;
                    continue;
                }
                _ if line == ")" => {
                    block = "";
                    continue;
                }
                Some((keyword, entry)) if block.is_empty() => (keyword, entry),
                _ => (block, line),
            };
            let mut words = entry.split_whitespace();
            match (keyword, words.next(), words.next()) {
                ("require", Some(module), Some(version)) => required.push((module, version)),
                ("replace", Some(module), _) => replaced.push(module),
                _ => {}
            }
        }
        required.retain(|(module, _)| !replaced.contains(module));
        if required.is_empty() {
            return Vec::new();
        }
        let Some(sums) = self.text("go.sum") else {
            return vec![self.fault(
                format!("the lock file `go.sum` of `{}` is missing", self.path),
                self.command("go mod tidy"),
            )];
        };
        let absent: Vec<String> = required
            .iter()
            .filter(|(module, version)| {
                !sums.lines().any(|line| {
                    line.starts_with(&format!("{module} {version}/go.mod "))
                        || line.starts_with(&format!("{module} {version} "))
                })
            })
            .map(|(module, version)| format!("{module} {version}"))
            .collect();
        if absent.is_empty() {
            Vec::new()
        } else {
            vec![self.fault(
                format!(
                    "`go.sum` is out of step with `{}`: {}",
                    self.path,
                    listed(&absent, 10)
                ),
                self.command("go mod tidy"),
            )]
        }
    }
}
