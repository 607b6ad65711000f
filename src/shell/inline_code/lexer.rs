//! Lexer: the names, texts, patterns and marks of inline code, read strictly: what it cannot read is not known to read.

use super::Language;

/// A part of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or a number; in JavaScript with its `$`.
    Name(String),
    /// A variable with its sign: `$x`, `@list`.
    Variable(String),
    /// A literal text or pattern.
    Text(String),
    /// Any other character; a line's end too, other blanks not.
    Mark(char),
}

impl Token {
    pub(super) fn is(&self, mark: char) -> bool {
        *self == Self::Mark(mark)
    }
}

/// Returns the tokens of code, and the pieces of code that stand within its texts; none where it cannot be read, or
/// gives a text to a shell.
pub(super) fn tokens(language: Language, code: &str) -> Option<(Vec<Token>, Vec<String>)> {
    let mut lexer = Lexer {
        language,
        chars: code.chars().collect(),
        at: 0,
        tokens: Vec::new(),
        inner: Vec::new(),
    };
    while lexer.step()? {}
    Some((lexer.tokens, lexer.inner))
}

struct Lexer {
    language: Language,
    chars: Vec<char>,
    at: usize,
    tokens: Vec<Token>,
    inner: Vec<String>,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn is_one_of(&self, languages: &[Language]) -> bool {
        languages.contains(&self.language)
    }

    /// Reads one token; false at the end.
    fn step(&mut self) -> Option<bool> {
        use Language::{Awk, JavaScript, Lua, Perl, Php, Python, Ruby};
        let Some(c) = self.peek(0) else {
            return Some(false);
        };
        let next = self.peek(1);
        let has_signs = self.is_one_of(&[Perl, Php, Ruby]);
        match c {
            '\n' => self.mark(c),
            c if c.is_whitespace() => self.at += 1,
            '#' if self.is_one_of(&[Python, Ruby, Php, Awk, Perl]) => self.skip_line(),
            '/' if next == Some('/') && self.is_one_of(&[JavaScript, Php]) => self.skip_line(),
            '-' if next == Some('-') && self.language == Lua => self.skip_line(),
            '/' if next == Some('*') && self.is_one_of(&[JavaScript, Php]) => {
                self.skip_comment()?;
            }
            '`' if self.language == JavaScript => self.text('`', true)?,
            '`' => return None,
            '"' | '\'' => {
                if c == '\'' && self.language == Awk {
                    return None;
                }
                self.text(c, c == '"' && has_signs)?;
            }
            '/' if self.is_one_of(&[Awk, JavaScript, Perl, Ruby]) && self.may_start() => {
                self.at += 1;
                let pattern = self.delimited('/', '/')?;
                self.interpolated(&pattern)?;
                self.skip_letters();
                self.tokens.push(Token::Text(pattern));
            }
            '%' if self.language == Ruby && self.may_start() => return None,
            '$' | '@' if has_signs => self.variable(c),
            '%' if self.language == Perl && self.may_start() => self.variable(c),
            c if c.is_alphanumeric() || c == '_' || (c == '$' && self.language == JavaScript) => {
                self.name()?;
            }
            c => self.mark(c),
        }
        Some(true)
    }

    fn mark(&mut self, mark: char) {
        self.tokens.push(Token::Mark(mark));
        self.at += 1;
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) -> Option<()> {
        self.at += 2;
        while !(self.peek(0)? == '*' && self.peek(1) == Some('/')) {
            self.at += 1;
        }
        self.at += 2;
        Some(())
    }

    fn skip_letters(&mut self) -> String {
        let mut letters = String::new();
        while let Some(c) = self.peek(0).filter(char::is_ascii_alphabetic) {
            letters.push(c);
            self.at += 1;
        }
        letters
    }

    /// Whether a value begins here, so that `/` begins a pattern and divides nothing.
    fn may_start(&self) -> bool {
        const OPERATORS: &[&str] = &[
            "and", "case", "elsif", "grep", "if", "map", "not", "or", "print", "return", "split",
            "unless", "until", "when", "while",
        ];
        match self.tokens.last() {
            None => true,
            Some(Token::Name(name)) => OPERATORS.contains(&name.as_str()),
            Some(Token::Mark(mark)) => !matches!(mark, ')' | ']'),
            Some(Token::Variable(_) | Token::Text(_)) => false,
        }
    }

    fn variable(&mut self, sign: char) {
        let mut name = String::from(sign);
        self.at += 1;
        while let Some(c) = self.peek(0).filter(|c| matches!(c, '$' | '@' | '#')) {
            name.push(c);
            self.at += 1;
        }
        let is_special = self.peek(0).is_some_and(|c| "!&0;,./\\|".contains(c)) && name == "$";
        if is_special && self.language == Language::Perl {
            name.extend(self.peek(0));
            self.at += 1;
        }
        while let Some(c) = self.peek(0).filter(|c| c.is_alphanumeric() || *c == '_') {
            name.push(c);
            self.at += 1;
        }
        self.tokens.push(Token::Variable(name));
    }

