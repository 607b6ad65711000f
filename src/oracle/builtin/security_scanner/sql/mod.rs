//! Finds SQL that is put together from values, on the syntax tree: a string that is built flows into a query.
//!
//! The grammars are the feature `languages`. Without it a source that may hold SQL is not judged, which is said.

mod filter;
#[cfg(feature = "languages")]
mod tree;

use crate::oracle::OracleError;

/// The largest file that is parsed; larger ones are generated.
const MAX_SOURCE: usize = 2 << 20;

/// A query that is put together from values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Injection {
    /// The line of the call that runs the query, from 1.
    pub(super) line: u32,
    /// The last line of that call.
    pub(super) last_line: u32,
    /// The line on which the value comes in.
    pub(super) built: u32,
}

/// A language that can be looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    JavaScript,
    TypeScript,
    Tsx,
    Go,
    Java,
    Rust,
    Php,
}

impl Language {
    /// Returns the language of a file, by its name.
    pub(super) fn of(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        Some(match extension {
            "py" | "pyi" => Self::Python,
            "js" | "mjs" | "cjs" | "jsx" => Self::JavaScript,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "go" => Self::Go,
            "java" => Self::Java,
            "rs" => Self::Rust,
            "php" => Self::Php,
            _ => return None,
        })
    }
}

/// Finds the injections in a source file, or in a part of one.
///
/// # Errors
/// It may hold SQL, and this build has no grammars.
#[cfg_attr(
    feature = "languages",
    expect(
        clippy::unnecessary_wraps,
        unused_variables,
        reason = "a build without grammars cannot tell, and says of which file"
    )
)]
pub(super) fn scan(
    language: Language,
    path: &str,
    source: &str,
) -> Result<Vec<Injection>, OracleError> {
    // Most files run no query at all: that is seen without parsing.
    if source.len() > MAX_SOURCE || !filter::may_hold_sql(source) {
        return Ok(Vec::new());
    }
    #[cfg(feature = "languages")]
    return Ok(tree::scan(language, source));
    #[cfg(not(feature = "languages"))]
    Err(OracleError::CannotTell(format!(
        "`{path}` may hold SQL, and this build judges no SQL in code: {language:?} needs the feature `languages`"
    )))
}

#[cfg(feature = "languages")]
#[cfg(test)]
mod tests;

#[cfg(not(feature = "languages"))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_that_cannot_be_judged_is_told_and_other_code_passes() {
        let told = scan(
            Language::Python,
            "a.py",
            "db.execute(f\"SELECT * FROM t WHERE id = {x}\")\n",
        );
        assert!(matches!(told, Err(OracleError::CannotTell(why)) if why.contains("`languages`")));
        assert_eq!(
            scan(Language::Python, "a.py", "print(1)\n").ok(),
            Some(Vec::new())
        );
    }
}
