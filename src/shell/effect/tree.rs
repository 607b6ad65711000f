//! Programs that work on whole trees: `find`, and those that pack and unpack archives.

use super::{Collector, Effect};
use crate::shell::{Word, finds};

impl Collector<'_> {
    pub(super) fn find(&mut self) {
        let invocation = self.invocation;
        let deletes = invocation.has_word(&["-delete"]);
        if deletes {
            for word in finds::found_by_find(invocation) {
                let anywhere = finds::anywhere_below(word);
                self.add(&anywhere, Effect::Delete, true);
            }
        }
        for option in ["-fprint", "-fprintf", "-fls", "-fprint0"] {
            let mut words = invocation.arguments.iter().skip_while(|w| w.text != option);
            words.next();
            if let Some(file) = words.next() {
                self.add(file, Effect::Write, false);
            }
        }
    }

    pub(super) fn tar(&mut self) {
        let invocation = self.invocation;
        let mode = invocation
            .arguments
            .first()
            .map_or("", |w| w.text.trim_start_matches('-'));
        let extracts = mode.contains('x')
            || invocation.has_short('x')
            || invocation.has_long("--extract")
            || invocation.has_long("--get");
        let creates =
            mode.contains('c') || invocation.has_short('c') || invocation.has_long("--create");
        if extracts && !mode.starts_with('-') {
            let operands: Vec<&Word> = invocation.operands().collect();
            self.members(&operands);
        } else if creates {
            if let Some(file) = invocation.value_of(&["-f", "--file"]).or_else(|| {
                mode.contains('f')
                    .then(|| invocation.arguments.get(1).cloned())
                    .flatten()
            }) {
                self.add(&file, Effect::Write, false);
            }
            if invocation.has_long("--remove-files") {
                for word in invocation.operands().skip(1) {
                    self.add(word, Effect::Delete, true);
                }
            }
        }
    }

    /// Members that are named are written below the directory of extraction.
    pub(super) fn members(&mut self, operands: &[&Word]) {
        let dir = self
            .invocation
            .value_of(&["-C", "--directory", "-d", "-D"])
            .map_or_else(|| ".".to_owned(), |w| w.text);
        // `cpio` reads the archive from its input.
        let archive = usize::from(self.invocation.program != "cpio");
        for word in operands.iter().skip(archive) {
            self.add_text(&format!("{dir}/{}", word.text), Effect::Write, true);
        }
    }
}
