//! Coverage: which lines of scripts were reached, for `ahp test --coverage`.
//!
//! Where it is recorded, a script is compiled from a text in which each block, and each piece behind a branch, begins
//! with a note of its place. A note is put into a line, so that no line gets another number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rhai::{AST, ASTNode, Expr, Position, Stmt, StmtBlock};

use super::error::offset;

/// The function by which a script notes that it has come to a place.
pub(super) const NOTE: &str = "reached_line";

static RECORDING: AtomicBool = AtomicBool::new(false);
static SCRIPTS: Mutex<BTreeMap<String, Lines>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Default)]
struct Lines {
    /// The place of each piece that is reached as a whole, with the lines of its statements.
    pieces: BTreeMap<u32, BTreeSet<u32>>,
    reached: BTreeSet<u32>,
}

impl Lines {
    /// Returns the lines with statements that were never reached.
    fn missed(&self) -> Vec<u32> {
        let of = |reached: bool| {
            self.pieces
                .iter()
                .filter(move |(place, _)| self.reached.contains(place) == reached)
                .flat_map(|(_, lines)| lines.iter().copied())
        };
        let reached: BTreeSet<u32> = of(true).collect();
        let missed: BTreeSet<u32> = of(false).filter(|line| !reached.contains(line)).collect();
        missed.into_iter().collect()
    }
}

/// Begins to record the lines that scripts reach, in the whole process; scripts that are compiled already are not
/// recorded.
pub fn record() {
    RECORDING.store(true, Ordering::Relaxed);
}

/// Returns the scripts that were compiled since, as they are shown, with the lines that were never reached.
pub fn missed() -> Vec<(String, Vec<u32>)> {
    let scripts = SCRIPTS.lock().unwrap_or_else(PoisonError::into_inner);
    let missed = scripts
        .iter()
        .map(|(file, lines)| (file.clone(), lines.missed()));
    missed.filter(|(_, lines)| !lines.is_empty()).collect()
}

pub(super) fn is_recording() -> bool {
    RECORDING.load(Ordering::Relaxed)
}

pub(super) fn add(file: &str, reached: BTreeSet<u32>) {
    let mut scripts = SCRIPTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(lines) = scripts.get_mut(file) {
        lines.reached.extend(reached);
    }
}

/// Returns the script with a note at the beginning of each piece.
pub(super) fn noting(source: &str, ast: &AST) -> Noting {
    let mut pieces = Pieces {
        source,
        found: BTreeMap::new(),
    };
    // The outermost statements are those of the functions.
    let mut outermost = Vec::new();
    ast.walk(&mut |path| {
        match path.last() {
            Some(ASTNode::Stmt(stmt)) => {
                if path.len() == 1 {
                    outermost.extend(pieces.step(stmt));
                }
                pieces.statement(stmt);
            }
            Some(ASTNode::Expr(Expr::Stmt(block))) => pieces.block(block),
            _ => {}
        }
        true
    });
    outermost.sort_unstable_by_key(|step| step.start);
    let mut bodies: Vec<usize> = ast
        .iter_functions()
        .filter_map(|function| body(source, function.name))
        .collect();
    bodies.sort_unstable();
    for (n, &start) in bodies.iter().enumerate() {
        let end = bodies.get(n + 1).copied().unwrap_or(source.len());
        let own = outermost
            .iter()
            .filter(|step| (start..end).contains(&step.start));
        pieces.sequence(start, own);
    }
    let mut noting = source.to_owned();
    // From the end, so that earlier places stay true.
    for place in pieces.found.keys().rev() {
        noting.insert_str(*place, &format!(" {NOTE}({place}); "));
    }
    let pieces = pieces.found.into_iter();
    let pieces = pieces.filter_map(|(place, lines)| Some((u32::try_from(place).ok()?, lines)));
    Noting {
        text: noting,
        pieces: pieces.collect(),
    }
}

/// Records what is reached of a script from now on.
pub(super) fn begin(file: &str, noting: &Noting) {
    let mut scripts = SCRIPTS.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = scripts.entry(file.to_owned()).or_default();
    lines.pieces.extend(noting.pieces.clone());
}

