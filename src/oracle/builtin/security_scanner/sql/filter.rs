//! Filter: whether a source can hold SQL that is put together, seen from its words alone, for parsing takes a hundred times as
//! long. What [`super::call::is_sql`] would call SQL is let through wherever it may stand in a string.

use std::sync::OnceLock;

use regex::Regex;

use crate::secret::{Hit, Words};

/// Words with which SQL begins; those with which it goes on; and how functions end that take a part of it.
const WORDS: [(&str, u16); 30] = numbered([
    "select ",
    "select\n",
    "select\t",
    "select\r",
    "select\\",
    "replace",
    "update",
    "drop",
    "create",
    "alter",
    "truncate",
    "merge",
    "with",
    "call",
    "exec",
    "grant",
    "use",
    "explain",
    "insert",
    "delete",
    "union",
    "where",
    "from",
    "order",
    "byraw",
    "fromraw",
    "havingraw",
    "joinraw",
    "selectraw",
    "whereraw",
]);
const FIRST_THAT_GOES_ON: u16 = 18;
const FIRST_THAT_ONLY_GOES_ON: u16 = 20;
const FIRST_FUNCTION: u16 = 24;

static FINDER: Words<{ WORDS.len() }> = Words::new(&WORDS);

/// Gives each word its own number.
#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "it is run by the compiler, which would tell; there are few words"
)]
const fn numbered<const N: usize>(words: [&'static str; N]) -> [(&'static str, u16); N] {
    let mut owned = [("", 0); N];
    let mut at = 0;
    while at < N {
        owned[at] = (words[at], at as u16);
        at += 1;
    }
    owned
}

/// What a text may begin with; between two words there may be the end of one string and the start of the next.
const BEGINS: &str = r#"(?is)^(?:select|(?:insert|replace|merge)[\s\\].*?\binto\b|delete[\s\\].*?\bfrom\b|(?:drop|create|alter|truncate)[\s\\].*?\b(?:table|database|index|view|user|role|schema|trigger|procedure|function)|with[\s\\].*?\bas\s*\(|call(?:\\|\s+\S*["'`{$%\\]|\s+\S+\s*[("'`{$%\\])|exec(?:ute)?[\s\\]|use\s+(?:["']|`\s*[+.,)]|[^\s'"`]+['"`])|explain[\s\\].*?select)"#;

/// The same, where more may stand between two words.
const BEGINS_FAR: &str = r"(?is)^(?:update[\s\\].*?\bset\b|grant[\s\\].*?\bto\b)";

/// What may stand anywhere in a text.
const GOES_ON: &str = r#"(?is)^(?:union[\s\\].*?\bselect\b|insert\s+into\s|delete[\s\\]+from\s|where\s+\S+\s*(?:=|<|>|!=|\blike\b|\bin\b|\bis\b|\bbetween\b)|where\s*['"`]|from\s+\S+\s+where\s|order\s+by\s|(?:by|from|having|join|select|where)raw\s*[(<])"#;

/// How far what belongs together may lie apart, in bytes.
const NEAR: usize = 160;
const FAR: usize = 600;

struct Filter {
    begins: Regex,
    begins_far: Regex,
    goes_on: Regex,
}

/// Whether a source may hold SQL in a string.
pub(super) fn may_hold_sql(source: &str) -> bool {
    static FILTER: OnceLock<Option<Filter>> = OnceLock::new();
    let filter = FILTER.get_or_init(|| {
        Some(Filter {
            begins: Regex::new(BEGINS).ok()?,
            begins_far: Regex::new(BEGINS_FAR).ok()?,
            goes_on: Regex::new(GOES_ON).ok()?,
        })
    });
    filter.as_ref().is_none_or(|filter| {
        let mut words = FINDER.find_iter(source.as_bytes());
        words.any(|word| filter.may_begin_or_go_on(&word, source))
    })
}

impl Filter {
    fn may_begin_or_go_on(&self, word: &Hit, source: &str) -> bool {
        let from_here = |length| {
            let end = source.floor_char_boundary(word.start + length);
            source.get(word.start..end).unwrap_or_default()
        };
        let before = source.get(..word.start).unwrap_or_default();
        let number = word.owner;
        let begins = || {
            number < FIRST_THAT_ONLY_GOES_ON
                && begins_text(before.as_bytes())
                && (self.begins.is_match(from_here(NEAR))
                    || self.begins_far.is_match(from_here(FAR)))
        };
        let goes_on = || {
            number >= FIRST_THAT_GOES_ON
                && (number >= FIRST_FUNCTION || begins_word(before.as_bytes()))
                && self.goes_on.is_match(from_here(FAR))
        };
        let candidate = (begins() && !is_directive(from_here(NEAR))) || goes_on();
        candidate && !is_comment(before)
    }
}

