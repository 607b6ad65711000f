#!/usr/bin/env python3
"""Sums of a lake as rows of JSON, by DuckDB, ClickHouse (chdb) or Spark: `sums.py LAKE [QUERY]`, one text of SQL for all.

`sums.py LAKE all > sums.ndjson` gives what `ahp log stats|advise|report --sums sums.ndjson` reads. It is the Spark job too:
`spark-submit --master URL sums.py LAKE --engine spark`.
"""

import argparse
import fcntl
import glob
import json
import os
import pathlib
import re
import sys
import tempfile
import time

SQL = pathlib.Path(__file__).resolve().parent / "sql"
# A version of a bundle is one policy on all machines, whatever other layers stand beside it.
VERSION = "case when policy like '%@%+%' then substring(policy, 1, position('+' in policy) - 1) else policy end"
GROUPS = {"": "''", "team": "team", "repo": "repo", "policy": VERSION, "environment": "environment", "day": "date",
          "host": "agent_host", "issue": "issue", "machine": "machine"}
PACKAGES = {"duckdb": "duckdb", "clickhouse": "chdb", "spark": "pyspark"}
TABLES = ("evaluations", "bindings", "signals", "answers")
# The columns that stand in for a table of which a young lake has no file yet, beside those of the evaluations.
EMPTY = {"bindings": "hook as binding, hook as oracle, hook as source, hook as subject, hook as outcome, hook as waived, "
                     "hook as acted_on, seq = 0 as timed_out, seq as pos",
         "signals": "hook as signal_id, hook as binding, hook as oracle, hook as source, hook as rule, hook as finding, hook as intensity, hook as acted_on, seq as of_seq, "
                    "hook as also_found",
         "answers": "hook as signal_id, hook as action, hook as answered_by, seq = 0 as inferred, seq = 0 as refused"}
# Columns that were added to a table, and what a lake has in them whose files are all of before.
ADDED = {"signals": ("also_found", "nullif('', '')"), "evaluations": ("bindings", "nullif(0, 0)")}
QUERIES = ("bindings", "rules", "groups", "events", "gaps", "silent", "records")
# What `all` asks for, by which groups: all that `ahp log stats --sums` shows. The last row tells that the rest is whole.
ALL = (*((query, "") for query in ("bindings", "rules", "events", "gaps", "silent")),
       *((query, by) for by in ("team", "repo", "policy") for query in ("bindings", "groups")),
       *(("groups", by) for by in ("day", "host", "issue")), ("records", ""))
# The newest form of the tables that this file knows; each file of a lake says its own.
SCHEMA = 1


def duckdb(_args):
    import duckdb
    connection = duckdb.connect()

    def run(text):
        done = connection.execute(text)
        names = [column[0] for column in done.description or []]
        return [dict(zip(names, row)) for row in done.fetchall()] if names else []
    return run


def clickhouse(_args):
    from chdb import session
    opened = session.Session()

    def run(text):
        settings = "join_use_nulls = 1, prefer_column_name_to_alias = 1, use_hive_partitioning = 1, output_format_json_quote_64bit_integers = 0"
        if not text.lstrip().lower().startswith(("select", "with")):
            opened.query(f"{text} settings {settings}" if "view" not in text else text)
            return []
        told = str(opened.query(f"{text} settings {settings}", "JSONEachRow"))
        return [json.loads(line) for line in told.splitlines() if line]
    opened.query("set join_use_nulls = 1, prefer_column_name_to_alias = 1, use_hive_partitioning = 1, schema_inference_mode = 'union'")
    return run


def spark(args):
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.appName("ahp sums").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    # A file of before a column was added has nothing in it.
    builder = builder.config("spark.sql.parquet.mergeSchema", "true")
    opened = (builder.master(args.master) if args.master else builder).getOrCreate()
    opened.sparkContext.setLogLevel("ERROR")
    return lambda text: [row.asDict() for row in opened.sql(text).collect()]


def lost_before(footer):
    """What a file says of its batches: of which log each is, with which record it begins, and how many were gone before it."""
    listed = re.search(rb"ahp\.batches\x18[^\[]{1,5}(\[.*?\}\])", footer, re.DOTALL)
    if listed:
        return [(batch["log_id"], batch["first_seq"], batch["lost"]) for batch in json.loads(listed[1])]
    log_id, first, lost = (re.search(rb"\x18.ahp\." + key + rb"\x18.([0-9a-f]+)", footer, re.DOTALL) for key in (b"log_id", b"first_seq", b"lost"))
    return [(log_id[1].decode(), int(first[1]), int(lost[1]))] if log_id and first and lost else []