    fn name(&mut self) -> Option<()> {
        let mut name = String::new();
        let is_part = |c: &char| c.is_alphanumeric() || *c == '_' || *c == '$';
        while let Some(c) = self.peek(0).filter(is_part) {
            name.push(c);
            self.at += 1;
        }
        // Ruby's names may end with a mark.
        if self.language == Language::Ruby
            && let Some(c @ ('?' | '!')) = self.peek(0)
            && self.peek(1) != Some('=')
        {
            name.push(c);
            self.at += 1;
        }
        let next = self.peek(0);
        let is_prefix = name.len() <= 2 && name.chars().all(|c| "rbfuRBFU".contains(c));
        if self.language == Language::Python && is_prefix && matches!(next, Some('"' | '\'')) {
            let quote = next?;
            return self.text(quote, name.to_lowercase().contains('f'));
        }
        let quotes = ["m", "q", "qq", "qr", "qw", "qx", "s", "tr", "y"];
        let is_quote = self.language == Language::Perl
            && quotes.contains(&name.as_str())
            && next.is_some_and(|c| {
                !c.is_alphanumeric() && !c.is_whitespace() && !"=,;)}".contains(c)
            })
            && !self
                .tokens
                .last()
                .is_some_and(|token| token.is('>') || token.is('{'));
        if is_quote {
            return self.quoted(&name);
        }
        if name == "__END__" {
            return None;
        }
        self.tokens.push(Token::Name(name));
        Some(())
    }

    /// Reads `s/a/b/e`, `q(text)` and their like.
    fn quoted(&mut self, kind: &str) -> Option<()> {
        if kind == "qx" {
            return None;
        }
        let open = self.peek(0)?;
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        self.at += 1;
        let first = self.delimited(open, close)?;
        let mut second = None;
        if matches!(kind, "s" | "tr" | "y") {
            if open != close {
                while self.peek(0)?.is_whitespace() {
                    self.at += 1;
                }
                self.at += 1;
            }
            second = Some(self.delimited(open, close)?);
        }
        let flags = self.skip_letters();
        if !matches!(kind, "q" | "qw" | "tr" | "y") {
            self.interpolated(&first)?;
            if let Some(second) = second.filter(|_| kind == "s") {
                if flags.contains('e') {
                    self.inner.push(second);
                } else {
                    self.interpolated(&second)?;
                }
            }
        }
        self.tokens.push(Token::Text(first));
        Some(())
    }

    /// Returns the text up to the closing sign, and goes behind it.
    fn delimited(&mut self, open: char, close: char) -> Option<String> {
        let mut text = String::new();
        let mut depth = 0_usize;
        loop {
            let c = self.peek(0)?;
            self.at += 1;
            if c == '\\' {
                text.push(c);
                text.extend(self.peek(0));
                self.at += 1;
                continue;
            }
            if c == close && depth == 0 {
                return Some(text);
            }
            if open != close {
                depth += usize::from(c == open);
                depth -= usize::from(c == close);
            }
            text.push(c);
        }
    }

    /// Reads a text between quotes, three of them in Python too.
    fn text(&mut self, quote: char, is_interpolated: bool) -> Option<()> {
        self.at += 1;
        let is_triple = self.language == Language::Python
            && self.peek(0) == Some(quote)
            && self.peek(1) == Some(quote);
        let mut text = String::new();
        if is_triple {
            self.at += 2;
            while !(0..3).all(|ahead| self.peek(ahead) == Some(quote)) {
                text.push(self.peek(0)?);
                self.at += 1;
            }
            self.at += 3;
        } else {
            text = self.delimited(quote, quote)?;
        }
        if is_interpolated {
            self.interpolated(&text)?;
        }
        self.tokens.push(Token::Text(text));
        Some(())
    }

    /// Takes the code out of a text: `{x}` in Python and PHP, `${x}`, `#{x}`, `@{[ x ]}`.
    fn interpolated(&mut self, text: &str) -> Option<()> {
        let chars: Vec<char> = text.chars().collect();
        let is_code = |at: usize| {
            let before = at.checked_sub(1).and_then(|at| chars.get(at)).copied();
            match self.language {
                Language::Python => true,
                Language::Php => before == Some('$') || chars.get(at + 1) == Some(&'$'),
                Language::Ruby => before == Some('#'),
                Language::JavaScript => before == Some('$'),
                Language::Perl => matches!(before, Some('$' | '@')),
                _ => false,
            }
        };
        let mut found = Vec::new();
        let mut start: Option<usize> = None;
        let mut depth = 0_usize;
        for (at, c) in chars.iter().enumerate() {
            match (*c, start) {
                ('{', None) if is_code(at) => start = Some(at + 1),
                ('{', Some(_)) => depth += 1,
                ('}', Some(_)) if depth > 0 => depth -= 1,
                ('}', Some(from)) => {
                    found.push(chars.get(from..at)?.iter().collect());
                    start = None;
                }
                _ => {}
            }
        }
        self.inner.extend(found);
        start.is_none().then_some(())
    }
}
