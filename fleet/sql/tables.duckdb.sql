-- The four views over a lake, for DuckDB. {lake}, {grp}, {since}, {until} and {distinct} are put in by sums.py.
create or replace view evaluations as select {distinct} *, coalesce(cast({grp} as varchar), '') as grp
  from read_parquet('{lake}/evaluations/date=*/*.parquet', hive_partitioning = true, hive_types_autocast = false)
  where date >= '{since}' and date <= '{until}';
create or replace view bindings as select {distinct} *, coalesce(cast({grp} as varchar), '') as grp
  from read_parquet('{lake}/bindings/date=*/*.parquet', hive_partitioning = true, hive_types_autocast = false)
  where date >= '{since}' and date <= '{until}';
create or replace view signals as select {distinct} *, coalesce(cast({grp} as varchar), '') as grp
  from read_parquet('{lake}/signals/date=*/*.parquet', hive_partitioning = true, hive_types_autocast = false)
  where date >= '{since}' and date <= '{until}';
create or replace view answers as select {distinct} *
  from read_parquet('{lake}/answers/date=*/*.parquet', hive_partitioning = true, hive_types_autocast = false)
  where date >= '{since}' and date <= '{until}';
