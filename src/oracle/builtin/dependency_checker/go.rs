//! Go: `go.sum` names every module that `go.mod` requires; in a workspace `go.work.sum` does so too.

use std::collections::BTreeSet;

use super::manifest::{Fault, Manifest, below};

impl Manifest<'_> {
    /// Checks a `go.mod`.
    pub(super) fn go(&self, text: &str) -> Option<Fault> {
        if module(text).is_none() {
            return Some(self.broken("it has no `module` line"));
        }
        let (mut sums, mut own) = (self.text("go.sum"), BTreeSet::new());
        if let Some((work, more)) = self.go_workspace() {
            own = work;
            sums = match (sums, more) {
                (Some(sums), Some(more)) => Some(format!("{sums}\n{more}")),
                (sums, more) => sums.or(more),
            };
        }
        let mut required = required(text);
        required.retain(|(module, _)| !own.contains(*module));
        if required.is_empty() {
            return None;
        }
        let Some(sums) = sums else {
            return Some(self.unlocked(" `go.sum`", "go mod tidy"));
        };
        required.retain(|(module, version)| {
            !sums.lines().any(|line| {
                line.starts_with(&format!("{module} {version}/go.mod "))
                    || line.starts_with(&format!("{module} {version} "))
            })
        });
        let absent = required.iter().map(|(m, v)| (*m, format!("{m} {v}")));
        let what = format!("`go.sum` is out of step with `{}`", self.path);
        self.of_each(what, absent, self.command("go mod tidy"))
    }

    /// Checks a `go.work`: the modules that it uses are there. Each of them is checked as a manifest of its own.
    pub(super) fn go_work(&self, text: &str) -> Option<Fault> {
        let workspace = self.context.workspace();
        let is_there = |dir: &&str| {
            // What lies outside of the project is not seen.
            let dir = self.joined(dir);
            dir.is_none_or(|dir| workspace.exists(&below(&dir, "go.mod")))
        };
        let absent = used(text).filter(|dir| !is_there(dir));
        let what = format!("`{}` uses modules that are not there", self.path);
        let remedy = format!("restore them, or take them out of `{}`", self.path);
        self.of_each(what, absent.map(|dir| (dir, dir)), remedy)
    }

    /// Returns the modules of the workspace that this one is used in, and what `go.work.sum` says.
    fn go_workspace(&self) -> Option<(BTreeSet<String>, Option<String>)> {
        let (dir, text) = self.above("go.work")?;
        let path = below(&dir, "go.work");
        let work = Manifest {
            context: self.context,
            path: &path,
            dir: &dir,
        };
        let dirs: Vec<String> = used(&text).filter_map(|dir| work.joined(dir)).collect();
        if !dirs.iter().any(|dir| dir == self.dir) {
            return None;
        }
        let name =
            |dir: &String| Some(module(&self.context.text(&below(dir, "go.mod"))?)?.to_owned());
        let names = dirs.iter().filter_map(name).collect();
        Some((names, work.text("go.work.sum")))
    }
}

/// Returns the directories that a `go.work` uses.
pub(super) fn used(text: &str) -> impl Iterator<Item = &str> {
    let uses = directives(text)
        .into_iter()
        .filter(|(keyword, _)| *keyword == "use");
    uses.map(|(_, entry)| entry.trim_matches(['"', '`']))
}

fn module(text: &str) -> Option<&str> {
    let mut all = directives(text).into_iter();
    let (_, name) = all.find(|(keyword, _)| *keyword == "module")?;
    Some(name.trim_matches(['"', '`']))
}

/// Returns the modules that must have a sum: those required, or what stands in their place, if that is not a directory.
fn required(text: &str) -> Vec<(&str, &str)> {
    let all = directives(text);
    let words = |entry| str::split_whitespace(entry).collect::<Vec<_>>();
    let replaced: Vec<(Vec<&str>, Vec<&str>)> = all
        .iter()
        .filter(|(keyword, _)| *keyword == "replace")
        .filter_map(|(_, entry)| entry.split_once("=>"))
        .map(|(from, to)| (words(from), words(to)))
        .collect();
    let needed = all.iter().filter(|(keyword, _)| *keyword == "require");
    needed
        .filter_map(|(_, entry)| match words(entry).as_slice() {
            [module, version, ..] => Some((*module, *version)),
            _ => None,
        })
        .filter_map(|(module, version)| {
            let is_it = |from: &[&str]| match from {
                [name] => *name == module,
                [name, of, ..] => *name == module && *of == version,
                [] => false,
            };
            match replaced.iter().find(|(from, _)| is_it(from)) {
                None => Some((module, version)),
                // A directory has no version.
                Some((_, to)) => match to.as_slice() {
                    [module, version] => Some((*module, *version)),
                    _ => None,
                },
            }
        })
        .collect()
}

/// Returns the directives of a `go.mod` or `go.work`, each with its keyword: those of a block, `require (`, have that of the
/// block.
fn directives(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut block = "";
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        match line.split_once(|c: char| c.is_whitespace() || c == '(') {
            _ if line.is_empty() => {}
            _ if line == ")" => block = "",
            Some((keyword, rest)) if block.is_empty() => {
                if line.ends_with('(') && rest.trim_matches(['(', ' ']).is_empty() {
                    block = keyword;
                } else {
                    found.push((keyword, rest.trim()));
                }
            }
            _ if block.is_empty() => {}
            _ => found.push((block, line)),
        }
    }
    found
}
