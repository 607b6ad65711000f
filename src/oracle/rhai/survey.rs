//! Survey: what can be known of a script without running it.

use std::collections::{BTreeSet, HashMap};

use rhai::{AST, ASTNode, Expr, Position, Stmt};

use super::{api, context};
use crate::diagnostic::nearest;
use crate::fact::{Fact, FactSource};
use crate::signal::Intensity;

/// The configuration, as a part of the context.
const CONFIG: &str = "config";

/// A fact that a script asks for and that no event can ever have, or a key that its configuration never has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MisspeltFact {
    /// The dotted name, without the context's own.
    pub name: String,
    /// The fact that may have been meant.
    pub nearest: Option<String>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl MisspeltFact {
    fn new(name: String, nearest: Option<String>, position: Position) -> Self {
        let number = |n: Option<usize>| n.and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        Self {
            name,
            nearest,
            line: number(position.line()),
            column: number(position.position()),
        }
    }
}

/// What can be known of a script or an expression without running it.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey {
    /// Facts that do not exist.
    pub(super) misspelt: Vec<MisspeltFact>,
    /// What must be asked for the facts that are used.
    pub(super) needs: BTreeSet<FactSource>,
    /// Whether a function may read the project.
    pub(super) reads_project: bool,
    /// The names directly below the context that are used.
    pub(super) roots: BTreeSet<String>,
    /// What the script can answer.
    pub(super) intensities: BTreeSet<Intensity>,
    /// Keys of the configuration that are used, with their places.
    pub(super) config_keys: Vec<(String, Position)>,
    /// Every dotted name that is used and exists.
    pub(super) facts: BTreeSet<&'static str>,
}

impl Survey {
    /// Looks at a script whose context is the variable `context`.
    pub(super) fn of_script(ast: &AST, context: &str) -> Self {
        let mut survey = Self::default();
        // The part of the context that each variable stands for, the context itself first.
        let mut aliases = HashMap::from([(context.to_owned(), Vec::new())]);
        ast.walk(&mut |path| {
            if let Some(ASTNode::Stmt(Stmt::Var(definition, _, _))) = path.last() {
                let (ident, value, _) = &**definition;
                // `let files = ctx.files;` is the same part of the context by another name.
                let part = chain(value).filter(|chain| chain.is_whole);
                let part = part.and_then(|chain| chain.below(&aliases));
                match part.as_deref() {
                    Some([]) => aliases.insert(ident.name.to_string(), Vec::new()),
                    Some([(name, _)]) if name == CONFIG || context::section(name).is_some() => {
                        aliases.insert(ident.name.to_string(), vec![name.clone()])
                    }
                    _ => aliases.remove(ident.name.as_str()),
                };
            }
            if let Some(parts) = outermost(path).and_then(|chain| chain.below(&aliases)) {
                survey.note(&parts);
            }
            survey.visit_call(path);
            true
        });
        survey
    }

    /// Looks at an expression, whose variables are the facts themselves.
    pub(super) fn of_expression(ast: &AST) -> Self {
        let mut survey = Self::default();
        let own: BTreeSet<&str> = ast.iter_functions().flat_map(|f| f.params).collect();
        ast.walk(&mut |path| {
            if let Some(chain) = outermost(path)
                && !own.contains(chain.root)
            {
                survey.roots.insert(chain.root.to_owned());
                let root = (chain.root.to_owned(), chain.position);
                let rest = chain
                    .parts
                    .iter()
                    .map(|(name, at)| ((*name).to_owned(), *at));
                survey.note(&std::iter::once(root).chain(rest).collect::<Vec<_>>());
            }
            survey.visit_call(path);
            true
        });
        survey
    }

