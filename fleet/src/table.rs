//! Table: the four tables of a lake and their columns, in their order. They are stable: a column may be added at the end
//! of its table, and none changes its meaning.

/// The version of the tables, written into each file.
pub(crate) const SCHEMA: u32 = 1;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Int64,
    Int32,
    Bool,
    /// Microseconds since 1970, UTC.
    Time,
}

/// One column. `is_required` columns have a value in each row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) is_required: bool,
}

/// One table: its name, and the columns that it has behind the common ones.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    own: &'static [Column],
}

const fn optional(name: &'static str, kind: Kind) -> Column {
    Column {
        name,
        kind,
        is_required: false,
    }
}

const fn required(name: &'static str, kind: Kind) -> Column {
    Column {
        name,
        kind,
        is_required: true,
    }
}

const fn text(name: &'static str) -> Column {
    optional(name, Kind::Text)
}

/// The columns that each table begins with: which log and record, of whom, under which policy, and when.
const COMMON: &[Column] = &[
    required("log_id", Kind::Text),
    required("machine", Kind::Text),
    text("team"),
    text("environment"),
    text("repo"),
    text("policy"),
    text("ahp"),
    required("seq", Kind::Int64),
    required("time", Kind::Time),
    required("time_ms", Kind::Int64),
];

/// A row for each evaluation record. `bindings` is how many rows of that table are of it, so that a lost one is missed.
pub(crate) static EVALUATIONS: Table = Table {
    name: "evaluations",
    own: &[
        text("hook"),
        text("decision"),
        text("agent_host"),
        text("session"),
        text("issue"),
        text("tool"),
        text("user"),
        optional("skipped", Kind::Int64),
        optional("duration_us", Kind::Int64),
        optional("signals", Kind::Int32),
        optional("bindings", Kind::Int32),
    ],
};

/// A row for each binding of an evaluation. `waived` has the ids of the signals whose answers held it back, `acted_on` what
/// the tool call acted on, hashed: a finding is repaired where the same binding judges the same again without it.
pub(crate) static BINDINGS: Table = Table {
    name: "bindings",
    own: &[
        required("pos", Kind::Int32),
        text("hook"),
        text("binding"),
        text("oracle"),
        text("source"),
        text("agent_host"),
        text("subject"),
        text("issue"),
        text("outcome"),
        text("waived"),
        optional("timed_out", Kind::Bool),
        optional("duration_us", Kind::Int64),
        text("acted_on"),
    ],
};

/// A row for each signal record. `finding` is the identity of what was found, `also_found` has those of what else it found,
/// with spaces between them; `of_seq` is the evaluation that it is of.
pub(crate) static SIGNALS: Table = Table {
    name: "signals",
    own: &[
        text("signal_id"),
        text("hook"),
        text("binding"),
        text("oracle"),
        text("source"),
        text("type"),
        text("intensity"),
        text("agent_host"),
        text("session"),
        text("issue"),
        text("fingerprint"),
        text("text"),
        text("rule"),
        text("finding"),
        text("acted_on"),
        optional("of_seq", Kind::Int64),
        text("also_found"),
    ],
};

/// A row for each response record.
pub(crate) static ANSWERS: Table = Table {
    name: "answers",
    own: &[
        text("signal_id"),
        text("action"),
        text("answered_by"),
        text("note"),
        optional("inferred", Kind::Bool),
        optional("refused", Kind::Bool),
    ],
};

/// All tables.
pub(crate) static ALL: [&Table; 4] = [&EVALUATIONS, &BINDINGS, &SIGNALS, &ANSWERS];

impl Table {
    /// Returns the columns in their order.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &'static Column> + use<> {
        COMMON.iter().chain(self.own)
    }

    /// Returns the place of a column.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.columns().position(|column| column.name == name)
    }
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cell {
    Null,
    Text(std::rc::Rc<str>),
    Int(i64),
    Bool(bool),
}

impl Cell {
    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        Self::Text(text.as_ref().into())
    }

    /// A number of a record, which has no sign; what is too large for the column is its largest number.
    pub(crate) fn count(n: u64) -> Self {
        Self::Int(i64::try_from(n).unwrap_or(i64::MAX))
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) const fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(n) => Some(*n),
            _ => None,
        }
    }
}

impl<T: AsRef<str>> From<Option<T>> for Cell {
    fn from(text: Option<T>) -> Self {
        text.map_or(Self::Null, Self::text)
    }
}

/// The rows of one table, each with a cell for each column.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(crate) table: &'static Table,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Rows {
    pub(crate) const fn of(table: &'static Table) -> Self {
        Self {
            table,
            rows: Vec::new(),
        }
    }

    /// Returns a row's value of a column by its name.
    pub(crate) fn cell<'r>(&self, row: &'r [Cell], name: &str) -> &'r Cell {
        const NULL: &Cell = &Cell::Null;
        let place = self.table.place(name);
        place.and_then(|place| row.get(place)).unwrap_or(NULL)
    }

    /// Returns a row as a JSON object, with its table; what is null is left out.
    pub(crate) fn as_json(&self, row: &[Cell]) -> serde_json::Value {
        let mut object = serde_json::Map::new();
        object.insert("table".to_owned(), self.table.name.into());
        for (column, cell) in self.table.columns().zip(row) {
            let value = match cell {
                Cell::Null => continue,
                Cell::Text(text) => (&**text).into(),
                Cell::Int(n) => (*n).into(),
                Cell::Bool(is) => (*is).into(),
            };
            object.insert(column.name.to_owned(), value);
        }
        object.into()
    }
}