/// Whether a text is a directive of JavaScript, such as `use strict`, and nothing is put behind it.
fn is_directive(text: &str) -> bool {
    let directive = text.strip_prefix("use ").unwrap_or_default();
    ["strict", "client", "server", "asm"].iter().any(|name| {
        let after = directive.strip_prefix(name).unwrap_or_default();
        let after = after.strip_prefix(['"', '\'']).map(str::trim_start);
        after.is_some_and(|after| !after.starts_with(['+', '.', ',', ')']))
    })
}

/// Whether nothing but signs, escapes and what is put in stands between here and the start of a string.
fn begins_text(before: &[u8]) -> bool {
    let mut rest = before;
    loop {
        rest = match rest {
            [] | [.., b'"' | b'\'' | b'`'] => return true,
            [head @ .., b'\\', b'n' | b'r' | b't'] => head,
            // `{table}` and `${table}`: what is put in.
            [head @ .., b'}'] => match memchr::memrchr(b'{', head) {
                Some(open) => head.get(..open).unwrap_or_default(),
                None => head,
            },
            [head @ .., last] if !last.is_ascii_alphanumeric() && *last != b'_' => head,
            _ => return opens_heredoc(rest),
        };
    }
}

/// Whether a word begins here, or may begin because what stands before it is an escape or what is put in.
fn begins_word(before: &[u8]) -> bool {
    let tail = before
        .len()
        .checked_sub(6)
        .and_then(|at| before.get(at..))
        .unwrap_or(before);
    let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
    before.last().is_none_or(is_sign) || tail.iter().any(|byte| matches!(byte, b'\\' | b'%'))
}

/// Whether a text ends with the line that opens a heredoc of PHP: `<<<SQL`.
fn opens_heredoc(text: &[u8]) -> bool {
    let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
    let name = text.iter().rposition(is_sign).map_or(0, |at| at + 1);
    text.get(..name).is_some_and(|text| text.ends_with(b"<<<"))
}

/// Whether the line that ends here is a comment, as far as its beginning tells.
fn is_comment(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    line.starts_with("//") || line.starts_with("* ")
}

#[cfg(test)]
mod tests {
    use super::{FIRST_FUNCTION, FIRST_THAT_GOES_ON, FIRST_THAT_ONLY_GOES_ON, WORDS, may_hold_sql};

    #[test]
    fn what_can_be_sql_in_a_string_is_let_through() {
        for source in [
            r#"db.query("SELECT " + columns + " FROM t")"#,
            r#"x = f"{prefix} select 1""#,
            r#"x = "\n\tselect 1 from t""#,
            "const sql = `\n  SELECT *\n  FROM t`;",
            r#"sql = "UPDATE " + table + " SET a = 1""#,
            r#"sql = base + " where id = " + id"#,
            r#"sql = base + " where " + condition"#,
            r#"sql = f"{base} ORDER BY {column}""#,
            "$sql = <<<SQL\nDELETE FROM t WHERE a = $a\nSQL;",
            r#"q = "/* all */ insert into t values (" + v + ")""#,
            "q.orderByRaw(`${column} desc`)",
            "   union select password from users where a = \" + a",
            r#"sql = "use " + database"#,
            r#"sql = "use strict" + database"#,
            "sql := `use ` + database",
            r#"sql = "call " + name + "(1)""#,
            r#"sql = "delete" + " from t where a = " + a"#,
            r#"sql = "with " + name + " as (select 1)""#,
        ] {
            assert!(may_hold_sql(source), "held back: {source}");
        }
    }

    #[test]
    fn words_are_in_the_order_that_their_numbers_tell() {
        assert_eq!(WORDS[usize::from(FIRST_THAT_GOES_ON)].0, "insert");
        assert_eq!(WORDS[usize::from(FIRST_THAT_ONLY_GOES_ON)].0, "union");
        assert_eq!(WORDS[usize::from(FIRST_FUNCTION)].0, "byraw");
    }

    #[test]
    fn prose_and_names_are_not() {
        for source in [
            "mod a;\n// Creates a table where x = 1 is the first row, and drop it.",
            "mod a;\n/// Select the update that is used with the call.",
            "mod a;\nfn update(&mut self) { self.create(); self.drop(\"drop it\") }",
            "mod a;\nuse std::fmt;\nlet from = call(where_from);",
            "assert_eq!(text, \"selected\");",
            "'use strict'\n\nconst a = 1",
            "\"use strict\";var a",
            "throw new Error('somewhere'); elsewhere 'a'",
            "list.remove(ListEntry::as_raw(&entry));",
            "#[deprecated(note = \"use `other` in its place\")]",
            "let text = text.replace(\"~1\", \"into\");",
        ] {
            assert!(!may_hold_sql(source), "let through: {source}");
        }
    }
}
