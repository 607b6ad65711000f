-- The four views over a lake, for DuckDB. {lake}, {grp}, {since} and {until} are put in by sums.py.
create or replace view evaluations as select *, coalesce(cast({grp} as varchar), '') as grp
  from read_parquet('{lake}/evaluations/date=*/*.parquet', hive_partitioning = true, hive_types_autocast = false, union_by_name = true)
  where date >= '{since}' and date <= '{until}';
create or replace view bindings as select *, coalesce(cast({grp} as varchar), '') as grp
  from read_parquet('{lake}/bindings/date=*/*.parquet', hive_partitioning = true, hive_types_autocast = false, union_by_name = true)
  where date >= '{since}' and date <= '{until}';
create or replace view signals as select *, coalesce(cast({grp} as varchar), '') as grp
  from read_parquet('{lake}/signals/date=*/*.parquet', hive_partitioning = true, hive_types_autocast = false, union_by_name = true)
  where date >= '{since}' and date <= '{until}';
create or replace view answers as select *
  from read_parquet('{lake}/answers/date=*/*.parquet', hive_partitioning = true, hive_types_autocast = false, union_by_name = true)
  where date >= '{since}' and date <= '{until}';
