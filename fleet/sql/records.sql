-- How much was gathered: records, logs and machines, and from when to when.
with
{ends},
counts as (
  select count(*) as records, count(distinct log_id) as logs, count(distinct machine) as machines from every
),
times as (
  select min(first_ms) as since_ms, max(last_ms) as until_ms from ends
)
select c.records as records, c.logs as logs, c.machines as machines, t.since_ms as first_ms, t.until_ms as last_ms
from counts c cross join times t
