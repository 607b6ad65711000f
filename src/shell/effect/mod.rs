//! PathEffect: what an invocation would do to files, by what the program is known to do with its arguments.

mod edit;
mod git;
mod transfer;
mod tree;

use std::path::{Path, PathBuf};

use super::{Invocation, Surroundings, Word, path};
use crate::program::{self, Fact};

/// What happens to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is made, written, appended to or truncated.
    Write,
    /// It is deleted.
    Delete,
    /// It is moved away.
    Move,
    /// Its rights, owner or attributes change.
    Rights,
    /// Its content may be replaced by what version control has.
    Restore,
}

/// One path that would be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathEffect {
    /// The path, absolute where the work dir is known, without `.` and `..`.
    pub path: PathBuf,
    /// What happens to it.
    pub effect: Effect,
    /// The program that does it.
    pub program: String,
    /// Whether everything below the path is meant too.
    pub recursive: bool,
    /// Whether the path holds a pattern or a part that is known only when it runs.
    pub inexact: bool,
}

/// Returns the effect by its name in the table of programs.
fn effect_named(name: &str) -> Effect {
    match name {
        "delete" => Effect::Delete,
        "move" => Effect::Move,
        "rights" => Effect::Rights,
        _ => Effect::Write,
    }
}

/// Adds what one invocation would change.
pub(super) fn of(invocation: &Invocation, surroundings: &Surroundings, out: &mut Vec<PathEffect>) {
    // What runs elsewhere changes nothing here.
    if invocation.remote {
        return;
    }
    let mut found = Collector {
        invocation,
        surroundings,
        out,
    };
    for redirect in &invocation.redirects {
        if redirect.writes() {
            found.add(&redirect.target, Effect::Write, false);
        }
    }
    found.by_program();
}

struct Collector<'a> {
    invocation: &'a Invocation,
    surroundings: &'a Surroundings,
    out: &'a mut Vec<PathEffect>,
}

