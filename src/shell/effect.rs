//! PathEffect: what an invocation would do to files, by what the program is known to do with its arguments.

use std::path::Path;
use std::path::PathBuf;

use super::Invocation;
use super::Surroundings;
use super::Word;
use super::invocation::base_name;
use super::path;

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

/// Programs that change every operand in the same way.
const EVERY_OPERAND: &[(&str, Effect)] = &[
    ("rm", Effect::Delete),
    ("unlink", Effect::Delete),
    ("rmdir", Effect::Delete),
    ("shred", Effect::Delete),
    ("srm", Effect::Delete),
    ("wipe", Effect::Delete),
    ("trash", Effect::Delete),
    ("trash-put", Effect::Delete),
    ("gio", Effect::Delete),
    ("del", Effect::Delete),
    ("erase", Effect::Delete),
    ("rd", Effect::Delete),
    ("rimraf", Effect::Delete),
    ("Remove-Item", Effect::Delete),
    ("tee", Effect::Write),
    ("sponge", Effect::Write),
    ("touch", Effect::Write),
    ("truncate", Effect::Write),
    ("mkdir", Effect::Write),
    ("mkfifo", Effect::Write),
    ("ed", Effect::Write),
    ("ex", Effect::Write),
    ("vi", Effect::Write),
    ("vim", Effect::Write),
    ("nvim", Effect::Write),
    ("nano", Effect::Write),
    ("emacs", Effect::Write),
    ("dos2unix", Effect::Write),
    ("unix2dos", Effect::Write),
    ("Set-Content", Effect::Write),
    ("Add-Content", Effect::Write),
    ("Out-File", Effect::Write),
    ("New-Item", Effect::Write),
    ("chattr", Effect::Rights),
    ("fallocate", Effect::Write),
    ("gzip", Effect::Move),
    ("bzip2", Effect::Move),
    ("xz", Effect::Move),
    ("zstd", Effect::Write),
    ("wl-paste", Effect::Write),
];

/// Programs that copy or move their operands to the last one.
const TO_LAST: &[&str] = &[
    "cp",
    "mv",
    "ln",
    "install",
    "rsync",
    "scp",
    "ditto",
    "link",
    "Copy-Item",
    "Move-Item",
    "copy",
    "move",
    "symlink",
];

