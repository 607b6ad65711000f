//! Scripts of `sed`: which files they write and what they run, as POSIX and GNU `sed` read them.

use super::wrapper::values_of_cluster;
use super::{Invocation, MAX_LENGTH};
use crate::program;

/// What a script does besides changing text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SedScript {
    /// The files that it writes.
    pub(crate) writes: Vec<String>,
    /// The commands that it gives to a shell, as far as the script says them.
    pub(crate) runs: Vec<String>,
    /// Whether it runs text that it reads, or could not be read itself.
    pub(crate) runs_input: bool,
    /// What it replaces by what.
    replaced: Vec<(String, String)>,
}

impl SedScript {
    /// Returns what it makes of a line of which only a part may be known.
    pub(super) fn made_of(&self, line: &str) -> String {
        let replace = |line: String, (from, to): &(String, String)| {
            let is_all = matches!(from.as_str(), "^" | "$");
            let (made, takes) = replacement(to, if is_all { "" } else { &line });
            match from.as_str() {
                "^" => made + line.as_str(),
                "$" => line + made.as_str(),
                // Which part of the line it is cannot be told.
                _ if takes || from.contains(".*") => made,
                _ => line,
            }
        };
        let mut line = line.to_owned();
        for one in &self.replaced {
            // Each may double it; what is so long nobody reads.
            if line.len() > MAX_LENGTH {
                break;
            }
            line = replace(line, one);
        }
        line
    }
}

/// Returns what stands in the place of what was found, and whether that is a part of it.
fn replacement(written: &str, found: &str) -> (String, bool) {
    let (mut made, mut takes) = (String::new(), false);
    let mut chars = written.chars();
    while let Some(c) = chars.next().filter(|_| made.len() <= MAX_LENGTH) {
        let quoted = if c == '\\' { chars.next() } else { None };
        match quoted {
            Some('n') => made.push('\n'),
            Some(c) if !c.is_ascii_digit() => made.push(c),
            None if c != '&' => made.push(c),
            _ => {
                takes = true;
                made.push_str(found);
            }
        }
    }
    (made, takes)
}

/// Returns what a script of these words does.
pub(super) fn read(script: &str) -> SedScript {
    let mut found = SedScript::default();
    Reader::new(script).read(&mut found);
    found
}

/// Returns what the scripts of a `sed` do together.
pub(crate) fn scripts(invocation: &Invocation) -> SedScript {
    let mut found = SedScript::default();
    let options = ["-e", "--expression"];
    let given = options
        .iter()
        .flat_map(|option| values_of_cluster(&invocation.arguments, option));
    let given: Vec<_> = given.collect();
    let known = program::find(&invocation.program);
    let operand = invocation.own_operands(known).next();
    let first = operand.filter(|_| given.is_empty());
    for word in given.iter().chain(first) {
        Reader::new(&word.text).read(&mut found);
    }
    found
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    fn new(script: &str) -> Self {
        Self {
            chars: script.chars().collect(),
            at: 0,
        }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.chars.get(self.at).copied();
        self.at += 1;
        c
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.at += 1;
        }
    }

    /// Returns the text up to a character that is not quoted, and goes behind it.
    fn up_to(&mut self, end: char) -> String {
        let mut text = String::new();
        while let Some(c) = self.next() {
            if c == end {
                break;
            }
            text.push(c);
            if c == '\\' {
                text.extend(self.next());
            }
        }
        text
    }

    fn read(&mut self, found: &mut SedScript) {
        loop {
            self.skip(|c| c.is_whitespace() || matches!(c, ';' | '{' | '}'));
            self.address();
            let Some(command) = self.next() else {
                return;
            };
            match command {
                '#' | ':' | 'a' | 'c' | 'i' | 'b' | 't' | 'T' | 'r' | 'R' | 'v' => {
                    let ends = |c| c == '\n' || c == ';' && matches!(command, 'b' | 't' | 'T');
                    while let Some(c) = self.next() {
                        // The text of `a` goes on behind a quoted newline.
                        if c == '\\' {
                            self.at += 1;
                        } else if ends(c) {
                            break;
                        }
                    }
                }
                'w' | 'W' => found.writes.push(self.up_to('\n').trim().to_owned()),
                'e' => {
                    let command = self.up_to('\n').trim().to_owned();
                    if command.is_empty() {
                        found.runs_input = true;
                    } else {
                        found.runs.push(command);
                    }
                }
                // What stands in braces is read as what follows.
                '{' | '}' => {}
                's' | 'y' => self.substitution(command == 's', found),
                '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'l' | 'n' | 'N' | 'p' | 'P'
                | 'q' | 'Q' | 'x' | 'z' => self.skip(|c| c.is_ascii_digit() || c == ' '),
                _ => {
                    found.runs_input = true;
                    return;
                }
            }
        }
    }

    /// Goes behind the lines or patterns that a command is for.
    fn address(&mut self) {
        loop {
            match self.peek() {
                Some('/') => {
                    self.at += 1;
                    self.up_to('/');
                }
                Some('\\') => {
                    self.at += 1;
                    if let Some(end) = self.next() {
                        self.up_to(end);
                    }
                }
                Some(c) if c.is_ascii_digit() || "$,~+! \tIM".contains(c) => self.at += 1,
                _ => return,
            }
        }
    }

    fn substitution(&mut self, has_flags: bool, found: &mut SedScript) {
        let Some(end) = self.next() else {
            return;
        };
        let pattern = self.up_to(end);
        let replacement = self.up_to(end);
        if has_flags {
            found.replaced.push((pattern, replacement.clone()));
        }
        while has_flags && let Some(flag) = self.peek() {
            match flag {
                'w' => {
                    self.at += 1;
                    found.writes.push(self.up_to('\n').trim().to_owned());
                    return;
                }
                'e' => {
                    found.runs_input = true;
                    found.runs.push(replacement.replace('\\', ""));
                }
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {}
                _ => return,
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_does_is_read_from_it() {
        for (script, writes, runs, runs_input) in [
            ("s/.ahp/x/g; /a;b/d", &[][..], &[][..], false),
            ("1,5{p;q}", &[], &[], false),
            ("s#a#b#w out.txt", &["out.txt"], &[], false),
            ("/x/w out.txt\np", &["out.txt"], &[], false),
            ("w out.txt", &["out.txt"], &[], false),
            ("1e rm -rf x", &[], &["rm -rf x"], false),
            ("s/.*/rm -rf .a\\hp/e", &[], &["rm -rf .ahp"], true),
            ("e", &[], &[], true),
            ("a\\\nw not a file\n$!N;s/e/w/", &[], &[], false),
            ("$!{N;D};y/abc/eee/", &[], &[], false),
            ("/w x/!s/a/\\/e w/2p", &[], &[], false),
            ("k", &[], &[], true),
        ] {
            let mut found = SedScript::default();
            Reader::new(script).read(&mut found);
            assert_eq!(found.writes, writes, "{script}");
            assert_eq!(found.runs, runs, "{script}");
            assert_eq!(found.runs_input, runs_input, "{script}");
        }
    }
}
