//! `when` nodes to clauses.

use chrono::{DateTime, Utc};

use super::comparison::Order;
use super::{Clause, Comparison, Scalar, Test, words};
use crate::config::{Node, Value, parse_duration};
use crate::diagnostic::{Code, Diagnostic};
use crate::fact::{Fact, FactType};
use crate::oracle::rhai::ExprCondition;
use crate::pattern::Pattern;

/// Clauses may stand in each other this deep; deeper ones are nobody's handwriting.
const MAX_DEPTH: usize = 32;

/// Compiles the map of a `when`: all of its keys must hold.
pub(super) fn clause(node: &Node, faults: &mut Vec<Diagnostic>) -> Clause {
    nested(node, 0, faults)
}

fn nested(node: &Node, depth: usize, faults: &mut Vec<Diagnostic>) -> Clause {
    if depth > MAX_DEPTH {
        faults.push(Diagnostic::error(
            Code::Limit,
            format!("conditions are nested more than {MAX_DEPTH} deep"),
            node.span,
        ));
        return Clause::All(Vec::new());
    }
    let Value::Map(entries) = &node.value else {
        faults.push(
            Diagnostic::error(
                Code::WrongType,
                format!("expected a map of facts, found {}", node.type_name()),
                node.span,
            )
            .help("write `when: {issue.type: feature}`"),
        );
        return Clause::All(Vec::new());
    };
    let clauses = entries
        .iter()
        .filter_map(|(key, value)| match key.name.as_str() {
            "any" => {
                if value.is_empty() {
                    faults.push(never_met("`any` of nothing", value));
                }
                Some(Clause::Any(list(value, depth, faults)))
            }
            "all" => Some(Clause::All(list(value, depth, faults))),
            "expr" => expression(value, faults),
            "not" => {
                if value.is_empty() {
                    faults.push(never_met("`not` of nothing", value));
                }
                Some(Clause::Not(Box::new(nested(value, depth + 1, faults))))
            }
            name if name.starts_with("marks.") => {
                let test = test(Fact::Mark, value, faults)?;
                let name = name.trim_start_matches("marks.");
                Some(Clause::Mark(name.to_owned(), test))
            }
            name => {
                if let Some(fact) = Fact::find(name) {
                    test(fact, value, faults).map(Clause::Test)
                } else {
                    faults.push(unknown_fact(name, key.span));
                    None
                }
            }
        })
        .collect();
    Clause::All(clauses)
}

fn expression(node: &Node, faults: &mut Vec<Diagnostic>) -> Option<Clause> {
    let Some(source) = node.as_str() else {
        let found = format!("expected an expression as text, found {}", node.type_name());
        faults.push(
            Diagnostic::error(Code::WrongType, found, node.span)
                .help("write `expr: \"files.changed_count > 10\"`"),
        );
        return None;
    };
    match ExprCondition::compile(source, node.span) {
        Ok(expr) => Some(Clause::Expr(expr)),
        Err(fault) => {
            faults.push(*fault);
            None
        }
    }
}

/// Makes the error of a fact that no event can ever have.
pub(super) fn unknown_fact(name: &str, span: crate::diagnostic::Span) -> Diagnostic {
    let names = Fact::ALL.iter().map(|f| f.name());
    Diagnostic::error(
        Code::UnknownFact,
        format!("no event has a fact `{name}`"),
        span,
    )
    .did_you_mean(name, names.chain(["any", "all", "not", "expr"]))
    .help("`ahp explain --facts` lists every fact")
}

fn list(node: &Node, depth: usize, faults: &mut Vec<Diagnostic>) -> Vec<Clause> {
    if let Value::Seq(items) = &node.value {
        items
            .iter()
            .map(|item| nested(item, depth + 1, faults))
            .collect()
    } else {
        faults.push(Diagnostic::error(
            Code::WrongType,
            format!("expected a list of conditions, found {}", node.type_name()),
            node.span,
        ));
        Vec::new()
    }
}

/// Makes the error of a condition that holds for no event.
fn never_met(what: &str, node: &Node) -> Diagnostic {
    Diagnostic::error(
        Code::BadComparison,
        format!("{what} is never met"),
        node.span,
    )
    .help("leave the key out, or name a value")
}

