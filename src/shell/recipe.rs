//! Recipes: what `make` and `just` would run of a file that the command line itself gives.

use super::walk::{Input, Walker};
use super::{Invocation, Word};
use crate::words::words;

/// The names under which they look for their file.
const MAKEFILES: &[&str] = words!("makefiles");

impl Walker<'_> {
    /// Runs the recipes of a makefile from the input, or one that this line has written.
    pub(super) fn run_make(&mut self, invocation: &Invocation, input: &Input) {
        let text = match invocation.value_of(&["-f", "--file", "--makefile", "--justfile"]) {
            Some(file) if matches!(file.text.as_str(), "-" | "/dev/stdin") => {
                input.stdin.text().map(str::to_owned)
            }
            Some(file) => self.written_text(&file),
            None => MAKEFILES
                .iter()
                .find_map(|name| self.written_text(&Word::plain(*name))),
        };
        let given = invocation.value_of(&["--eval"]).map(|w| w.text);
        for text in text.into_iter().chain(given) {
            let commands = recipes(&text);
            self.inside(&invocation.program, |walker| {
                walker.run_text(&commands, &Input::default())
            });
        }
    }

    /// Runs the scripts of a package that was written on this line.
    pub(super) fn run_scripts(&mut self, program: &str) {
        let package = self.written_text(&Word::plain("package.json"));
        if let Some(commands) = package.as_deref().and_then(scripts) {
            self.inside(program, |walker| {
                walker.run_text(&commands, &Input::default())
            });
        }
    }
}

/// Returns the commands of the scripts of a `package.json`.
fn scripts(package: &str) -> Option<String> {
    let package: serde_json::Value = serde_json::from_str(package).ok()?;
    let scripts = package.get("scripts")?.as_object()?.values();
    let commands: Vec<&str> = scripts.filter_map(serde_json::Value::as_str).collect();
    Some(commands.join("\n"))
}

/// Returns the commands of a makefile, those of `$(shell …)` too.
fn recipes(makefile: &str) -> String {
    let mut commands = Vec::new();
    for line in makefile.replace("\\\n", " ").lines() {
        let recipe = line.strip_prefix(['\t', ' ']).or_else(|| {
            let (rule, recipe) = line.split_once(';')?;
            rule.contains(':').then_some(recipe)
        });
        if let Some(recipe) = recipe {
            let command = recipe.trim_start_matches(['@', '-', '+', ' ', '\t']);
            commands.push(command.replace("$$", "$"));
        }
        let called = line
            .split("$(shell ")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'))
            .map(|(command, _)| command.to_owned());
        commands.extend(called);
    }
    commands.join("\n")
}

#[cfg(test)]
mod tests {
    use super::recipes;

    #[test]
    fn commands_of_rules_are_found() {
        assert_eq!(
            recipes("X = $(shell id -u)\nall: a b ; @one\n\t-two $$x\n# no;\n"),
            "id -u\none\ntwo $x"
        );
    }
}
