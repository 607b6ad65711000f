//! Names that code gives to literals: in `for d in ["a", "b"]: rmtree(d)` both folders are removed.

use std::borrow::Cow;

use super::Language;
use super::substitution::{Bindings, Value, replaced};
use super::tokens::{Kind, Token, tokens};

/// How many items of a list are looked at.
const MAX_ITEMS: usize = 32;

/// Returns code with what its names stand for in their places, once for each of the values that a loop goes through.
pub(super) fn variants(language: Language, code: &str) -> Vec<Cow<'_, str>> {
    use Language::{JavaScript, Julia, Lua, Perl, Php, Python, Ruby};
    let is_known = matches!(
        language,
        JavaScript | Julia | Lua | Perl | Php | Python | Ruby
    );
    if !is_known || !code.contains(['=', '[', '(']) {
        return vec![Cow::Borrowed(code)];
    }
    let tokens = tokens(language, code);
    let (bindings, sites) = bindings(&tokens);
    if bindings.is_empty() {
        return vec![Cow::Borrowed(code)];
    }
    let count = bindings.values().map(Vec::len).max().unwrap_or(1);
    (0..count.min(MAX_ITEMS))
        .map(|number| Cow::Owned(replaced(language, code, &tokens, &bindings, &sites, number)))
        .collect()
}

/// Returns what the names of some code stand for, and at which tokens they are told so.
fn bindings<'a>(tokens: &[Token<'a>]) -> (Bindings<'a>, Vec<usize>) {
    let mut found = Bindings::new();
    let mut sites = Vec::new();
    let mut open = Vec::new();
    let functions = functions(tokens, &mut sites);
    for at in 0..tokens.len() {
        let Some(rest) = tokens.get(at..) else { break };
        match rest.first().map(|token| &token.kind) {
            Some(Kind::Sign(c @ ('(' | '[' | '{'))) => open.push(*c),
            Some(Kind::Sign(')' | ']' | '}')) => {
                open.pop();
            }
            _ => {}
        }
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let is_member = before.is_some_and(|before| before.is('.'));
        // `children(".")` is a call, and `of["x"]` a part of something.
        let is_operand = before.is_some_and(|before| {
            matches!(before.kind, Kind::Name(_)) || before.is(')') || before.is(']')
        });
        let is_listed = matches!(rest.first(), Some(token) if token.is('(') || token.is('['));
        let in_call = matches!(open.last(), Some('(' | '['));
        let looped = loop_of(rest, &found).filter(|_| !(is_operand && is_listed));
        let told = looped.or_else(|| {
            let assigned = assignment(rest, &found).filter(|_| !is_member && !in_call);
            assigned.map(|value| (0, vec![value]))
        });
        let mut add = |name: &'a str, values: Vec<Value>| {
            let known: &mut Vec<Value> = found.entry(name).or_default();
            for value in values {
                if !known.contains(&value) {
                    known.push(value);
                }
            }
        };
        if let Some((offset, values)) = told
            && let Some(Kind::Name(name)) = tokens.get(at + offset).map(|token| &token.kind)
        {
            sites.push(at + offset);
            add(name, values);
            continue;
        }
        let Some(Kind::Name(called)) = rest.first().map(|token| &token.kind) else {
            continue;
        };
        let of_it = functions
            .iter()
            .filter(|(name, ..)| name == called && !is_member);
        for (parameter, value) in of_it.flat_map(|(_, parameters)| given(rest, parameters)) {
            add(parameter, vec![value]);
        }
    }
    (found, sites)
}

/// Returns the functions that some code defines, each with its parameters, and notes where these stand.
fn functions<'a>(tokens: &[Token<'a>], sites: &mut Vec<usize>) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let defines = ["def", "function", "sub"]
            .iter()
            .any(|word| token.is_name(word));
        let begin = tokens.get(at + 1).zip(tokens.get(at + 2));
        let (name, mut next) = match (&token.kind, begin) {
            // `const run = (command) => …`
            (Kind::Name(name), Some((equals, open))) if equals.is('=') && open.is('(') => {
                (*name, at + 3)
            }
            (
                _,
                Some((
                    Token {
                        kind: Kind::Name(name),
                        ..
                    },
                    open,
                )),
            ) if defines && open.is('(') => (*name, at + 3),
            _ => continue,
        };
        let mut parameters = Vec::new();
        let mut places = Vec::new();
        while let Some(token) = tokens.get(next).filter(|token| !token.is(')')) {
            let begins = tokens.get(next - 1).is_some_and(|t| t.is('(') || t.is(','));
            if let (Kind::Name(parameter), true) = (&token.kind, begins) {
                parameters.push(*parameter);
                places.push(next);
            }
            next += 1;
        }
        let is_arrow = tokens.get(next + 1).is_some_and(|t| t.is('='))
            && tokens.get(next + 2).is_some_and(|t| t.is('>'));
        if defines || is_arrow {
            sites.extend(places);
            found.push((name, parameters));
        }
    }
    found
}

