//! Programs that copy, move or link their operands to the last one.

use super::{Collector, Effect};
use crate::program::{self, Fact};
use crate::shell::Word;
use crate::shell::destination::is_here;
use crate::shell::invocation::base_name;

/// Returns the path of a target on another machine, `me@localhost:a`, where that is this one; it begins at home there.
fn on_this_machine(target: &Word) -> Option<Word> {
    let (host, path) = target.text.split_once(':')?;
    let is_host = !host.is_empty() && !host.contains('/') && is_here(host);
    let is_absolute = path.starts_with(['/', '~']);
    let path = if is_absolute {
        path.to_owned()
    } else {
        format!("~/{path}")
    };
    is_host.then(|| target.with_text(path))
}

impl Collector<'_> {
    /// Returns the directory that an option names, alone or at the end of a cluster (`-rt DIR`); of `rsync`, `-t` is another.
    fn target_directory(&self, program: &str) -> Option<Word> {
        let known = program::find(program);
        let told = |mark: &str| {
            let mut marks = known.words(Fact::Brings);
            marks.find_map(|word| word.strip_prefix(mark)?.strip_prefix('='))
        };
        told("into").filter(|into| into.split(',').any(|option| option == "-t"))?;
        let values = told("values").unwrap_or_default();
        let takes = |letter: char| {
            let mut listed = values
                .split(',')
                .filter_map(|option| option.strip_prefix('-'));
            listed.any(|option| option.chars().eq([letter]))
        };
        let long = self.invocation.value_of(&["--target-directory"]);
        long.or_else(|| self.invocation.value_of_letter('t', takes))
    }

    pub(super) fn copies_or_moves(&mut self, program: &str, operands: &[&Word]) {
        let invocation = self.invocation;
        if invocation.only_tries() {
            return;
        }
        let target = self.target_directory(program);
        let moves =
            program::find(program).is(Fact::Moves) || invocation.has_long("--remove-source-files");
        let (sources, last) = match (&target, operands.split_last()) {
            (Some(dir), _) => {
                let sources: Vec<&Word> = operands
                    .iter()
                    .copied()
                    .filter(|w| w.text != dir.text)
                    .collect();
                (sources, Some(dir.clone()))
            }
            (None, Some((last, sources))) if !sources.is_empty() => {
                (sources.to_vec(), Some((*last).clone()))
            }
            _ => (operands.to_vec(), None),
        };
        let is_remote = matches!(program, "scp" | "rsync");
        let here = |last: &Word| is_remote.then(|| on_this_machine(last)).flatten();
        let last = last.map(|last| here(&last).unwrap_or(last));
        if let Some(last) = &last
            && !(is_remote && last.text.contains(':'))
        {
            self.add(last, Effect::Write, program == "rsync");
            let mut options = invocation.before_dashes();
            if program == "rsync" && options.any(|w| w.text.starts_with("--del")) {
                self.add(last, Effect::Delete, true);
            }
            // Into a directory, each keeps its name there.
            for source in &sources {
                let inside = Word {
                    text: format!(
                        "{}/{}",
                        last.text.trim_end_matches('/'),
                        base_name(&source.text)
                    ),
                    dynamic: last.dynamic || source.dynamic,
                    glob: base_name(&source.text).contains(['*', '?', '[']),
                    ..Word::default()
                };
                self.add(&inside, Effect::Write, true);
            }
        } else if program == "ln" && last.is_none() {
            for word in operands {
                self.add_text(base_name(&word.text), Effect::Write, false);
            }
        }
        if moves {
            for source in sources {
                self.add(source, Effect::Move, true);
            }
        }
    }
}
