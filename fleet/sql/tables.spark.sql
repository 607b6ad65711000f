-- The four views over a lake, for Spark. {lake}, {grp}, {since} and {until} are put in by sums.py.
create or replace temporary view evaluations as select *, coalesce(cast({grp} as string), '') as grp
  from parquet.`{lake}/evaluations` where cast(date as string) >= '{since}' and cast(date as string) <= '{until}';
create or replace temporary view bindings as select *, coalesce(cast({grp} as string), '') as grp
  from parquet.`{lake}/bindings` where cast(date as string) >= '{since}' and cast(date as string) <= '{until}';
create or replace temporary view signals as select *, coalesce(cast({grp} as string), '') as grp
  from parquet.`{lake}/signals` where cast(date as string) >= '{since}' and cast(date as string) <= '{until}';
create or replace temporary view answers as select *
  from parquet.`{lake}/answers` where cast(date as string) >= '{since}' and cast(date as string) <= '{until}';
