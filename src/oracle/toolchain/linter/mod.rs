//! Linters: the project's own, found, run on files, and read.

mod edition;
mod finding;
mod tool;

pub(in crate::oracle) use self::finding::Fault;
pub(in crate::oracle) use self::tool::TOOLS;
pub(in crate::oracle) use self::tool::Tool;

use std::path::{Path, PathBuf};

use self::tool::{Call, Form};
use crate::oracle::wording::shortened;
use crate::oracle::{HookContext, OracleError, toolchain};
use crate::process::{Exit, Finished, Program, installed, lies_in};

/// What linters found.
#[derive(Clone, Debug, Default)]
pub(in crate::oracle) struct Checked {
    /// Their findings in the files that they were to look at.
    pub(in crate::oracle) faults: Vec<Fault>,
    /// Linters that are wanted and not installed.
    pub(in crate::oracle) missing: Vec<&'static str>,
    /// Linters that did not end in time, or ended badly and named nothing in a file: what they looked at is not known
    /// to be clean.
    pub(in crate::oracle) failed: Vec<(&'static str, OracleError)>,
    /// How many linters looked at something.
    pub(in crate::oracle) ran: usize,
}

/// Returns the linters that are wanted: those that are named, else those that the project uses.
pub(in crate::oracle) fn wanted(
    context: &HookContext,
    named: &[String],
) -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().filter(move |tool| {
        if named.is_empty() {
            tool.is_used_by(context.workspace())
        } else {
            named.iter().any(|name| name == tool.name)
        }
    })
}

/// Lets linters look at files; `named` are the only ones, where it names any. What becomes of one linter changes nothing
/// for the others.
pub(in crate::oracle) fn check(
    context: &HookContext,
    files: &[String],
    named: &[String],
) -> Checked {
    let mut checked = Checked::default();
    let read = |path: &str| Some(context.workspace().read(path).ok()?.to_vec());
    for tool in wanted(context, named) {
        let own = files.iter().filter(|file| tool.looks_at(file, read));
        let own: Vec<String> = own.cloned().collect();
        if own.is_empty() {
            continue;
        }
        let Some(program) = tool.program(context) else {
            checked.missing.push(tool.name);
            continue;
        };
        checked.ran += 1;
        for call in tool.calls(context.workspace(), &own) {
            match tool.look(context, &program, &call) {
                // A fault of its own configuration is one of everything that it looks at.
                Ok((found, failure)) => {
                    checked.faults.extend(found.into_iter().filter(|fault| {
                        let file = &fault.file;
                        fault.hinders || own.contains(file) || tool.files.contains(&file.as_str())
                    }));
                    checked
                        .failed
                        .extend(failure.map(|error| (tool.name, error)));
                }
                Err(error) => {
                    checked.failed.push((tool.name, error));
                    break;
                }
            }
        }
    }
    checked.faults.sort();
    checked.faults.dedup();
    checked
}

impl Tool {
    /// Returns its program: the project's own before the machine's.
    pub(in crate::oracle) fn program(&self, context: &HookContext) -> Option<PathBuf> {
        let own = ["node_modules/.bin", ".venv/bin", "venv/bin"]
            .iter()
            .map(|dir| context.root().join(dir).join(self.program))
            .find(|path| path.exists());
        own.or_else(|| installed(self.program))
    }

    /// Runs it with these arguments, and what a call is given beside them.
    ///
    /// # Errors
    /// It could not be started, or did not end in time.
    pub(in crate::oracle) fn call(
        &self,
        context: &HookContext,
        program: &Path,
        arguments: &[&str],
        call: &Call,
    ) -> Result<Finished, OracleError> {
        // Plugins, build scripts and toolchains are the project's too.
        if !self.only_reads || lies_in(program, context.root()) {
            context.permits_programs()?;
        }
        let mut argv = vec![program.to_string_lossy().into_owned()];
        argv.extend(arguments.iter().map(|&a| a.to_owned()));
        argv.extend(call.arguments.iter().cloned());
        // A file whose name begins with a dash would be an option.
        argv.extend(call.files.iter().map(|file| match file.strip_prefix('-') {
            Some(_) => format!("./{file}"),
            None => file.clone(),
        }));
        let program = Program::new(argv)
            .dir(context.root())
            .env("NO_COLOR", "1")
            .max_output(32 << 20);
        toolchain::run(context, program, self.name)
    }

    /// Whether it ended so that it has not looked at everything, whatever it has found until then.
    fn stopped(&self, exit: Exit) -> bool {
        match exit {
            Exit::Code(code) => self.stop == Some(code),
            Exit::Signal(_) | Exit::TimedOut => true,
        }
    }

    /// Lets it look at files, and returns what it finds, with how it failed beside that.
    fn look(
        &self,
        context: &HookContext,
        program: &Path,
        call: &Call,
    ) -> Result<(Vec<Fault>, Option<OracleError>), OracleError> {
        let finished = self.call(context, program, &self.check, call)?;
        let mut found = self.read(&finished.stdout_text(), context.root());
        // Compilers tell there what they find also where they succeed.
        let tells_there = self.form == Form::Places;
        if found.is_empty() && (tells_there || !finished.exit.is_success()) {
            found = self.read_errors(&finished.stderr_text(), context.root());
        }
        let stopped = self.stopped(finished.exit);
        if stopped || found.is_empty() && !finished.exit.is_success() {
            let said = [finished.stderr_text(), finished.stdout_text()];
            let said = said.iter().flat_map(|text| {
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                lines.take(4).map(|line| shortened(line, 200))
            });
            let said: Vec<String> = said.collect();
            let said = if said.is_empty() {
                "it said nothing".to_owned()
            } else {
                said.join("; ")
            };
            let error = OracleError::failed(format!("{} failed: {said}", self.name));
            return if found.is_empty() {
                Err(error)
            } else {
                Ok((found, Some(error)))
            };
        }
        Ok((found, None))
    }
}
