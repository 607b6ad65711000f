//! Sinks: commands in `>( )`, which read what others write.

use std::ops::Range;

use super::Stdin;
use super::walk::{Input, Sink, Walker};

impl Walker<'_> {
    /// Runs the sinks of one command, which has printed this, and gives it to those that stay open, too.
    pub(super) fn fill_sinks(
        &mut self,
        own: Vec<Sink>,
        output: Option<&str>,
        fed_by: &Range<usize>,
    ) {
        let said = output.unwrap_or_default();
        self.sinks.iter_mut().for_each(|sink| sink.said += said);
        for mut sink in own {
            if !fed_by.is_empty() {
                sink.from = sink.from.min(fed_by.start);
            }
            sink.said += said;
            self.run_sink(sink);
        }
    }

    /// Runs the sinks that stay open to the end of the line.
    pub(super) fn end_sinks(&mut self) {
        // One may open others, which stay open as well.
        while !self.sinks.is_empty() {
            for sink in std::mem::take(&mut self.sinks) {
                self.run_sink(sink);
            }
        }
    }

    fn run_sink(&mut self, sink: Sink) {
        let fed_by = sink.from..self.analysis.invocations.len();
        let known = (!sink.said.is_empty()).then_some(Stdin::Text(sink.said));
        // What is known may not be all of it.
        for stdin in known.into_iter().chain([Stdin::Pipe]) {
            let fed_by = fed_by.clone();
            // It was started where it stands: what the line has changed since is not its own.
            let saved = std::mem::replace(&mut self.scope, sink.scope.clone());
            self.run_text(&sink.text, &Input { stdin, fed_by });
            self.scope = saved;
        }
    }
}
