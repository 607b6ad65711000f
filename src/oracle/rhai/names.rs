//! Names: what a script calls or reads and nothing has, found without running it.

use std::collections::BTreeSet;

use rhai::{AST, ASTNode, Engine, Expr, ParseErrorType, Position, Stmt};

use super::{api, wording};

/// The functions that the language itself has: of the packages in `sandbox`, and those that the interpreter knows.
const LANGUAGE: &str = "
    Fn call curry debug is_def_fn is_def_var is_shared print type_of
    E PI acos acosh all append asin asinh atan atanh bits bytes ceiling chars chop clear contains cos cosh crop
    debug dedup drain end ends_with exit exp extract fill_with filter find find_map floor for_each fraction get
    hypot index_of insert int is_empty is_exclusive is_finite is_inclusive is_infinite is_nan keys len ln log
    make_lower make_upper map max min mixin order order_by order_desc pad parse_float parse_int parse_json pop
    print push range reduce reduce_rev remove replace retain reverse round set set_tag shift sin sinh sleep some
    sort sort_by sort_desc splice split split_rev sqrt start starts_with sub_string tag take tan tanh to_binary
    to_blob to_chars to_debug to_degrees to_float to_hex to_int to_json to_lower to_octal to_radians to_string
    to_upper trim truncate values zip
";

/// A name that nothing has.
#[derive(Clone, Debug)]
pub(super) struct UnknownName {
    pub(super) told: String,
    pub(super) position: Position,
}

/// Finds the functions that a script calls and that are nowhere, and the first variable that it reads and never sets.
pub(super) fn unknown(source: &str, ast: &AST) -> Vec<UnknownName> {
    let mut known: BTreeSet<&str> = LANGUAGE
        .split_ascii_whitespace()
        .chain(api::names())
        .collect();
    for function in ast.iter_functions() {
        known.insert(function.name);
        // A variable may hold a function.
        known.extend(function.params);
    }
    known.extend(wording::words_behind(source, &["let", "for"]));
    let mut found = Vec::new();
    ast.walk(&mut |path| {
        if let Some((name, position)) = path.last().and_then(call)
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && !known.contains(name)
            // So may a key of a map.
            && !source.contains(&format!("{name}:"))
        {
            let told = wording::no_such_function(source, name, name);
            found.push(UnknownName { told, position });
        }
        true
    });
    // The interpreter looks at variables before the run only where it is told to be strict, which forbids facts in an `expr:`.
    let mut strict = Engine::new_raw();
    strict.set_strict_variables(true);
    strict.set_max_expr_depths(64, 32);
    if let Err(error) = strict.compile(source)
        && let ParseErrorType::VariableUndefined(name) = error.err_type()
    {
        let told = wording::no_variable(source, name);
        found.push(UnknownName {
            told,
            position: error.position(),
        });
    }
    found
}

/// Returns the name of a function that is called here.
fn call<'a>(node: &ASTNode<'a>) -> Option<(&'a str, Position)> {
    match node {
        ASTNode::Expr(Expr::FnCall(call, at) | Expr::MethodCall(call, at))
        | ASTNode::Stmt(Stmt::FnCall(call, at))
            if !call.is_qualified() =>
        {
            Some((call.name.as_str(), *at))
        }
        _ => None,
    }
}