/// Programs whose option names the file they write.
const OUTPUT_OPTION: &[(&str, &[&str])] = &[
    (
        "curl",
        &[
            "-o",
            "--output",
            "--output-dir",
            "-D",
            "--dump-header",
            "-c",
            "--cookie-jar",
        ],
    ),
    (
        "wget",
        &["-O", "--output-document", "-P", "--directory-prefix", "-o"],
    ),
    ("aria2c", &["-o", "--out", "-d", "--dir"]),
    ("sort", &["-o", "--output"]),
    ("gpg", &["-o", "--output"]),
    ("openssl", &["-out"]),
    ("unzip", &["-d"]),
    ("7z", &["-o"]),
    ("gcc", &["-o"]),
    ("iconv", &["-o", "--output"]),
    ("tar", &["-C", "--directory", "--one-top-level"]),
    ("bsdtar", &["-C", "--directory"]),
    ("cpio", &["-D", "--directory"]),
    ("patch", &["-o", "--output", "-d", "--directory"]),
    ("git", &["--output", "-o"]),
    ("jq", &["--output"]),
    ("pandoc", &["-o", "--output"]),
    ("split", &[]),
    ("script", &[]),
    ("sqlite3", &[]),
    ("tcpdump", &["-w"]),
    ("ssh-keygen", &["-f"]),
    ("age", &["-o"]),
];

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
        if word.text.is_empty() || word.text == "-" || word.text.starts_with("/dev/fd/") {
            return;
        }
        let home = self.surroundings.home.as_deref();
        let unknown = Path::new("");
        let dir = self.invocation.work_dir.as_deref().unwrap_or(unknown);
        self.out.push(PathEffect {
            path: path::lexical(&word.text, dir, home),
            effect,
            program: self.invocation.program.clone(),
            recursive,
            inexact: word.dynamic || word.glob || self.invocation.work_dir.is_none(),
        });
    }

    fn add_text(&mut self, text: &str, effect: Effect, recursive: bool) {
        self.add(&Word::plain(text), effect, recursive);
    }

    fn by_program(&mut self) {
        let invocation = self.invocation;
        let program = invocation.program.as_str();
        let operands: Vec<&Word> = invocation.operands().collect();
        let looks_only = matches!(program, "vi" | "vim" | "nvim") && invocation.has_short('R');
        if looks_only {
            return;
        }
        if let Some((_, effect)) = EVERY_OPERAND.iter().find(|(name, _)| *name == program) {
            let recursive = invocation.has_short('r')
                || invocation.has_short('R')
                || invocation.has_long("--recursive");
            for word in operands {
                self.add(word, *effect, recursive);
            }
            return;
        }
        if TO_LAST.contains(&program) {
            self.copies_or_moves(program, &operands);
            return;
        }
        if let Some((_, options)) = OUTPUT_OPTION.iter().find(|(name, _)| *name == program) {
            for option in *options {
                if let Some(value) = invocation.value_of(&[option]) {
                    self.add(&value, Effect::Write, true);
                }
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
                let mode_is_option = invocation.arguments.iter().any(is_mode);
                for word in operands.iter().skip(usize::from(!mode_is_option)) {
                    self.add(word, Effect::Rights, recursive);
                }
            }
            "dd" => {
                for word in &invocation.arguments {
                    if let Some(target) = word.text.strip_prefix("of=") {
                        let target = Word {
                            text: target.to_owned(),
                            ..word.clone()
                        };
                        self.add(&target, Effect::Write, false);
                    }
                }
            }
            "sed" | "gsed" | "perl" | "ruby" | "awk" | "gawk" | "yq" | "sd" | "prettier"
            | "rpl" => {
                self.edits_in_place(program, &operands);
            }
            "git" => self.git(),
            "find" | "gfind" => self.find(),
            "fd" | "fdfind" => {}
            "tar" | "gtar" | "bsdtar" => self.tar(),
            "unzip" | "7z" | "7za" | "unar" | "cpio"
                if !invocation
                    .arguments
                    .iter()
                    .any(|w| w.text == "-l" || w.text == "-t") =>
            {
                self.members(&operands);
            }
            "patch" => {
                match operands.first() {
                    Some(file) => self.add(file, Effect::Write, false),
                    None => self.add_text(".", Effect::Restore, true),
                }
                self.patched_files();
            }
            "sqlite3" | "script" => {
                if let Some(file) = operands.first() {
                    self.add(file, Effect::Write, false);
                }
            }
            "ahp" | "crontab" => {}
            _ => {}
        }
    }

    fn copies_or_moves(&mut self, program: &str, operands: &[&Word]) {
        let invocation = self.invocation;
        let target = invocation.value_of(&["-t", "--target-directory"]);
        let moves = matches!(program, "mv" | "Move-Item" | "move")
            || invocation.has_long("--remove-source-files");
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
        if let Some(last) = &last
            && !(last.text.contains(':') && matches!(program, "scp" | "rsync"))
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
                    glob: source.glob,
                    made_by: 0..0,
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

    fn edits_in_place(&mut self, program: &str, operands: &[&Word]) {
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

    fn git(&mut self) {
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
                for word in after_dashes {
                    self.add_text(&at(&word.text), Effect::Restore, true);
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
                }) && !has("-n")
                    && !has("--dry-run");
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
            "apply" | "am" => self.patched_files(),
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

    fn find(&mut self) {
        let invocation = self.invocation;
        let deletes = invocation.arguments.iter().any(|w| w.text == "-delete");
        if deletes {
            for word in super::gather::found_by_find(invocation) {
                let anywhere = super::gather::anywhere_below(word);
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

    fn tar(&mut self) {
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
    fn members(&mut self, operands: &[&Word]) {
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

    /// The files that a patch on the input names.
    fn patched_files(&mut self) {
        if let super::Stdin::Text(text) = &self.invocation.stdin {
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
