-- The four views over a lake, for ClickHouse (chdb). {lake}, {grp}, {since} and {until} are put in by sums.py.
create or replace view evaluations as select *, coalesce(toString({grp}), '') as grp
  from file('{lake}/evaluations/date=*/*.parquet', Parquet) where toString(date) >= '{since}' and toString(date) <= '{until}';
create or replace view bindings as select *, coalesce(toString({grp}), '') as grp
  from file('{lake}/bindings/date=*/*.parquet', Parquet) where toString(date) >= '{since}' and toString(date) <= '{until}';
create or replace view signals as select *, coalesce(toString({grp}), '') as grp
  from file('{lake}/signals/date=*/*.parquet', Parquet) where toString(date) >= '{since}' and toString(date) <= '{until}';
create or replace view answers as select *
  from file('{lake}/answers/date=*/*.parquet', Parquet) where toString(date) >= '{since}' and toString(date) <= '{until}';
