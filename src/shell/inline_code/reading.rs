//! Whether inline code only reads: every call in it is one that `policies/calls.txt` knows to read.

use super::calls::reading;
use super::lexer::{Token, tokens};
use super::{Language, language};
use crate::program::{self, Fact};
use crate::shell::{Invocation, is_reader};
use crate::words::words;

/// How deep code within strings of code is looked at.
const MAX_DEPTH: usize = 4;

/// Modules whose members change files or run programs: one that is handed over is as good as called.
const STRONG: &[&str] = words!("strong-modules");

/// Modules of Python whose `open` takes a path first; elsewhere the path stands before it.
const OPENERS: &[&str] = words!("opening-modules");

/// Whether an interpreter is given its code on the command line, and all of it leaves the files that it is given as they
/// are.
pub(crate) fn code_only_reads(invocation: &Invocation) -> bool {
    let Some(language) = language(&invocation.program) else {
        return false;
    };
    if language == Language::Awk {
        let mut operands = invocation.own_operands(invocation.known());
        return invocation.only_reads()
            && operands
                .next()
                .is_some_and(|word| reads(language, &word.text, 0));
    }
    if let Some(module) = invocation.value_of(&["-m"]) {
        let given = invocation.operands().filter(|w| w.text != module.text);
        return matches!(module.text.as_str(), "json.tool" | "yamllint") && given.count() < 2;
    }
    codes(invocation)
        .is_some_and(|codes| !codes.is_empty() && codes.iter().all(|code| reads(language, code, 0)))
}

/// Returns the code among the options of an interpreter; none where another option may run something.
fn codes(invocation: &Invocation) -> Option<Vec<&str>> {
    let known = program::find(&invocation.program);
    let letters = known.lines(Fact::Letters).next().unwrap_or_default();
    let takes_code = |option: &str| {
        let cluster = option.strip_prefix('-').unwrap_or_default();
        let last = cluster
            .len()
            .checked_sub(1)
            .and_then(|at| cluster.split_at_checked(at));
        known.lists(Fact::Code, option)
            || last.is_some_and(|(others, last)| {
                known.lists(Fact::Code, &format!("-{last}"))
                    && others
                        .chars()
                        .all(|c| letters.contains(c) || c.is_ascii_digit())
            })
    };
    let mut codes = Vec::new();
    let mut words = invocation.texts();
    while let Some(word) = words.next() {
        let module = word.strip_prefix("-M").or_else(|| word.strip_prefix("-r"));
        if takes_code(word) {
            codes.push(words.next()?);
        } else if word == "--" || !word.starts_with('-') {
            break;
        } else if let Some(module) = module.filter(|module| !module.is_empty()) {
            let name = module.split(':').next()?;
            let language = language(&invocation.program)?;
            reading(language).contains(name).then_some(())?;
        } else {
            // `-F:` and `-0777` hold their values.
            let is_value = word.starts_with("-F") || word.starts_with("-0");
            let mut own = word.chars().skip(1);
            let is_known = is_value || own.all(|c| letters.contains(c) || c.is_ascii_digit());
            (is_known && !word.starts_with("--")).then_some(())?;
        }
    }
    Some(codes)
}

/// Whether every call in a piece of code is known to read.
fn reads(language: Language, code: &str, depth: usize) -> bool {
    let listed = reading(language);
    if listed.is_empty() || depth > MAX_DEPTH || code.contains("$^I") {
        return false;
    }
    let Some((tokens, inner)) = tokens(language, code) else {
        return false;
    };
    let code = Code { language, tokens };
    (0..code.tokens.len()).all(|at| code.is_fine(at))
        && (language != Language::Awk || code.pipes_are_plain())
        && inner.iter().all(|code| reads(language, code, depth + 1))
}

struct Code {
    language: Language,
    tokens: Vec<Token>,
}

