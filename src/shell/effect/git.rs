//! What git does to files.

use super::{Collector, Effect};
use crate::shell::Word;

impl Collector<'_> {
    pub(super) fn git(&mut self) {
        let invocation = self.invocation;
        let mut words = invocation.arguments.iter().peekable();
        let mut dir = None;
        let subcommand = loop {
            let Some(word) = words.next() else {
                return;
            };
            match word.text.as_str() {
                "-C" => dir = words.next().map(|w| w.text.clone()),
                "-c" | "--git-dir" | "--work-tree" | "--namespace" => {
                    words.next();
                }
                text if text.starts_with('-') => {}
                text => break text,
            }
        };
        let rest: Vec<&Word> = words.collect();
        let base = dir.as_deref().unwrap_or(".");
        let at = |text: &str| {
            if text.starts_with(['/', '~']) || base == "." {
                text.to_owned()
            } else {
                format!("{base}/{text}")
            }
        };
        let has = |flag: &str| rest.iter().any(|w| w.text == flag);
        let operands: Vec<&&Word> = rest.iter().filter(|w| !w.text.starts_with('-')).collect();
        let after_dashes: Vec<&&Word> =
            rest.iter().skip_while(|w| w.text != "--").skip(1).collect();
        match subcommand {
            "checkout" | "restore" | "reset" if !after_dashes.is_empty() => {
                // What is only taken out of the index stays as it is.
                let is_filled = subcommand != "reset";
                for word in after_dashes {
                    self.add_text(&at(&word.text), Effect::Restore, is_filled);
                }
            }
            "restore" => {
                let staged_only = has("--staged") && !has("--worktree");
                if !staged_only {
                    for word in operands {
                        self.add_text(&at(&word.text), Effect::Restore, true);
                    }
                }
            }
            "checkout" if !(has("-b") || has("-B") || has("--orphan")) => {
                for word in operands {
                    // A branch's name names no file either.
                    self.add_text(&at(&word.text), Effect::Restore, true);
                }
            }
            "clean" => {
                let real = rest.iter().any(|w| {
                    w.text == "--force"
                        || (w.text.starts_with('-')
                            && !w.text.starts_with("--")
                            && w.text.contains('f'))
                }) && !invocation.has_short('n')
                    && !has("--dry-run");
                // What it leaves out is no place that it goes to.
                let left_out = |place: &Word| {
                    let mut pairs = rest.windows(2);
                    pairs.any(|pair| {
                        matches!(pair, [option, value]
                            if matches!(option.text.as_str(), "-e" | "--exclude") && std::ptr::eq(*value, place))
                    })
                };
                let operands: Vec<&&Word> = operands
                    .into_iter()
                    .filter(|word| !left_out(word))
                    .collect();
                if real && operands.is_empty() {
                    self.add_text(&at("."), Effect::Delete, true);
                }
                for word in operands {
                    if real {
                        self.add_text(&at(&word.text), Effect::Delete, true);
                    }
                }
            }
            "rm" => {
                for word in operands {
                    self.add_text(&at(&word.text), Effect::Delete, true);
                }
            }
            "mv" => {
                if let Some((last, sources)) = operands.split_last() {
                    self.add_text(&at(&last.text), Effect::Write, true);
                    for word in sources {
                        self.add_text(&at(&word.text), Effect::Move, true);
                    }
                }
            }
            "apply" | "am" => {
                if let Some(dir) = invocation.value_of(&["--directory"]) {
                    self.add_text(&at(&dir.text), Effect::Write, true);
                }
                self.patched_files();
            }
            "config" => {
                let names_hooks = rest
                    .iter()
                    .any(|w| w.text.eq_ignore_ascii_case("core.hookspath"));
                let reads = has("--get") || has("--list") || has("-l") || operands.len() < 2;
                if names_hooks && (!reads || has("--unset") || has("--unset-all")) {
                    self.add_text(&at(".git/hooks"), Effect::Write, true);
                }
            }
            _ => {}
        }
    }
}
