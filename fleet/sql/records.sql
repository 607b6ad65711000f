-- How much was gathered: records, logs and machines, and from when to when.
select count(*) as records, count(distinct r.log_id) as logs, count(distinct r.machine) as machines,
  min(r.time_ms) as first_ms, max(r.time_ms) as last_ms
from (
  select log_id, machine, time_ms from evaluations union all select log_id, machine, time_ms from signals
  union all select log_id, machine, time_ms from answers
) r
