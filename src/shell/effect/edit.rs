//! Programs that change files in place: by a script of their own, or by a patch.

use super::{Collector, Effect};
use crate::shell::{Word, sed};

/// How the lines of a patch begin that name a file.
const HEADS: &[&str] = &[
    "+++ ",
    "--- ",
    "rename to ",
    "rename from ",
    "*** Add File: ",
    "*** Delete File: ",
    "*** Move to: ",
    "*** Update File: ",
];

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
            for file in sed::scripts(invocation).writes {
                self.add_text(&file, Effect::Write, false);
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
        let stdin = self.invocation.stdin.text();
        let given = self.invocation.texts();
        for text in given.filter(|text| text.contains('\n')).chain(stdin) {
            for line in text.lines().map(str::trim_start) {
                let mut heads = HEADS.iter();
                let file = heads.find_map(|head| line.strip_prefix(head));
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
