//! The guard in front of the parser: what it may be given, and what happens to the rest.
//!
//! The parser needs time cubic in nested substitutions and stack linear in nesting, so that size
//! and nesting are measured before it sees a text.

use std::cell::Cell;
use std::rc::Rc;

use rable::Node;

use super::walk::{Input, Walker};
use super::{Analysis, DoubtKind, MAX_LENGTH, Surroundings, plain};

/// The most command and process substitutions that one text may hold.
const MAX_SUBSTITUTIONS: usize = 64;
/// The deepest nesting of substitutions that is parsed.
const MAX_NESTING: usize = 24;
/// The deepest nesting of any kind that is parsed on the stack of the caller.
const SHALLOW: usize = 24;
/// The longest text that is parsed on the stack of the caller, in bytes.
const SHORT: usize = 4096;
/// The stack for what is deep or long; only touched pages cost memory.
const STACK: usize = 256 * 1024 * 1024;
/// How much stack there is for what a short command line makes: `eval "$x"` may hold a long one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    Small,
    Wanted,
    Large,
}

thread_local! {
    static ROOM: Cell<Room> = const { Cell::new(Room::Small) };
}

/// Stands in a text for the body of a here-document that was taken out.
const FOLD: char = '\u{1}';

/// How long and how deeply nested a text is.
#[derive(Debug, Default)]
struct Measure {
    substitutions: usize,
    nesting: usize,
    brackets: usize,
    quotes: usize,
}

impl Measure {
    /// Measures a text in one pass; quotes are respected as far as that needs no parser.
    fn of(text: &str) -> Self {
        let mut measure = Self::default();
        let (mut open, mut depth) = (0_usize, 0_usize);
        let mut previous = ' ';
        let mut single = false;
        let mut double = false;
        for c in text.chars() {
            if previous == '\\' && !single {
                previous = ' ';
                continue;
            }
            match c {
                '\'' if !double => single = !single,
                _ if single => {}
                '"' => {
                    double = !double;
                    measure.quotes += 1;
                }
                '(' => {
                    if matches!(previous, '$' | '<' | '>') {
                        measure.substitutions += 1;
                        open += 1;
                        measure.nesting = measure.nesting.max(open);
                    }
                    depth += 1;
                }
                ')' => {
                    open = open.saturating_sub(1);
                    depth = depth.saturating_sub(1);
                }
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                '`' => measure.substitutions += 1,
                _ => {}
            }
            measure.brackets = measure.brackets.max(depth);
            previous = c;
        }
        // Keywords nest as well: `if if if`, `while while`.
        let keywords = text
            .split(|c: char| c.is_whitespace() || c == ';')
            .filter(|word| {
                matches!(
                    *word,
                    "if" | "while"
                        | "until"
                        | "for"
                        | "case"
                        | "select"
                        | "!"
                        | "time"
                        | "coproc"
                        | "function"
                        | "do"
                        | "then"
                        | "else"
                        | "{"
                )
            })
            .count();
        measure.brackets += keywords;
        measure
    }

    fn is_parseable(&self) -> bool {
        self.substitutions <= MAX_SUBSTITUTIONS
            && self.nesting <= MAX_NESTING
            && self.brackets <= 400
            && !(self.substitutions > 24 && self.quotes > 96)
    }
}

/// Parses a text, if it is no danger to the parser.
pub(super) fn parse(text: &str) -> Result<Vec<Node>, DoubtKind> {
    if text.len() <= SHORT
        && let Some(nodes) = plain::parse(text)
    {
        return Ok(nodes);
    }
    let measure = Measure::of(text);
    if text.len() > MAX_LENGTH || !measure.is_parseable() {
        return Err(DoubtKind::TooComplex);
    }
    if (text.len() > SHORT || measure.brackets > SHALLOW) && ROOM.get() != Room::Large {
        ROOM.set(Room::Wanted);
        return Err(DoubtKind::TooComplex);
    }
    by_grammar(text)
}

/// Parses a text that was measured by the whole grammar, with extended patterns only where it needs them.
fn by_grammar(text: &str) -> Result<Vec<Node>, DoubtKind> {
    rable::parse(text, false)
        .or_else(|_| rable::parse(text, true))
        .map_err(|_| DoubtKind::Unparseable)
}