impl Collector<'_> {
    fn add(&mut self, word: &Word, effect: Effect, recursive: bool) {
        if word.text.is_empty() || word.text == "-" || is_descriptor(&word.text) {
            return;
        }
        let home = self.surroundings.home.as_deref();
        let unknown = Path::new("");
        let dir = self.invocation.work_dir.as_deref().unwrap_or(unknown);
        let path = if word.text.contains('\\') {
            path::lexical(&word.text.replace('\\', "/"), dir, home)
        } else {
            path::lexical(&word.text, dir, home)
        };
        let inexact = word.dynamic
            || word.glob
            || word.text.contains(['*', '?', '['])
            || self.invocation.work_dir.is_none()
            || path::is_pattern(&path, &self.surroundings.project_root);
        self.out.push(PathEffect {
            path,
            effect,
            program: self.invocation.program.clone(),
            recursive,
            inexact,
        });
    }

    fn add_text(&mut self, text: &str, effect: Effect, recursive: bool) {
        self.add(&Word::plain(text), effect, recursive);
    }

    fn by_program(&mut self) {
        let invocation = self.invocation;
        let program = invocation.program.as_str();
        let operands: Vec<&Word> = invocation.operands().collect();
        let known = program::find(program);
        if let Some(effect) = known.words(Fact::Every).next().map(effect_named) {
            if invocation.only_reads() {
                return;
            }
            let recursive = invocation.has_short('r')
                || invocation.has_short('R')
                || invocation.has_long("--recursive")
                || invocation.sweeps();
            for word in operands {
                self.add(word, effect, recursive);
            }
            return;
        }
        if invocation.sweeps() {
            for word in operands {
                self.add(word, Effect::Delete, true);
            }
            return;
        }
        if program == "install" && (invocation.has_short('d') || invocation.has_long("--directory"))
        {
            for word in operands {
                self.add(word, Effect::Write, false);
            }
            return;
        }
        if known.is(Fact::ToLast) {
            self.copies_or_moves(program, &operands);
            return;
        }
        let of_subcommand = invocation.known().words(Fact::Output);
        for option in known.words(Fact::Output).chain(of_subcommand) {
            for value in invocation.values_of(&[option]) {
                self.add(&value, Effect::Write, true);
            }
        }
        match program {
            "chmod" | "chown" | "chgrp" | "setfacl" | "xattr" | "chflags" | "icacls"
            | "takeown" => {
                let recursive = invocation.has_short('R') || invocation.has_long("--recursive");
                // `chmod -x file`: the mode looks like an option.
                let is_mode = |w: &Word| {
                    w.text.len() > 1
                        && w.text
                            .strip_prefix('-')
                            .is_some_and(|l| l.chars().all(|c| "rwxXst".contains(c)))
                };
                // To let the owner do more, or to own what one owns, takes nothing away.
                if operands
                    .first()
                    .is_some_and(|w| gives_to_oneself(program, w))
                {
                    return;
                }
                let mode_is_option = invocation.arguments.iter().any(is_mode);
                for word in operands.iter().skip(usize::from(!mode_is_option)) {
                    self.add(word, Effect::Rights, recursive);
                }
            }
            "dd" => {
                for word in &invocation.arguments {
                    if let Some(target) = word.text.strip_prefix("of=") {
                        let target = word.with_text(target);
                        self.add(&target, Effect::Write, false);
                    }
                }
            }
            "sed" | "gsed" | "perl" | "ruby" | "awk" | "gawk" | "yq" | "sd" | "prettier"
            | "rpl" => {
                self.edits_in_place(program, &operands);
            }
            "apply_patch" | "applypatch" => self.patched_files(),
            "git" => self.git(),
            "bfs" | "find" | "gfind" => self.find(),
            "fd" | "fdfind" => {}
            "tar" | "gtar" | "bsdtar" => self.tar(),
            "zip" | "7z" | "7za" if takes_away(invocation) => {
                for word in operands.iter().skip(1) {
                    self.add(word, Effect::Delete, true);
                }
            }
            "unzip" | "7z" | "7za" | "unar" | "cpio"
                if !invocation
                    .arguments
                    .iter()
                    .any(|w| w.text == "-l" || w.text == "-t") =>
            {
                self.members(&operands);
            }
            "patch" if !invocation.only_reads() => {
                match operands.first() {
                    Some(file) => self.add(file, Effect::Write, false),
                    None => self.add_text(".", Effect::Restore, true),
                }
                self.patched_files();
            }
            "sqlite3" | "script" | "zip" => {
                if let Some(file) = operands.first() {
                    self.add(file, Effect::Write, false);
                }
            }
            "ahp" | "crontab" => {}
            _ => {}
        }
    }
}

/// Whether a path is one of what the shell has opened, and leads nowhere else.
fn is_descriptor(path: &str) -> bool {
    path.strip_prefix("/dev/fd/")
        .is_some_and(|rest| !rest.contains('/'))
}

/// Whether an archiver deletes what it has packed.
fn takes_away(archiver: &Invocation) -> bool {
    let mut words = archiver.arguments.iter();
    words.any(|word| matches!(word.text.as_str(), "-sdel" | "--move"))
        || (archiver.program == "zip" && archiver.has_short('m'))
}

/// Whether a change of rights or owner only gives the one who runs it more: `chmod u+w`, `chown $USER`.
fn gives_to_oneself(program: &str, word: &Word) -> bool {
    match program {
        "chmod" => word.text.split(',').all(|part| {
            let (who, what) = part.split_once('+').unwrap_or(("", ""));
            who == "u" && !what.is_empty() && what.chars().all(|c| "rwX".contains(c))
        }),
        "chown" => {
            let owner = word.text.split(':').next().unwrap_or_default();
            matches!(
                owner,
                "$USER" | "${USER}" | "$(whoami)" | "$(id -u)" | "$(id -un)" | "$UID"
            )
        }
        _ => false,
    }
}
