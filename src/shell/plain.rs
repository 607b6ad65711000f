//! Plain: the command lines that most are, parsed without the parser for all of the shell's language.
//!
//! Words, quoted texts in which nothing is expanded, `|`, `&&`, `||` and `;`: what holds anything else, or a word that
//! may be a keyword, is left to that parser. For these the nodes are the same, but for places in the text and parts of
//! words, which nobody asks for here; a test parses lines of all kinds by both and compares them.
//!
//! It is there for its speed. Of the 5,030 command lines of `tests/permission_checker/everyday.txt` 4,392 are plain. One of them
//! takes 0.3 µs here and 8.1 µs by `rable` (medians of 15 passes, optimised with `lto = "fat"`); an event whose command line
//! is parsed and judged takes about 23 µs in all, as `docs/performance.md` has it.

use rable::{ListItem, ListOperator, Node, NodeKind, PipeSep};

/// Words that mean something else at the beginning of a command, or in places that only the whole grammar knows.
const KEYWORDS: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while",
];

/// Parses a plain command line; none where it is not plain.
pub(super) fn parse(text: &str) -> Option<Vec<Node>> {
    let mut line = Line { text, at: 0 };
    let mut list = line.and_or()?;
    while line.takes(";") {
        if line.is_at_end() {
            break;
        }
        list = join(list, ListOperator::Semi, line.and_or()?);
    }
    line.is_at_end().then(|| vec![list])
}

/// A command line as far as it is read.
struct Line<'a> {
    text: &'a str,
    at: usize,
}

impl Line<'_> {
    fn and_or(&mut self) -> Option<Node> {
        let mut left = self.pipeline()?;
        loop {
            let operator = if self.takes("&&") {
                ListOperator::And
            } else if self.takes("||") {
                ListOperator::Or
            } else {
                return Some(left);
            };
            left = join(left, operator, self.pipeline()?);
        }
    }

    fn pipeline(&mut self) -> Option<Node> {
        let first = self.command()?;
        if !self.is_at_pipe() {
            return Some(first);
        }
        let mut commands = vec![first];
        let mut separators = Vec::new();
        while self.is_at_pipe() && self.takes("|") {
            separators.push(PipeSep::Pipe);
            commands.push(self.command()?);
        }
        Some(Node::empty(NodeKind::Pipeline {
            commands,
            separators,
        }))
    }

    fn command(&mut self) -> Option<Node> {
        let mut words = Vec::with_capacity(4);
        while self.is_at_word() {
            let word = self.word()?;
            // `NAME=value` before the command is no word of it.
            if KEYWORDS.contains(&word) || (words.is_empty() && word.contains('=')) {
                return None;
            }
            words.push(Node::empty(NodeKind::Word {
                value: word.to_owned(),
                parts: Vec::new(),
                spans: Vec::new(),
            }));
        }
        (!words.is_empty()).then(|| {
            Node::empty(NodeKind::Command {
                assignments: Vec::new(),
                words,
                redirects: Vec::new(),
            })
        })
    }

    /// Whether neither the end nor an operator comes next.
    fn is_at_word(&mut self) -> bool {
        self.skip_spaces();
        !matches!(self.next_byte(), None | Some(b'|' | b'&' | b';'))
    }

    /// Reads the word that begins here; none where something comes that is not plain.
    fn word(&mut self) -> Option<&str> {
        let start = self.at;
        loop {
            match self.next_byte() {
                Some(quote @ (b'\'' | b'"')) => self.at = self.quote_end(quote)?,
                Some(byte) if is_plain(byte) => self.at += 1,
                None | Some(b' ' | b'|' | b'&' | b';') => break,
                Some(_) => return None,
            }
        }
        self.text.get(start..self.at)
    }

    /// Returns where the text in quotes that begins here ends; none where something in it would be expanded.
    fn quote_end(&self, quote: u8) -> Option<usize> {
        let start = self.at + 1;
        let rest = self.text.as_bytes().get(start..)?;
        let length = rest.iter().position(|byte| *byte == quote)?;
        let expands = |byte: &u8| {
            byte.is_ascii_control() || (quote == b'"' && matches!(byte, b'$' | b'`' | b'\\' | b'!'))
        };
        let is_plain = !rest.iter().take(length).any(expands);
        is_plain.then_some(start + length + 1)
    }

    fn takes(&mut self, operator: &str) -> bool {
        self.skip_spaces();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_there = rest.starts_with(operator);
        if is_there {
            self.at += operator.len();
        }
        is_there
    }

    fn is_at_pipe(&mut self) -> bool {
        self.skip_spaces();
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        rest.first() == Some(&b'|') && !matches!(rest.get(1), Some(b'|' | b'&'))
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_spaces();
        self.next_byte().is_none()
    }

    fn skip_spaces(&mut self) {
        while self.next_byte() == Some(b' ') {
            self.at += 1;
        }
    }

    fn next_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// Whether a character stands for itself wherever it stands in a word. `=` may begin an assignment, which is looked for.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'.'
                | b'/'
                | b':'
                | b'='
                | b'@'
                | b'%'
                | b'+'
                | b','
                | b'-'
                | b'~'
                | b'*'
                | b'?'
        )
}