    fn visit_call(&mut self, path: &[ASTNode<'_>]) {
        let Some(
            ASTNode::Expr(Expr::FnCall(call, _) | Expr::MethodCall(call, _))
            | ASTNode::Stmt(Stmt::FnCall(call, _)),
        ) = path.last()
        else {
            return;
        };
        if call.name == context::MARK {
            self.facts.insert(Fact::Mark.name());
            self.needs.insert(FactSource::Session);
        }
        match call.name.as_str() {
            "signal" => {
                self.intensities
                    .extend([Intensity::Block, Intensity::Prompt, Intensity::Aid]);
            }
            name => self.intensities.extend(Intensity::find(name)),
        }
        if call.name == "history" {
            self.needs.insert(FactSource::Log);
        }
        // A function that is called by a text may be any.
        self.reads_project |= call.name == "Fn" || api::reads_project(&call.name);
    }

    /// Notes the use of a dotted name; what stands behind the fact itself is a property of its value.
    fn note(&mut self, parts: &[(String, Position)]) {
        if let [(first, _), (key, at), ..] = parts
            && first == CONFIG
        {
            self.config_keys.push((key.clone(), *at));
        }
        let (full, position) = match parts {
            [] => return,
            [(first, at), rest @ ..] if context::section(first).is_some() => match rest {
                // A section as a whole, or compared with a name: `tool == "Bash"`.
                [] => return,
                [(second, at), ..] => (format!("{first}.{second}"), at),
            },
            [(first, at), ..] => (first.clone(), at),
        };
        if full.starts_with(context::MARKS) {
            self.facts.insert(Fact::Mark.name());
            self.needs.insert(FactSource::Session);
        } else if let Some(known) = context::names().find(|known| *known == full) {
            self.facts.insert(known);
            self.needs.extend(context::source(known));
        } else {
            let near = context::nearest_name(&full).map(str::to_owned);
            self.misspelt.push(MisspeltFact::new(full, near, *position));
        }
    }

    /// Finds the keys of the configuration that are used and that no configuration can have.
    pub(super) fn check_config(&mut self, known: &[&str]) {
        for (key, position) in std::mem::take(&mut self.config_keys) {
            if !known.contains(&key.as_str()) {
                let near = nearest(&key, known.iter().copied());
                let near = near.map(|near| format!("{CONFIG}.{near}"));
                let name = format!("{CONFIG}.{key}");
                self.misspelt.push(MisspeltFact::new(name, near, position));
            }
        }
    }
}

/// A variable and the properties that are asked of it: `ctx.issue.files`.
struct Chain<'a> {
    root: &'a str,
    position: Position,
    parts: Vec<(&'a str, Position)>,
    /// Whether it is all of the expression: nothing is called on it or looked up in it.
    is_whole: bool,
}

impl Chain<'_> {
    /// Returns the names below the context, if the variable stands for the context or a part of it.
    fn below(&self, aliases: &HashMap<String, Vec<String>>) -> Option<Vec<(String, Position)>> {
        let prefix = aliases.get(self.root)?;
        let prefix = prefix.iter().map(|name| (name.clone(), self.position));
        let parts = self
            .parts
            .iter()
            .map(|(name, at)| ((*name).to_owned(), *at));
        Some(prefix.chain(parts).collect())
    }
}

/// Returns the chain that the walk has just come to, but not its inner parts again.
fn outermost<'a>(path: &[ASTNode<'a>]) -> Option<Chain<'a>> {
    match path {
        [
            ..,
            ASTNode::Expr(Expr::Dot(outer, _, _)),
            ASTNode::Expr(expr),
        ] if std::ptr::eq(&raw const outer.lhs, *expr) => None,
        [.., ASTNode::Expr(expr)] => chain(expr),
        _ => None,
    }
}

fn chain(expr: &Expr) -> Option<Chain<'_>> {
    match expr {
        Expr::Variable(variable, _, position) if variable.2.is_empty() => Some(Chain {
            root: variable.1.as_str(),
            position: *position,
            parts: Vec::new(),
            is_whole: true,
        }),
        Expr::Dot(pair, _, _) => {
            let mut chain = chain(&pair.lhs)?;
            let mut rest = &pair.rhs;
            chain.is_whole = false;
            // The tree leans to the right: `a.b.c` is `a` dot `b.c`.
            loop {
                let (head, tail) = match rest {
                    Expr::Dot(pair, _, _) => (&pair.lhs, Some(&pair.rhs)),
                    Expr::Index(pair, _, _) => (&pair.lhs, None),
                    other => (other, None),
                };
                match (head, tail) {
                    (Expr::Property(property, position), tail) => {
                        chain.parts.push((property.2.as_str(), *position));
                        let Some(tail) = tail else {
                            chain.is_whole = !matches!(rest, Expr::Index(..));
                            return Some(chain);
                        };
                        rest = tail;
                    }
                    _ => return Some(chain),
                }
            }
        }
        _ => None,
    }
}