/// Refuses an operator in a list, whose values are compared as they stand.
fn check_exact(item: &Node, faults: &mut Vec<Diagnostic>) -> Option<()> {
    let text = item.as_str().unwrap_or_default();
    let operator = ["~ ", "!~", "glob:", "!= ", ">= ", "<= ", "> ", "< "]
        .into_iter()
        .find(|operator| text.starts_with(operator));
    let Some(operator) = operator else {
        return Some(());
    };
    faults.push(
        Diagnostic::error(
            Code::BadComparison,
            format!(
                "`{}` means nothing in a list: its values are compared as they stand",
                operator.trim()
            ),
            item.span,
        )
        .help(
            "write each in a condition of its own: `any: [{tool: \"~ ^Ba\"}, {tool: \"~ ^Wr\"}]`",
        ),
    );
    None
}

/// Whether a value stands for itself: a list, or a text without an operator.
pub(super) fn is_exact(node: &Node) -> bool {
    match &node.value {
        Value::Seq(_) => true,
        Value::Str(text) => !text.starts_with(['~', '!', '<', '>']) && !text.starts_with("glob:"),
        _ => false,
    }
}

/// Compiles one comparison.
pub(super) fn test(fact: Fact, node: &Node, faults: &mut Vec<Diagnostic>) -> Option<Test> {
    let comparison = match &node.value {
        Value::Seq(items) => {
            let mut values = Vec::with_capacity(items.len());
            for item in items {
                check_exact(item, faults)?;
                values.push(scalar(fact, item, faults)?);
            }
            if values.is_empty() {
                faults.push(never_met("an empty list", node));
                return None;
            }
            any_of(fact, values)
        }
        Value::Str(text) => written(fact, text, node, faults)?,
        _ => any_of(fact, vec![scalar(fact, node, faults)?]),
    };
    Some(Test {
        fact,
        comparison,
        written: node.to_json().to_string(),
    })
}

fn any_of(fact: Fact, values: Vec<Scalar>) -> Comparison {
    if fact != Fact::Tool {
        return Comparison::AnyOf(values);
    }
    let names = values.into_iter().filter_map(|value| match value {
        Scalar::Text(name) => {
            let kind = words::kind_named(&name);
            Some((name, kind))
        }
        _ => None,
    });
    Comparison::Tool {
        names: names.collect(),
        negated: false,
    }
}

/// Reads a string: an operator with an operand, a pattern, a glob, or the text itself.
fn written(
    fact: Fact,
    text: &str,
    node: &Node,
    faults: &mut Vec<Diagnostic>,
) -> Option<Comparison> {
    if let Some(glob) = text.strip_prefix("glob:") {
        return words::glob(fact, glob.trim(), node, faults).map(Comparison::Glob);
    }
    if let Some((negated, source)) = text
        .strip_prefix("!~")
        .map(|s| (true, s))
        .or_else(|| text.strip_prefix('~').map(|s| (false, s)))
    {
        return match Pattern::new(source.trim()) {
            Ok(pattern) => Some(Comparison::Matches { pattern, negated }),
            Err(error) => {
                let message = format!("`{}` is not a regular expression: {error}", source.trim());
                faults.push(
                    Diagnostic::error(Code::BadRegex, message, node.span)
                        .help("write `\\` before a sign that stands for itself, such as `\\(`"),
                );
                None
            }
        };
    }
    if let Some(operand) = text.strip_prefix("!=") {
        let operand = text_scalar(fact, operand.trim(), node, faults)?;
        return Some(match any_of(fact, vec![operand.clone()]) {
            Comparison::Tool { names, .. } => Comparison::Tool {
                names,
                negated: true,
            },
            _ => Comparison::Not(operand),
        });
    }
    if let Some(operand) = text.strip_prefix("==") {
        return text_scalar(fact, operand.trim(), node, faults).map(|s| any_of(fact, vec![s]));
    }
    let ordered = [
        (">=", Order::AtLeast),
        ("<=", Order::AtMost),
        (">", Order::More),
        ("<", Order::Less),
    ]
    .into_iter()
    .find_map(|(sign, order)| text.strip_prefix(sign).map(|rest| (order, rest.trim())));
    if let Some((order, operand)) = ordered {
        return match fact.value_type() {
            FactType::Integer | FactType::Number | FactType::Time | FactType::Duration => {
                text_scalar(fact, operand, node, faults).map(|s| Comparison::Ordered(order, s))
            }
            FactType::Text | FactType::Boolean | FactType::List => {
                faults.push(
                    Diagnostic::error(
                        Code::BadComparison,
                        format!("`{fact}` is neither a number nor a time, so it has no order"),
                        node.span,
                    )
                    .help("compare it with a text, a list, `~ regex` or `glob:…`"),
                );
                None
            }
        };
    }
    text_scalar(fact, text, node, faults).map(|s| any_of(fact, vec![s]))
}

