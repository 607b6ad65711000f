-- The four views over a lake, for Spark. {lake}, {grp}, {since}, {until} and {distinct} are put in by sums.py.
create or replace temporary view evaluations as select {distinct} *, coalesce(cast({grp} as string), '') as grp
  from parquet.`{lake}/evaluations` where cast(date as string) >= '{since}' and cast(date as string) <= '{until}';
create or replace temporary view bindings as select {distinct} *, coalesce(cast({grp} as string), '') as grp
  from parquet.`{lake}/bindings` where cast(date as string) >= '{since}' and cast(date as string) <= '{until}';
create or replace temporary view signals as select {distinct} *, coalesce(cast({grp} as string), '') as grp
  from parquet.`{lake}/signals` where cast(date as string) >= '{since}' and cast(date as string) <= '{until}';
create or replace temporary view answers as select {distinct} *
  from parquet.`{lake}/answers` where cast(date as string) >= '{since}' and cast(date as string) <= '{until}';
