//! Recipes: what `make` would run of a makefile that the command line itself gives.

use super::walk::{Input, Walker};
use super::{Invocation, Word};

/// The names under which `make` looks for its makefile.
const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];

impl Walker<'_> {
    /// Runs the recipes of a makefile from the input, or one that this line has written.
    pub(super) fn run_make(&mut self, invocation: &Invocation, input: &Input) {
        let text = match invocation.value_of(&["-f", "--file", "--makefile"]) {
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
            self.inside("make", |walker| {
                walker.run_text(&commands, &Input::default())
            });
        }
    }
}

/// Returns the commands of a makefile, those of `$(shell …)` too.
fn recipes(makefile: &str) -> String {
    let mut commands = Vec::new();
    for line in makefile.replace("\\\n", " ").lines() {
        let recipe = line.strip_prefix('\t').or_else(|| {
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
