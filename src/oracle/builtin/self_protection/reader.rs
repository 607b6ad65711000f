//! Reader: what one program would read of the files that no agent may read.

use super::judged::Judged;
use super::tree::{Form, Tree};
use super::unread::{Hit, Unread, spelled};
use super::{binary, mention, walk};
use crate::event::name_words;
use crate::guard::components;
use crate::program::{self, Fact};
use crate::search::{Fd, come_through};
use crate::shell::{Invocation, Stdin, Word, anywhere_below, found_by_find};
use crate::words::{holds_any, words};

/// Words in the names of tools that take what lies in a folder, at any depth.
pub(super) const TAKING: &[&str] = words!("taking-tools");

/// Words in the names of programs and of their subcommands that take or show all that lies in a folder.
const SERVING: &[&str] = words!("serving-tools");

/// Calls of code that goes through folders, and words of code that reads what it finds there, in lower case.
const WALKS: &[&str] = words!("walking-code");
const TAKES: &[&str] = &[
    "archive",
    "cat ",
    "copy",
    "cp",
    "open",
    "readfile",
    "read_bytes",
    "read_text",
    "slurp",
    "tar",
    "zip",
];

/// Whether code goes through folders and reads what lies there.
fn walks(code: &str) -> bool {
    let code = code.to_lowercase();
    holds_any(&code, WALKS) && holds_any(&code, TAKES)
}

/// One program, and what it would read.
pub(super) struct Reading<'a> {
    pub(super) unread: &'a Unread<'a>,
    pub(super) invocation: &'a Judged<'a>,
}