fn join(left: Node, operator: ListOperator, right: Node) -> Node {
    let items = vec![
        ListItem {
            command: left,
            operator: Some(operator),
        },
        ListItem {
            command: right,
            operator: None,
        },
    ];
    Node::empty(NodeKind::List { items })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a node says, but for places and the parts of words; none where it is of another kind.
    fn said(node: &Node) -> Option<String> {
        let all = |nodes: &[Node]| nodes.iter().map(said).collect::<Option<Vec<_>>>();
        Some(match &node.kind {
            NodeKind::Word { value, .. } => format!("{value:?}"),
            NodeKind::Command {
                assignments,
                words,
                redirects,
            } if assignments.is_empty() && redirects.is_empty() => {
                format!("({})", all(words)?.join(" "))
            }
            NodeKind::Pipeline {
                commands,
                separators,
            } => {
                format!("[{} {separators:?}]", all(commands)?.join(" | "))
            }
            NodeKind::List { items } => {
                let one = |item: &ListItem| {
                    said(&item.command).map(|said| format!("{said} {:?}", item.operator))
                };
                format!(
                    "<{}>",
                    items
                        .iter()
                        .map(one)
                        .collect::<Option<Vec<_>>>()?
                        .join("; ")
                )
            }
            _ => return None,
        })
    }

    /// Whether a text is plain; where it is, it must be what the whole parser says it is.
    fn is_read_alike(text: &str) -> bool {
        let Some(nodes) = parse(text) else {
            return false;
        };
        for is_extended in [false, true] {
            let whole = rable::parse(text, is_extended).unwrap();
            let (plain, whole): (Vec<_>, Vec<_>) = (
                nodes.iter().map(said).collect(),
                whole.iter().map(said).collect(),
            );
            assert!(plain.iter().all(Option::is_some), "{text}");
            assert_eq!(plain, whole, "{text}");
        }
        true
    }

    #[test]
    fn everyday_commands_are_plain() {
        for text in [
            "cargo test",
            " cargo  test --workspace && git status --short | head -20 ",
            "git commit -m 'Fix (the) $thing' || echo \"it's bad\"; ls *.rs ~/x;",
            "a --b='c d' d='e'x\"f\" | g",
        ] {
            assert!(is_read_alike(text), "{text}");
        }
    }

    #[test]
    fn what_means_more_is_left_to_the_whole_parser() {
        for text in [
            "",
            " ",
            ";",
            "a &",
            "a &&",
            "| a",
            "a |& b",
            "a > b",
            "a $b",
            "a `b`",
            "a # b",
            "a\nb",
            "x=1 a",
            "if a",
            "time a",
            "a | time b",
            "! a",
            "{ a; }",
            "(a)",
            "[ a ]",
            "a \\b",
            "a \"$b\"",
            "a 'b",
            "a;;b",
            "a <(b)",
            "a {b,c}",
            "é",
            "a ; ; b",
            "a & b",
            "f() a",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_plain_line_is_read_as_the_whole_parser_reads_it(
            text in "(cargo|test|a|b=c|-x|--y=z|[0-9]|time|if|then|do|done|in|for|function|select|coproc|\\[|\\]|~|@|\\*|\\?|\\+|\
                     %|:|,|/|\\.|'it #\\$ \\(x'|\"it's; \\| &\"|'|\"|é|!|=| | | | |\\|\\||\\||&&|&|;|>|<|#|\\(|\\)|\\{|\\}|\\$|\n){0,16}"
        ) {
            is_read_alike(&text);
        }

        #[test]
        fn most_lines_of_words_and_operators_are_plain(
            text in "([a-z./-]{1,6}( [a-z0-9_.,:=@%+~*?/-]{1,8}| '[a-z $()#;|&<>!\\\\]{0,8}'| \"[a-z ()#;|&<>']{0,8}\"){0,4}( && | \\|\\| | \\| |; |;|\\||&&)){0,3}ls"
        ) {
            is_read_alike(&text);
        }
    }
}