/// Analyses a command line, on a thread with a larger stack where it is long or deep.
pub(super) fn analyse(command: &str, surroundings: &Surroundings) -> Analysis {
    let normalised;
    let command = if command.contains("\r\n") || command.contains('\0') {
        normalised = command.replace("\r\n", "\n").replace('\0', "");
        normalised.as_str()
    } else {
        command
    };
    if command.len() <= SHORT
        && let Some(nodes) = plain::parse(command)
    {
        return walk(command, || Ok(nodes), Rc::from([]), surroundings);
    }
    let measure = Measure::of(command);
    if command.len() <= SHORT && measure.brackets <= SHALLOW && measure.is_parseable() {
        ROOM.set(Room::Small);
        let analysis = walk(command, || by_grammar(command), Rc::from([]), surroundings);
        if ROOM.replace(Room::Small) == Room::Small {
            return analysis;
        }
    }
    let run = || {
        ROOM.set(Room::Large);
        let (short, bodies) = fold(command);
        walk(&short, || parse(&short), Rc::from(bodies), surroundings)
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("shell".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, run);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(analysis)) => analysis,
            _ => unanalysable(command, surroundings),
        }
    })
}

fn walk(
    command: &str,
    parse: impl FnOnce() -> Result<Vec<Node>, DoubtKind>,
    folded: Rc<[String]>,
    surroundings: &Surroundings,
) -> Analysis {
    let mut walker = Walker::new(surroundings, folded);
    walker.run_parsed(command, parse, &Input::default());
    walker.run_handlers();
    walker.end_sinks();
    walker.analysis
}

/// Returns what is known of a command line that could not be walked at all.
fn unanalysable(command: &str, surroundings: &Surroundings) -> Analysis {
    let mut walker = Walker::new(surroundings, Rc::from([]));
    walker.doubt(DoubtKind::TooComplex, command);
    walker.analysis
}

/// Takes the bodies of quoted here-documents out of a text: nothing in them is expanded, and they
/// are most of what is long in the command lines of agents.
fn fold(text: &str) -> (String, Vec<String>) {
    if !text.contains("<<") {
        return (text.to_owned(), Vec::new());
    }
    let mut out = String::with_capacity(text.len().min(MAX_LENGTH));
    let mut bodies = Vec::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        out.push_str(line);
        for (delimiter, strips_tabs) in quoted_delimiters(line) {
            let mut body = String::new();
            let mut end = "";
            for line in lines.by_ref() {
                let bare = line.trim_end_matches('\n');
                let bare = if strips_tabs {
                    bare.trim_start_matches('\t')
                } else {
                    bare
                };
                if bare == delimiter {
                    end = line;
                    break;
                }
                body.push_str(line);
            }
            out.push(FOLD);
            out.push_str(&bodies.len().to_string());
            out.push('\n');
            out.push_str(end);
            bodies.push(body);
        }
    }
    (out, bodies)
}

/// Returns the quoted delimiters of the here-documents that a line starts.
fn quoted_delimiters(line: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((_, after)) = rest.split_once("<<") {
        rest = after;
        if let Some(string) = after.strip_prefix('<') {
            rest = string;
            continue;
        }
        let strips_tabs = after.starts_with('-');
        let word = after
            .trim_start_matches('-')
            .trim_start_matches([' ', '\t']);
        let delimiter = match word.chars().next() {
            Some(quote @ ('\'' | '"')) => word.get(1..).and_then(|w| w.split(quote).next()),
            Some('\\') => word
                .get(1..)
                .and_then(|w| w.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()),
            _ => None,
        };
        match delimiter {
            Some(delimiter) if !delimiter.is_empty() => {
                found.push((delimiter.to_owned(), strips_tabs));
            }
            // An unquoted one comes first: its body would be taken for the next one's.
            _ => break,
        }
    }
    found
}

/// Returns which body stands behind the content of a here-document.
pub(super) fn folded_index(content: &str) -> Option<usize> {
    content.strip_prefix(FOLD)?.trim_end().parse().ok()
}

/// Cuts a text that cannot be parsed at everything that may end a command.
pub(super) fn pieces(text: &str) -> Vec<String> {
    /// The most pieces that are looked at.
    const MAX_PIECES: usize = 400;
    text.split(['\n', ';', '|', '&'])
        .flat_map(|piece| piece.split("$("))
        .flat_map(|piece| piece.split('`'))
        .map(|piece| {
            piece
                .trim()
                .trim_start_matches(['(', '{', '!', ' '])
                .to_owned()
        })
        .filter(|piece| !piece.is_empty() && piece.len() <= 4096)
        .take(MAX_PIECES)
        .collect()
}