def fault(path, lost):
    """Says why a file is no table that can be summed up; None where it is one. What was gone before its batches is put into `lost`."""
    if not os.path.isfile(path):
        return "it is not a file"
    if not re.fullmatch(r"date=\d{4}-\d\d-\d\d/[^/]+\.parquet", "/".join(path.parts[-2:])):
        return "it is not a table of `ahp`"
    try:
        with open(path, "rb") as file:
            head = file.read(4)
            file.seek(-8, os.SEEK_END)
            length, tail = int.from_bytes(file.read(4), "little"), file.read(4)
            if (head, tail) != (b"PAR1", b"PAR1"):
                return "it is torn, or no Parquet"
            file.seek(-8 - length, os.SEEK_END)
            footer = file.read(length)
            told = re.search(rb"\x18\x0aahp\.schema\x18.([0-9]+)", footer, re.DOTALL)
    except OSError as error:
        return "it is torn, or no Parquet" if error.strerror == "Invalid argument" else error.strerror
    if not told:
        return "it is not a table of `ahp`"
    if int(told[1]) > SCHEMA:
        return f"it has tables of version {int(told[1])}, and this program knows {SCHEMA}"
    lost.update(batch for batch in lost_before(footer) if batch[2])
    return None


def sound(lake, scratch, fault):
    """Returns where the lake lies without what is no table of it, and how many files that leaves out; each is named."""
    every = [path for table in TABLES for path in pathlib.Path(lake, table).rglob("*") if not path.is_dir()]
    # What is being written has a dotted name, which is nobody's fault, but engines would read it.
    files = [path for path in every if not path.name.startswith(".")]
    is_clean = len(files) == len([path for path in every if path.suffix == ".parquet"])
    faults = {path: why for path in files if (why := fault(path))}
    for path, why in sorted(faults.items()):
        print(f"left out: `{path}`: {why}", file=sys.stderr)
    if not faults and is_clean:
        return lake, 0
    for path in files:
        if path not in faults:
            link = pathlib.Path(scratch, path.relative_to(lake))
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path.resolve())
    return scratch, len(faults)


