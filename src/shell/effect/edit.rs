//! Programs that change files in place: by a script of their own, or by a patch.

use super::Collector;
use super::Effect;
use crate::shell::Stdin;
use crate::shell::Word;

impl Collector<'_> {
    pub(super) fn edits_in_place(&mut self, program: &str, operands: &[&Word]) {
        let invocation = self.invocation;
        let in_place = match program {
            "sed" | "gsed" => {
                invocation.has_long("--in-place")
                    || invocation.before_dashes().any(|w| {
                        w.text.strip_prefix('-').is_some_and(|l| {
                            !l.starts_with('-')
                                && l.chars()
                                    .take_while(|c| "nrEszui".contains(*c))
                                    .any(|c| c == 'i')
                        })
                    })
            }
            "perl" | "ruby" => invocation.before_dashes().any(|w| {
                w.text.strip_prefix('-').is_some_and(|l| {
                    !l.starts_with('-')
                        && l.chars()
                            .take_while(|c| "pnialwe0".contains(*c))
                            .any(|c| c == 'i')
                })
            }),
            "awk" | "gawk" => invocation
                .arguments
                .iter()
                .any(|w| w.text.contains("inplace")),
            "yq" => invocation.has_short('i') || invocation.has_long("--inplace"),
            "prettier" => invocation.has_long("--write"),
            _ => true,
        };
        if in_place {
            // The script stands among the operands where no option holds it.
            let has_script = ["-e", "-f"]
                .iter()
                .any(|o| invocation.value_of(&[o]).is_some())
                || invocation.has_long("--expression")
                || invocation.has_long("--file");
            let first_is_script = matches!(program, "sed" | "gsed") && !has_script;
            for word in operands.iter().skip(usize::from(first_is_script)) {
                self.add(word, Effect::Write, false);
            }
        }
        if matches!(program, "sed" | "gsed") {
            for word in &invocation.arguments {
                // `w file` writes what matches.
                if let Some((_, file)) = word.text.split_once("/w ") {
                    self.add_text(file.trim(), Effect::Write, false);
                } else if let Some(file) = word.text.strip_prefix("w ") {
                    self.add_text(file.trim(), Effect::Write, false);
                }
            }
        }
        if matches!(program, "awk" | "gawk") {
            for word in &invocation.arguments {
                for part in word.text.split('>').skip(1) {
                    let part = part.trim_start_matches('>').trim_start();
                    if let Some(file) = part.strip_prefix('"').and_then(|p| p.split('"').next()) {
                        self.add_text(file, Effect::Write, false);
                    }
                }
            }
        }
    }

    /// The files that a patch on the input names.
    pub(super) fn patched_files(&mut self) {
        if let Stdin::Text(text) = &self.invocation.stdin {
            for line in text.lines() {
                let file = line
                    .strip_prefix("+++ ")
                    .or_else(|| line.strip_prefix("--- "))
                    .or_else(|| line.strip_prefix("rename to "))
                    .or_else(|| line.strip_prefix("rename from "));
                if let Some(file) = file.and_then(|f| f.split('\t').next()) {
                    let file = file
                        .strip_prefix("a/")
                        .or_else(|| file.strip_prefix("b/"))
                        .unwrap_or(file);
                    if file != "/dev/null" {
                        self.add_text(file, Effect::Write, false);
                    }
                }
            }
        }
    }
}