impl Code {
    fn at(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    /// Returns the token before a place, line ends left out.
    fn before(&self, at: usize) -> Option<&Token> {
        let mut earlier = self.tokens.get(..at)?.iter().rev();
        earlier.find(|token| !token.is('\n'))
    }

    fn name(&self, at: usize) -> Option<&str> {
        match self.at(at) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn is_listed(&self, name: &str) -> bool {
        reading(self.language).contains(name)
    }

    /// Whether a token, where it stands, does no more than read.
    fn is_fine(&self, at: usize) -> bool {
        let next = self.at(at + 1);
        match self.at(at) {
            Some(Token::Name(name)) => self.is_fine_name(at, name),
            Some(Token::Variable(name)) => {
                let is_called = next.is_some_and(|token| token.is('('));
                let refills = self.language == Language::Perl
                    && name == "@ARGV"
                    && next.is_some_and(|token| token.is('='));
                !is_called && !refills
            }
            Some(Token::Text(text)) => !text.starts_with('|') && !text.ends_with('|'),
            Some(Token::Mark('(')) => self.is_fine_parenthesis(at),
            Some(Token::Mark('@')) => false,
            Some(Token::Mark('&')) if self.language == Language::Perl => {
                !next.is_some_and(|token| matches!(token, Token::Variable(_)) || token.is('{'))
            }
            _ => true,
        }
    }

    /// A parenthesis behind what is not a name calls what cannot be told.
    fn is_fine_parenthesis(&self, at: usize) -> bool {
        match at.checked_sub(1).and_then(|before| self.at(before)) {
            Some(Token::Text(_) | Token::Mark(')' | ']' | '}' | '.')) => false,
            Some(Token::Mark('>')) => {
                let before = at.checked_sub(2).and_then(|before| self.at(before));
                !before.is_some_and(|token| token.is('-'))
            }
            _ => true,
        }
    }

    fn is_fine_name(&self, at: usize, name: &str) -> bool {
        let next = self.at(at + 1);
        let before = self.before(at);
        let is_member = before.is_some_and(|token| token.is('.'));
        let owner = at.checked_sub(2).and_then(|owner| self.name(owner));
        let is_strong =
            is_member && (owner.is_some_and(|owner| STRONG.contains(&owner)) || self.is_module(at));
        if !(is_strong || self.is_called(at, name)) {
            return true;
        }
        if matches!(name, "write" | "flush") {
            return matches!(owner, Some("stdout" | "stderr"));
        }
        if !self.is_listed(name) {
            return self.is_defined(name);
        }
        match name {
            "open" | "fopen" | "openSync" => self.opens_to_read(at, is_member, owner),
            "new" if owner.is_some_and(|owner| OPENERS.contains(&owner)) => {
                self.opens_to_read(at, is_member, owner)
            }
            "import" | "from" => self.imports(at),
            "require" => self.requires(at),
            "use" | "no" => self
                .name(at + 1)
                .is_some_and(|module| self.is_listed(module)),
            // `do FILE` runs it.
            "do" => !matches!(next, Some(Token::Text(_) | Token::Variable(_))),
            "system" => {
                self.gives_to_reader(at + 2) && self.at(at + 3).is_some_and(|token| token.is(')'))
            }
            _ => true,
        }
    }

    /// Whether a name is a member of a module that is taken right there: `require("fs").x`.
    fn is_module(&self, at: usize) -> bool {
        let call = at
            .checked_sub(5)
            .and_then(|start| self.tokens.get(start..at));
        matches!(call, Some([Token::Name(name), _, Token::Text(_), _, _]) if name == "require")
    }

    /// Whether a name is called where it stands; in some languages no parenthesis is needed.
    fn is_called(&self, at: usize, name: &str) -> bool {
        let next = self.at(at + 1);
        let is = |mark: char| next.is_some_and(|token| token.is(mark));
        if is('(')
            || matches!(
                name,
                "import" | "from" | "include" | "include_once" | "require" | "require_once"
            )
        {
            return true;
        }
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return false;
        }
        let before = at.checked_sub(1).and_then(|before| self.at(before));
        let is_behind = |mark: char| before.is_some_and(|token| token.is(mark));
        match self.language {
            Language::Lua => is('{') || matches!(next, Some(Token::Text(_))),
            Language::Perl => {
                let holder = at.checked_sub(2).and_then(|holder| self.at(holder));
                let is_held = holder.is_some_and(|token| {
                    matches!(token, Token::Variable(_)) || token.is('>') || token.is(']')
                });
                let is_key = (is_held && is_behind('{') && is('}'))
                    || (is('=') && self.at(at + 2).is_some_and(|token| token.is('>')));
                let is_test = is_behind('-') && name.len() == 1;
                !is_key && !is_test
            }
            Language::Ruby => {
                let is_symbol = is_behind(':')
                    || (is(':') && !self.at(at + 2).is_some_and(|token| token.is(':')));
                !is_symbol && !self.is_local(name)
            }
            _ => false,
        }
    }

    /// Whether the code itself defines a function.
    fn is_defined(&self, name: &str) -> bool {
        let mut pairs = self.tokens.windows(2);
        pairs.any(|pair| match pair {
            [Token::Name(keyword), Token::Name(defined)] => {
                matches!(keyword.as_str(), "def" | "function" | "sub") && defined == name
            }
            _ => false,
        })
    }

    /// Whether a name is a variable of Ruby: one that is assigned to, or stands between `|` and `|`.
    fn is_local(&self, name: &str) -> bool {
        let places = self.tokens.iter().enumerate();
        let mut named =
            places.filter(|(_, token)| matches!(token, Token::Name(own) if own == name));
        named.any(|(at, _)| {
            let is = |at: Option<usize>, marks: &[char]| {
                let token = at.and_then(|at| self.at(at));
                token.is_some_and(|token| marks.iter().any(|mark| token.is(*mark)))
            };
            let is_assigned = is(Some(at + 1), &['='])
                && !is(Some(at + 2), &['=', '~', '>'])
                && !is(at.checked_sub(1), &['.']);
            is_assigned || (is(at.checked_sub(1), &['|', ',']) && is(Some(at + 1), &['|', ',']))
        })
    }

    /// Returns the arguments of a call, each with its tokens; without parentheses up to the end of the statement.
    fn arguments(&self, at: usize) -> Vec<&[Token]> {
        let is_closed = self.at(at + 1).is_some_and(|token| token.is('('));
        let start = at + 1 + usize::from(is_closed);
        let mut arguments = Vec::new();
        let mut depth = 0_usize;
        let mut from = start;
        let mut end = start;
        while let Some(token) = self.at(end) {
            match token {
                Token::Mark('(' | '[' | '{') => depth += 1,
                Token::Mark(')' | ']' | '}') if depth == 0 => break,
                Token::Mark(')' | ']' | '}') => depth -= 1,
                Token::Mark(';' | '\n') if depth == 0 && !is_closed => break,
                Token::Mark(',') if depth == 0 => {
                    arguments.extend(self.tokens.get(from..end));
                    from = end + 1;
                }
                _ => {}
            }
            end += 1;
        }
        arguments.extend(self.tokens.get(from..end).filter(|last| !last.is_empty()));
        arguments
    }

    /// Whether a call of `open` says, by words that stand there, that it reads.
    fn opens_to_read(&self, at: usize, is_member: bool, owner: Option<&str>) -> bool {
        let arguments = self.arguments(at);
        if self.language == Language::Perl {
            return matches!(arguments.get(1), Some([Token::Text(mode)]) if mode.starts_with('<'))
                && arguments.len() == 3;
        }
        let path_first = !is_member || owner.is_some_and(|owner| OPENERS.contains(&owner));
        let reads = |argument: &&[Token]| match argument {
            [Token::Text(text)] => is_read_mode(text),
            [Token::Name(name), Token::Mark('='), value] => match name.as_str() {
                "mode" => matches!(value, Token::Text(text) if is_read_mode(text)),
                "encoding" | "errors" | "newline" => true,
                _ => false,
            },
            _ => false,
        };
        arguments.iter().skip(usize::from(path_first)).all(reads)
    }

    /// Whether Python imports only what is known.
    fn imports(&self, at: usize) -> bool {
        if self.language != Language::Python {
            return false;
        }
        // `from x import y` ends with the `import`, which is looked at by itself.
        let mut is_alias = false;
        let mut later = self.tokens.iter().skip(at + 1);
        let mut all = later
            .by_ref()
            .take_while(|token| !token.is(';') && !token.is('\n'));
        all.all(|token| match token {
            Token::Name(name) if name == "as" => {
                is_alias = true;
                true
            }
            Token::Name(_) if std::mem::take(&mut is_alias) => true,
            Token::Name(name) => self.is_listed(name),
            Token::Mark(mark) => matches!(mark, '.' | ',' | '(' | ')'),
            _ => false,
        })
    }

    /// Whether JavaScript or Ruby takes a module that is known, and of it what is known.
    fn requires(&self, at: usize) -> bool {
        let is_closed = self.at(at + 1).is_some_and(|token| token.is('('));
        let module = self.at(at + 1 + usize::from(is_closed));
        let is_known = matches!(module, Some(Token::Text(name)) if self.is_listed(name.trim_start_matches("node:")));
        let ends = |back: usize, mark: char| {
            let token = at.checked_sub(back).and_then(|before| self.at(before));
            token.is_some_and(|token| token.is(mark))
        };
        if !(ends(1, '=') && ends(2, '}')) {
            return is_known;
        }
        let taken = self.tokens.get(..at.saturating_sub(2)).unwrap_or_default();
        let start = taken.iter().rposition(|token| token.is('{')).unwrap_or(0);
        let mut names = taken.windows(2).skip(start);
        is_known
            && names.all(|pair| match pair {
                [Token::Mark('{' | ','), Token::Name(name)] => self.is_listed(name),
                _ => true,
            })
    }

    /// Whether a text stands there that is a command which only reads.
    fn gives_to_reader(&self, at: usize) -> bool {
        matches!(self.at(at), Some(Token::Text(command)) if is_reader(command))
    }

    /// Whether what awk's statements write to or run stands there as a text, which is judged by itself.
    fn pipes_are_plain(&self) -> bool {
        let mut prints = false;
        let mut depth = 0_usize;
        let mut at = 0;
        let ends = |at: usize| {
            self.at(at)
                .is_none_or(|token| token.is(';') || token.is('\n') || token.is('}'))
        };
        let is_text = |at: usize| matches!(self.at(at), Some(Token::Text(_)));
        let is_reader = |at: usize| self.gives_to_reader(at);
        while let Some(token) = self.at(at) {
            match token {
                Token::Name(name) if matches!(name.as_str(), "print" | "printf") => {
                    prints = true;
                    depth = 0;
                }
                Token::Mark('(') => depth += 1,
                Token::Mark(')') => depth = depth.saturating_sub(1),
                Token::Mark(';' | '\n' | '{' | '}') => prints = false,
                Token::Mark('>') if prints && depth == 0 => {
                    at += usize::from(self.at(at + 1).is_some_and(|token| token.is('>')));
                    if !(is_text(at + 1) && ends(at + 2)) {
                        return false;
                    }
                }
                Token::Mark('|') if self.at(at + 1).is_some_and(|token| token.is('|')) => at += 1,
                Token::Mark('|') if prints && !(is_reader(at + 1) && ends(at + 2)) => return false,
                Token::Mark('|') if prints => {}
                Token::Mark('|') => {
                    let start = at.checked_sub(2).and_then(|before| self.at(before));
                    let begins =
                        start.is_none_or(|token| "{(;!\n".chars().any(|mark| token.is(mark)));
                    let is_read = self.name(at + 1) == Some("getline");
                    if !(is_read && begins && at.checked_sub(1).is_some_and(is_reader)) {
                        return false;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        true
    }
}

fn is_read_mode(text: &str) -> bool {
    matches!(text, "utf8" | "utf-8" | "latin-1" | "ascii" | "br")
        || (text.starts_with('r') && !text.contains(['+', 'w', 'a', 'x']))
}
