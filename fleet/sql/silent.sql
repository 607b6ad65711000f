-- The machines that sent records before, and none for three days.
with
{ends},
heard as (
  select machine, max(last_ms) as heard_ms from ends group by machine
)
select machine as machine, heard_ms as last_ms from heard where heard_ms < {now_ms} - 259200000 order by machine