impl Reading<'_> {
    pub(super) fn find(&self) -> Option<Hit> {
        self.by_input().or_else(|| self.by_trace()).or_else(|| {
            if names_only(self.invocation) {
                return self.by_finder();
            }
            self.by_word()
                .or_else(|| self.by_folder())
                .or_else(|| self.by_git())
                .or_else(|| self.by_found())
        })
    }

    fn named(&self, text: &str) -> Option<Hit> {
        self.unread.named(self.invocation, text)
    }

    /// A file that is opened for the program.
    fn by_input(&self) -> Option<Hit> {
        let opened = self.invocation.redirects.iter().filter(|r| r.reads());
        let stdin = match &self.invocation.stdin {
            Stdin::File(word) => Some(word),
            _ => None,
        };
        opened
            .map(|redirect| &redirect.target)
            .chain(stdin)
            .find_map(|word| self.named(&word.text))
    }

    /// A word, a variable or a piece of code that names one of the files.
    fn by_word(&self) -> Option<Hit> {
        let known = self.invocation.known();
        let runs_code =
            known.is(Fact::Language) || known.is(Fact::Shell) || known.is(Fact::Console);
        let in_text = |text: &str| {
            let is_code = runs_code || !mention::is_prose(text);
            let walks = runs_code && walks(text);
            let named = |part: &str| {
                let hit = self.named(part)?;
                if walks { Some(hit) } else { hit.told() }
            };
            is_code.then(|| spelled(text).or_else(|| mention::part_of(text, named)))?
        };
        let options = self.invocation.before_dashes().count();
        let mut is_message = false;
        let by_argument = |(nth, text): (usize, &str)| {
            if std::mem::replace(&mut is_message, known.lists(Fact::Texts, text)) {
                return None;
            }
            let is_option = nth <= options && text.starts_with(['-', '+']);
            let named = |part: &str| self.named(part)?.told();
            let in_word = mention::part_of_word(text, is_option, named);
            in_word.or_else(|| {
                let is_text = text.contains(|c: char| c.is_whitespace() || "('\"".contains(c));
                is_text.then(|| in_text(text))?
            })
        };
        // What a script names it may open.
        let pattern = self.pattern().filter(|_| !known.is(Fact::Language));
        let words = self.invocation.texts().enumerate();
        let mut words = words.filter(|(_, text)| pattern != Some(*text));
        let mut variables = self.invocation.environment.iter();
        words
            .find_map(by_argument)
            .or_else(|| {
                variables.find_map(|(_, value)| {
                    let named = |part: &str| self.named(part)?.told();
                    mention::part_of_word(&value.text, false, named)
                })
            })
            .or_else(|| {
                let stdin = self.invocation.stdin.text().filter(|_| runs_code)?;
                in_text(stdin)
            })
    }

    /// Returns the pattern or script that a program takes first, which may look like a path.
    fn pattern(&self) -> Option<&str> {
        let known = self.invocation.known();
        if !known.is(Fact::PatternFirst) {
            return None;
        }
        let given = (['e', 'f'].iter()).any(|letter| self.invocation.has_short(*letter));
        let own = self.invocation.own_operands(known).next()?;
        (!given).then_some(own.text.as_str())
    }

    /// A folder in which the files lie, at any depth, for a program that takes what lies in it.
    fn by_folder(&self) -> Option<Hit> {
        let invocation = self.invocation;
        let known = invocation.known();
        let searches = known.is(Fact::PatternFirst) && !known.is(Fact::Language);
        if searches && !walk::lists_hidden(invocation) {
            // Where it stands, or is sent, it goes.
            let is_deep = !matches!(invocation.program.as_str(), "grep" | "sed" | "jq" | "yq");
            let stands = || self.named(".")?.told();
            return is_deep.then(|| stands().or_else(|| self.by_open_way()))?;
        }
        let takes = known.is(Fact::Shows)
            || known.is(Fact::Mounts)
            || known.is(Fact::ToLast)
            || matches!(invocation.program.as_str(), "mount" | "cpio" | "pax");
        if invocation.unpacks(known) {
            return None;
        }
        let is_whole = |tree: &&Tree| matches!(tree.form, Form::Copies | Form::Links);
        if let Some(tree) = invocation.tree().filter(is_whole) {
            return tree.sources.iter().find_map(|source| self.named(source));
        }
        if !takes && !self.may_walk() {
            return None;
        }
        let pattern = self.pattern();
        let operands = invocation.operands().map(|word| word.text.as_str());
        let mut operands: Vec<&str> = operands.collect();
        if known.is(Fact::ToLast) {
            operands.pop();
        }
        operands.retain(|text| pattern != Some(*text) && !self.is_of_container(text));
        let dir = invocation.value_of(&["-C", "--directory"]);
        if searches && operands.is_empty() {
            operands.push(".");
        }
        operands.into_iter().find_map(|text| {
            let within = |dir: &Word| self.named(&format!("{}/{text}", dir.text));
            let own = || mention::part_of_word(text, false, |part| self.named(part));
            own().or_else(|| within(dir.as_ref()?))
        })
    }

    /// A folder from which no hidden name leads to the files: a search that leaves out what is hidden comes upon them too.
    fn by_open_way(&self) -> Option<Hit> {
        let mut words = self.invocation.operands();
        words.find_map(|word| {
            let hit = self.named(&word.text)?;
            let names = components(&self.invocation.path_of(&word.text)).len();
            let place = components(&hit.clone().path());
            let mut way = place.iter().skip(names);
            (!way.any(|name| name.starts_with('.'))).then_some(hit)
        })
    }

    /// Whether a word is a path in a container: of the command that runs there, or of what is copied from it or to it.
    fn is_of_container(&self, text: &str) -> bool {
        let invocation = self.invocation;
        if !invocation.known().is(Fact::Mounts) {
            return false;
        }
        let is_copied = || {
            let copies = invocation.operands().take(2).any(|word| word.text == "cp");
            copies && text.contains(':') && !text.starts_with(['/', '.', '~'])
        };
        let mut all = invocation.all();
        is_copied()
            || all.any(|inner| {
                inner.remote
                    && inner.through(&[&invocation.program])
                    && inner.arguments.iter().any(|word| word.text == text)
            })
    }

    /// Whether a program takes or shows what lies in a folder that it is given, as its name or its subcommand tells where the
    /// table does not.
    fn may_walk(&self) -> bool {
        let invocation = self.invocation;
        let known = invocation.known();
        let compares = matches!(invocation.program.as_str(), "diff" | "gdiff")
            && (invocation.has_short('r') || invocation.has_long("--recursive"));
        let sub = invocation.first();
        let takes = |name: &&str| {
            let mut words = name_words(name).into_iter();
            words.any(|word| TAKING.contains(&word.as_str()) || SERVING.contains(&word.as_str()))
        };
        let searches = match invocation.program.as_str() {
            "ack" => true,
            "ugrep" => invocation.has_short('r') || invocation.has_short('R'),
            "git" => invocation.has_long("--no-index") && sub == "grep",
            _ => false,
        };
        compares
            || searches
            || known.is(Fact::Walks)
            || !known.is_known() && [invocation.program.as_str(), sub].iter().any(takes)
    }

    /// The whole of a folder that git is told to add: `git -C ~ add -A`.
    fn by_git(&self) -> Option<Hit> {
        let invocation = self.invocation;
        let is_adding = |sub: &Word| matches!(sub.text.as_str(), "add" | "stage");
        let adds = invocation.program == "git" && invocation.subcommand().is_some_and(is_adding);
        if !adds || !invocation.has_word(&["-A", "--all", ".", "*", ":/"]) {
            return None;
        }
        let dir = invocation.value_of(&["-C"]);
        self.named(dir.as_ref().map_or(".", |dir| dir.text.as_str()))
    }

    /// A tracer of one of our own programs: it tells what that reads.
    fn by_trace(&self) -> Option<Hit> {
        let traces = words!("tracers").contains(&self.invocation.program.as_str());
        let is_traced = traces && self.invocation.texts().any(binary::is_named);
        is_traced.then(|| Hit::File("ahp/key".into()))
    }

    /// A search by itself, for programs that it starts and that read what it finds.
    fn by_finder(&self) -> Option<Hit> {
        let through = walk::started_through(&self.invocation.program)?;
        let reads = self
            .invocation
            .all()
            .any(|i| i.through(through) && !names_only(i));
        reads.then(|| self.found(self.invocation))?
    }

    /// What other programs find, and this one is given.
    fn by_found(&self) -> Option<Hit> {
        let invocation = self.invocation;
        let open = (invocation.arguments.iter()).filter(|word| word.dynamic || word.each);
        let takes_list = matches!(invocation.program.as_str(), "cpio" | "pax" | "parallel")
            || invocation.has_word(&["-T", "-@", "--files-from", "--files-from=-", "--null"]);
        let fed = takes_list.then_some(&invocation.fed_by);
        let mut given = open.map(|word| &word.made_by).chain(fed);
        given.find_map(|range| {
            let (lister, filters) = invocation.makers(range).split_first()?;
            let hit = self.found(lister)?;
            let name = hit.clone().path().to_string_lossy().into_owned();
            come_through(invocation.analysis, filters, &name).then_some(hit)
        })
    }

    /// Returns what a program that looks for files finds.
    fn found(&self, finder: &Invocation) -> Option<Hit> {
        let other = self.invocation.other(finder);
        let named = |text: &str| self.unread.named(&other, text);
        match finder.program.as_str() {
            "bfs" | "find" | "gfind" => found_by_find(finder).into_iter().find_map(|word| {
                let text = anywhere_below(word).text;
                named(&text).or_else(|| named(text.strip_suffix("/*")?))
            }),
            "fd" | "fdfind" => {
                let search = Fd::of(finder);
                let sent_to = search.roots.into_iter().chain(search.base);
                let operands = finder.operands().map(|word| word.text.as_str());
                operands.chain(sent_to).find_map(named)
            }
            _ => finder.operands().find_map(|word| named(&word.text)?.told()),
        }
    }
}

/// Whether a program tells of the files that it is given no more than their names and what they are like.
fn names_only(invocation: &Invocation) -> bool {
    let known = program::find(&invocation.program);
    let is_told = known.is(Fact::Lists) || known.is(Fact::Text);
    let runs = matches!(invocation.program.as_str(), "." | "source" | "open");
    // A file with names in it, of which those are told that are none.
    let mut words = invocation.arguments.iter();
    let takes_list = words.any(|word| {
        let text = word.text.trim_start_matches('-');
        text.starts_with("files0-from") || text.starts_with("files-from")
    });
    let is_file = invocation.program == "file" && invocation.has_short('f');
    is_told && !runs && !takes_list && !is_file
}