def statements(text):
    """Cuts a file of statements at the semicolons that end lines, without its comments."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return [part.strip() for part in "\n".join(lines).split(";\n") if part.strip().rstrip(";")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lake", help="the directory of the tables")
    parser.add_argument("query", nargs="?", default="bindings", choices=[*QUERIES, "all"])
    parser.add_argument("--engine", default="duckdb", choices=["duckdb", "clickhouse", "spark"])
    parser.add_argument("--master", help="the Spark master, such as spark://host:7077")
    parser.add_argument("--by", choices=sorted(GROUPS), help="what the sums are grouped by; `all` has groups of its own")
    parser.add_argument("--since", default="0001-01-01", help="the first day (UTC)")
    parser.add_argument("--until", default="9999-12-31", help="the last day (UTC)")
    args = parser.parse_args()
    if args.query == "all" and args.by:
        parser.error("`all` has groups of its own, so that `--by` has no meaning for it")
    for day in (args.since, args.until):
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", day):
            parser.error(f"`{day}` is no day like 2026-02-09")
    if "://" in args.lake and set(args.lake) & SPECIAL:
        parser.error("quotation marks and the signs of patterns cannot stand in the lake's address")
    with tempfile.TemporaryDirectory(prefix="ahp-sums-") as scratch:
        try:
            sys.exit(sum_up(args, scratch))
        except ModuleNotFoundError as error:
            sys.exit(f"error: {args.engine} is not installed here: {error}; `pip install {PACKAGES[args.engine]}`")
        except Exception as error:
            # Engines tell what went wrong in long texts, of which the first line says it.
            sys.exit(f"error: {args.engine} cannot sum this up: {next(iter(str(error).splitlines()), type(error).__name__)}")


# What engines would read as a part of the statement or as a pattern, of which a path may well have some.
SPECIAL = set("'`*?[]{}\\")


# What reads every cell of a file: an engine may fail in the middle of one.
PROBES = {"duckdb": "select bit_xor(hash(columns(*))) from read_parquet('{}')", "clickhouse": "select sum(ignore(*)) as n from file('{}', Parquet)",
          "spark": "select max(hash(*)) as n from parquet.`{}`"}


def sum_up(args, scratch):
    lake, left_out, lost = args.lake, 0, set()
    if "://" not in lake:
        if os.path.exists(f"{lake}/.compact"):
            # It is held until the end of the process.
            fcntl.flock(os.open(f"{lake}/.compact", os.O_RDONLY), fcntl.LOCK_SH)
        lake, left_out = sound(lake, os.path.join(scratch, "sound"), lambda path: fault(path, lost))
        if set(lake) & SPECIAL:
            os.symlink(os.path.abspath(lake), plain := os.path.join(scratch, "plain"))
            lake = plain
    run = {"duckdb": duckdb, "clickhouse": clickhouse, "spark": spark}[args.engine](args)

    def unreadable(path):
        try:
            run(PROBES[args.engine].format(path))
        except Exception as error:
            return next(iter(str(error).splitlines()), "it cannot be read")
    try:
        rows = sums(args, lake, run, lost)
    except Exception:
        lake, torn = (lake, 0) if "://" in lake else sound(lake, os.path.join(scratch, "read"), unreadable)
        if not torn:
            raise
        left_out += torn
        rows = sums(args, lake, run, lost)
    if rows is None:
        print(f"error: `{args.lake}` has no tables; `ahp fleet ship --to dir:{args.lake}` writes them", file=sys.stderr)
        return 1
    for row in rows:
        print(json.dumps(row))
    return 1 if left_out else 0


def sums(args, lake, run, lost):
    """Returns the rows that were asked for; None where there is no table."""
    empty, rows, is_doubled = set(), [], False
    if "://" not in lake:
        empty = {table for table in TABLES if not glob.glob(f"{glob.escape(lake)}/{table}/date=*/*.parquet")}
        if "evaluations" in empty:
            return None
    values = {"lake": lake, "since": args.since, "until": args.until, "now_ms": str(int(time.time() * 1000))}
    values["lost"] = " union all ".join(f"select '{log_id}' as log_id, {seq} as seq, {gone} as gone"
                                        for log_id, seq, gone in [("", 0, 0), *sorted(lost)])

    def prepared(name):
        text = (SQL / f"{name}.sql").read_text()
        for part in ("bindings", "findings", "ends"):
            if "{" + part + "}" in text:
                text = text.replace("{" + part + "}", prepared(part)[0])
        for key, value in values.items():
            text = text.replace("{" + key + "}", value)
        return statements(text)

    def views(by):
        values["grp"] = GROUPS[by]
        for statement in prepared(f"tables.{args.engine}"):
            view, table = re.match(r"(create .*? view (\w+) as) ", statement).groups()
            if table in empty:
                statement = f"{view} select *, {EMPTY[table]} from evaluations where 1 = 0"
            elif is_doubled:
                statement = f"{view} {once(table, statement[len(view):].rstrip(';'))}"
            run(statement)
            column, nothing = ADDED.get(table, (None, None))
            if column and not has_column(table, column):
                run(f"{view} select r.*, {nothing} as {column} from ({statement[len(view):].rstrip(';')}) r")

    def has_column(table, column):
        try:
            return run(f"select {column} from {table} where 1 = 0") is not None
        except Exception:
            return False
    by = args.by or ""
    views(by)
    gaps = run(prepared("gaps")[0])
    if is_doubled := any(row["doubled"] for row in gaps):
        views(by)
    grouped = by
    for query, by in (ALL if args.query == "all" else [(args.query, by)]):
        if by != grouped:
            views(grouped := by)
        for row in gaps if query == "gaps" else run(prepared(query)[0]):
            plain = {key: int(value) if hasattr(value, "__int__") and not isinstance(value, bool) else value
                     for key, value in row.items()}
            rows.append({"sums": query, "by": by, **plain})
    missing = sum(int(row["missing"]) for row in gaps)
    if missing and args.query not in ("gaps", "all"):
        print(f"{missing} records of {len(gaps)} logs are missing; `sums.py {args.lake} gaps` names them", file=sys.stderr)
    return rows


def once(table, rows):
    """Keeps each record once. Two that came of one may differ, as where a team was named in between."""
    key = "log_id, seq, pos" if table == "bindings" else "log_id, seq"
    order = ", ".join(f"coalesce({name}, '') desc" for name in ("machine", "team", "environment", "repo", "policy", "ahp"))
    return f"select * from (select *, row_number() over (partition by {key} order by {order}) as nth from ({rows}) r) o where nth = 1"


if __name__ == "__main__":
    main()