fn scalar(fact: Fact, node: &Node, faults: &mut Vec<Diagnostic>) -> Option<Scalar> {
    #[expect(clippy::cast_precision_loss, reason = "a threshold is far below 2^52")]
    match &node.value {
        Value::Bool(b) if fact.value_type() == FactType::Boolean => Some(Scalar::Boolean(*b)),
        Value::Int(n) if takes_number(fact) => Some(Scalar::Number(*n as f64)),
        Value::Float(n) if takes_number(fact) => Some(Scalar::Number(*n)),
        Value::Str(text) => text_scalar(fact, text, node, faults),
        _ => {
            faults.push(
                Diagnostic::error(
                    Code::BadComparison,
                    format!(
                        "`{fact}` is {}, which {} never equals",
                        type_name(fact),
                        node.type_name()
                    ),
                    node.span,
                )
                .help(format!("write {}", example(fact))),
            );
            None
        }
    }
}

fn takes_number(fact: Fact) -> bool {
    fact != Fact::Tool && !matches!(fact.value_type(), FactType::Boolean | FactType::Time)
}

fn text_scalar(
    fact: Fact,
    text: &str,
    node: &Node,
    faults: &mut Vec<Diagnostic>,
) -> Option<Scalar> {
    let parsed = match fact.value_type() {
        FactType::Text | FactType::List => {
            return words::text(fact, text, node.span, faults).map(Scalar::Text);
        }
        FactType::Integer | FactType::Number => {
            let (number, whole) = match text.strip_suffix('%') {
                // This one is a share of 1; coverage is told in percent.
                Some(percent) if fact == Fact::ChecklistCompletionRate => (percent, 100.0),
                Some(percent) => (percent, 1.0),
                None => (text, 1.0),
            };
            let number = number.trim().parse().ok();
            number
                .filter(|n: &f64| n.is_finite())
                .map(|n| Scalar::Number(n / whole))
        }
        FactType::Boolean => match text {
            "true" => Some(Scalar::Boolean(true)),
            "false" => Some(Scalar::Boolean(false)),
            _ => None,
        },
        FactType::Time => time(text).map(Scalar::Time),
        FactType::Duration => match parse_duration(text) {
            Ok(duration) => Some(Scalar::Number(duration.as_secs_f64())),
            Err(why) => {
                let message = format!("`{fact}` cannot be compared: {why}");
                let fault = Diagnostic::error(Code::BadComparison, message, node.span);
                faults.push(fault.help(format!("write {}, at most a day", example(fact))));
                return None;
            }
        },
    };
    if parsed.is_none() {
        faults.push(
            Diagnostic::error(
                Code::BadComparison,
                format!("`{fact}` is {}, which `{text}` is not", type_name(fact)),
                node.span,
            )
            .help(format!("write {}", example(fact))),
        );
    }
    parsed
}

/// Reads an ISO 8601 moment; a day alone means its first instant in UTC.
fn time(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text)
        .map(|t| t.to_utc())
        .ok()
        .or_else(|| {
            let day = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
            Some(day.and_hms_opt(0, 0, 0)?.and_utc())
        })
}

const fn type_name(fact: Fact) -> &'static str {
    match fact.value_type() {
        FactType::Text => "text",
        FactType::Integer => "a whole number",
        FactType::Number => "a number",
        FactType::Boolean => "`true` or `false`",
        FactType::List => "a list of texts",
        FactType::Time => "a time",
        FactType::Duration => "a duration",
    }
}

const fn example(fact: Fact) -> &'static str {
    match fact.value_type() {
        FactType::Text => "a text, a list of texts, `\"~ regex\"` or `\"glob:…\"`",
        FactType::Integer | FactType::Number => "a number, or a comparison such as `\"> 10\"`",
        FactType::Boolean => "`true` or `false`",
        FactType::List => "a text that must be in it, or `\"glob:src/**\"`",
        FactType::Duration => "a duration such as `\"> 90m\"`, or a number of seconds",
        FactType::Time => "a time such as `\"> 2026-02-09T10:00:00Z\"`",
    }
}