/// Returns the position of a place in a script: of the first thing that stands behind it.
pub(super) fn position(source: &str, place: u32) -> Position {
    let (before, behind) = source
        .split_at_checked(place as usize)
        .unwrap_or((source, ""));
    let blank = behind.len() - behind.trim_start().len();
    let before = [before, behind.get(..blank).unwrap_or_default()].concat();
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    match (u16::try_from(line), u16::try_from(column)) {
        (Ok(line), Ok(column)) => Position::new(line, column),
        _ => Position::NONE,
    }
}

/// A script that notes where it comes to.
#[derive(Clone, Debug)]
pub(super) struct Noting {
    /// The script with its notes.
    pub(super) text: String,
    pieces: BTreeMap<u32, BTreeSet<u32>>,
}

/// Returns the byte at which the body of a function begins.
fn body(source: &str, name: &str) -> Option<usize> {
    let head = source.find(&format!("fn {name}("))?;
    let brace = source.get(head..)?.find('{')?;
    Some(head + brace + 1)
}

/// One statement of a sequence.
struct Step {
    start: usize,
    line: u32,
    /// Where it ends, if it may return or leave a loop inside.
    end: Option<usize>,
}

/// Where notes are to stand, with the lines of the statements that are reached when the note is.
struct Pieces<'a> {
    source: &'a str,
    found: BTreeMap<usize, BTreeSet<u32>>,
}

impl Pieces<'_> {
    /// Finds the blocks of a statement.
    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::If(flow, _) | Stmt::TryCatch(flow, _) => {
                self.block(&flow.body);
                self.block(&flow.branch);
            }
            Stmt::While(flow, _) | Stmt::Do(flow, _, _) => self.block(&flow.body),
            Stmt::For(parts, _) => self.block(&parts.2.body),
            Stmt::Block(block) => self.block(block),
            _ => {}
        }
    }

    fn block(&mut self, block: &StmtBlock) {
        if let Some(start) = self.behind(block.span().start(), '{') {
            let steps: Vec<_> = block
                .statements()
                .iter()
                .filter_map(|stmt| self.step(stmt))
                .collect();
            self.sequence(start, &steps);
        }
    }

    /// Notes where the pieces of a sequence of statements begin.
    fn sequence<'s>(&mut self, start: usize, steps: impl IntoIterator<Item = &'s Step>) {
        let (mut place, mut lines) = (start, BTreeSet::new());
        for step in steps {
            lines.insert(step.line);
            // What stands behind a branch is not reached where the branch returns.
            if let Some(end) = step.end {
                self.found.insert(place, std::mem::take(&mut lines));
                place = end;
            }
        }
        // Nothing is put behind a last branch, whose value is that of the whole.
        if !lines.is_empty() {
            self.found.insert(place, lines);
        }
    }

    fn step(&self, stmt: &Stmt) -> Option<Step> {
        let position = stmt.position();
        let line = u32::try_from(position.line()?).ok()?;
        let column = u32::try_from(position.position()?).ok()?;
        Some(Step {
            start: offset(self.source, line, column) as usize,
            line,
            end: end(stmt).and_then(|end| self.behind(end, '}')),
        })
    }

    /// Returns the byte behind a brace, if one stands there.
    fn behind(&self, position: Position, brace: char) -> Option<usize> {
        let line = u32::try_from(position.line()?).ok()?;
        let column = u32::try_from(position.position()?).ok()?;
        let offset = offset(self.source, line, column) as usize;
        let found = self.source.get(offset..)?.starts_with(brace);
        found.then_some(offset + 1)
    }
}

/// Returns where a statement ends that may return or leave a loop inside.
fn end(stmt: &Stmt) -> Option<Position> {
    match stmt {
        Stmt::If(flow, _) => match flow.branch.statements() {
            [] => Some(flow.body.end_position()),
            [Stmt::If(..)] => flow.branch.statements().first().and_then(end),
            _ => Some(flow.branch.end_position()),
        },
        Stmt::TryCatch(flow, _) => Some(flow.branch.end_position()),
        Stmt::While(flow, _) => Some(flow.body.end_position()),
        Stmt::For(parts, _) => Some(parts.2.body.end_position()),
        Stmt::Block(block) => Some(block.end_position()),
        _ => None,
    }
}
