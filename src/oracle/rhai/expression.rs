//! Expression: an `expr:` condition, a rhai expression over the facts (spec §3.6).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rhai::{AST, Map, Position, Scope};

use super::context::Root;
use super::error::{ScriptError, offset};
use super::guard::Sees;
use super::sandbox::engine;
use super::survey::Survey;
use super::{guard, value};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::fact::{Fact, FactSource, Facts};

/// A compiled `expr:`.
#[derive(Clone, Debug)]
pub struct ExprCondition {
    ast: Arc<AST>,
    source: Arc<str>,
    /// The names of the facts that it stands on, without what follows the first dot.
    roots: Arc<[String]>,
    facts: Arc<[&'static str]>,
    needs: Arc<[FactSource]>,
}

impl ExprCondition {
    /// Compiles an expression that stands at `span`.
    ///
    /// # Errors
    /// It does not compile, or asks for a fact that no event can ever have.
    pub fn compile(source: &str, span: Span) -> Result<Self, Box<Diagnostic>> {
        let ast = engine().compile_expression(source).map_err(|error| {
            let fault = ScriptError::of_parse("expr", source, &error);
            Diagnostic::error(
                Code::BadExpression,
                fault.message,
                place(source, span, error.position()),
            )
            .help("an expression is made of facts, `&&`, `||`, `!`, comparisons and the functions of script oracles")
        })?;
        let survey = Survey::of_expression(&ast);
        if let Some(misspelt) = survey.misspelt.first() {
            let at = Position::new(
                u16::try_from(misspelt.line).unwrap_or(1),
                u16::try_from(misspelt.column).unwrap_or(1),
            );
            let fault = Diagnostic::error(
                Code::UnknownFact,
                format!("there is no fact `{}`", misspelt.name),
                place(source, span, at),
            );
            return Err(Box::new(match &misspelt.nearest {
                Some(near) => fault.help(format!("did you mean `{near}`?")),
                None => fault,
            }));
        }
        Ok(Self {
            ast: Arc::new(ast),
            source: source.into(),
            roots: survey.roots.into_iter().collect(),
            facts: survey.facts.into_iter().collect(),
            needs: survey.needs.into_iter().collect(),
        })
    }

    /// Returns the expression as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the dotted names of the facts that it asks for.
    pub fn facts(&self) -> &[&'static str] {
        &self.facts
    }

    /// Returns what must be asked for its facts.
    pub fn needs(&self) -> &[FactSource] {
        &self.needs
    }

    /// Tells the facts that it stands on as they are: `files.changed_count = 12`.
    pub fn found(&self, facts: &Facts) -> String {
        let told = self.facts.iter().filter_map(|name| {
            let value = facts.get(Fact::find(name)?);
            Some(if value.is_absent() {
                format!("{name} is absent")
            } else {
                format!("{name} = {}", value.to_json())
            })
        });
        told.collect::<Vec<_>>().join(", ")
    }

    /// Whether the expression is true of an event.
    ///
    /// # Errors
    /// It cannot be computed, or is neither true nor false.
    pub fn holds(&self, facts: &Facts) -> Result<bool, String> {
        let (outcome, used) = guard::watch(Sees::Facts(facts.clone()), || {
            catch_unwind(AssertUnwindSafe(|| {
                let root = Root::new(facts.clone(), Arc::new(Map::new()));
                let mut scope = Scope::new();
                for name in self.roots.iter() {
                    scope.push_constant_dynamic(name.as_str(), root.get(name)?);
                }
                engine().eval_ast_with_scope::<rhai::Dynamic>(&mut scope, &self.ast)
            }))
        });
        let value = match outcome {
            Ok(Ok(value)) => value,
            Ok(Err(error)) => {
                let fault = ScriptError::of_run("expr", &self.source, &error, used.stop);
                return Err(fault.message);
            }
            Err(_) => return Err("the interpreter panicked on this expression".to_owned()),
        };
        value.as_bool().map_err(|_| {
            format!(
                "the expression gives {}, not true or false",
                value::type_name(&value)
            )
        })
    }
}

/// Returns the place inside the expression; exact where it is written in one piece on one line.
fn place(source: &str, span: Span, position: Position) -> Span {
    let number = |n: Option<usize>| n.and_then(|n| u32::try_from(n).ok());
    let (Some(1), Some(column)) = (number(position.line()), number(position.position())) else {
        return span;
    };
    // A quoted scalar begins with its quote; a block scalar has its text elsewhere.
    let written = span.end.saturating_sub(span.start);
    let quotes = written.saturating_sub(u32::try_from(source.len()).unwrap_or(u32::MAX));
    if quotes != 0 && quotes != 2 {
        return span;
    }
    let shift = offset(source, 1, column) + quotes / 2;
    Span {
        start: span.start + shift,
        end: (span.start + shift + 1).min(span.end),
        column: span.column + column - 1 + quotes / 2,
        ..span
    }
}