/// Returns the literal values that a call gives to parameters.
fn given<'a>(call: &[Token<'a>], parameters: &[&'a str]) -> Vec<(&'a str, Value)> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut parameters = parameters.iter();
    for (at, token) in call.iter().enumerate().skip(1) {
        match token.kind {
            Kind::Sign('(' | '[' | '{') => depth += 1,
            Kind::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ if depth == 0 => break,
            _ => {}
        }
        let begins = depth == 1 && (token.is('(') || token.is(','));
        if depth == 0 || begins && parameters.len() == 0 {
            break;
        }
        let rest = call.get(at + 1..).unwrap_or_default();
        let value = value(rest, &Bindings::new()).filter(|_| begins);
        let ends = |length: usize| rest.get(length).is_some_and(|t| t.is(',') || t.is(')'));
        let parameter = if begins { parameters.next() } else { None };
        if let (Some(parameter), Some((value, length))) = (parameter, value)
            && ends(length)
        {
            found.push((*parameter, value));
        }
    }
    found
}

/// Returns the value that the name at the begin of some tokens is assigned, where nothing else belongs to it.
fn assignment<'a>(tokens: &[Token<'a>], known: &Bindings<'a>) -> Option<Value> {
    let [name, equals, rest @ ..] = tokens else {
        return None;
    };
    if !matches!(name.kind, Kind::Name(_)) || !equals.is('=') {
        return None;
    }
    let (value, length) = value(rest, known)?;
    let ends = rest.get(length).is_none_or(|next| {
        let signs = ['\n', ';', '}', ','];
        signs.iter().any(|sign| next.is(*sign))
    });
    ends.then_some(value)
}

/// Returns at which token the variable of a loop stands, counted from the first, and what it goes through.
fn loop_of<'a>(tokens: &[Token<'a>], known: &Bindings<'a>) -> Option<(usize, Vec<Value>)> {
    let items = |at: usize| {
        let (found, length) = value(tokens.get(at..)?, known)?;
        match found {
            Value::List(items) if !items.is_empty() => Some((items, at + length)),
            _ => None,
        }
    };
    let is = |at: usize, sign: char| tokens.get(at).is_some_and(|token| token.is(sign));
    let named = |at: usize, names: &[&str]| {
        let token = tokens.get(at);
        token.is_some_and(|token| names.iter().any(|name| token.is_name(name)))
    };
    if named(0, &["for", "foreach"]) {
        let mut at = 1 + usize::from(is(1, '('));
        // PHP names the list first.
        if let Some((found, next)) = items(at).filter(|(_, next)| named(*next, &["as"])) {
            return Some((next + 1, found));
        }
        at += usize::from(named(at, &["const", "let", "var", "my", "our"]));
        // Lua counts first: `for _, d in ipairs({…})`.
        at += 2 * usize::from(is(at + 1, ','));
        let mut list = at + 1 + usize::from(named(at + 1, &["in", "of"]));
        if named(
            list,
            &[
                "ipairs", "each", "sorted", "reversed", "set", "list", "tuple",
            ],
        ) {
            list += 2;
        }
        return items(list).map(|(found, _)| (at, found));
    }
    // `[…].forEach(d => …)`, `%w[…].each { |d| … }`
    let (found, next) = items(0)?;
    let calls = ["forEach", "map", "each", "for_each", "flatMap"];
    if !is(next, '.') || !named(next + 1, &calls) {
        return None;
    }
    let mut at = next + 2;
    while is(at, '(') || is(at, '{') || is(at, '|') || named(at, &["do", "async", "function"]) {
        at += 1;
    }
    Some((at, found))
}

/// Returns the literal value that some tokens begin with, and how many tokens it takes.
fn value<'a>(tokens: &[Token<'a>], known: &Bindings<'a>) -> Option<(Value, usize)> {
    match &tokens.first()?.kind {
        Kind::Text(text, false) => Some((Value::Text(text.clone()), 1)),
        Kind::Text(text, true) => {
            let is_plain = !text.contains(['{', '$', '#']);
            is_plain.then(|| (Value::Text(text.clone()), 1))
        }
        Kind::Words(words) => {
            let words = words.iter().map(|word| Value::Text((*word).to_owned()));
            Some((Value::List(words.collect()), 1))
        }
        Kind::Name(name) => match known.get(name)?.as_slice() {
            [one] => Some((one.clone(), 1)),
            _ => None,
        },
        Kind::Sign(open @ ('[' | '(' | '{')) => {
            let mut items = Vec::new();
            let mut at = 1;
            loop {
                let token = tokens.get(at)?;
                if token.is(']') || token.is(')') || token.is('}') {
                    let list = match items.as_slice() {
                        [Value::List(inner)] if *open == '(' => inner.clone(),
                        _ => items,
                    };
                    return Some((Value::List(list), at + 1));
                }
                if token.is('\n') || token.is(',') {
                    at += 1;
                    continue;
                }
                let (item, length) = value(tokens.get(at..)?, known)?;
                at += length;
                items.push(item);
            }
        }
        Kind::Sign(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Language, variants};

    #[test]
    fn what_is_not_a_name_for_a_literal_stays() {
        for (language, code) in [
            (Language::Python, "d = input()\nrmtree(d)"),
            (Language::Python, "f(d='x', e=d)"),
            (Language::Python, "d = 'a' + input()\nrmtree(d)"),
            (Language::Python, "# d = 'x'\nrmtree(d)"),
            (Language::JavaScript, "const d = { x: 1 }; f(d)"),
            (Language::Python, "x.d = 'a'\nrmtree(d)"),
        ] {
            assert_eq!(variants(language, code), [code]);
        }
    }
}
