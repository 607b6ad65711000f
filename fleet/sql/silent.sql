-- The machines that sent records before, and none for three days.
select machine as machine, max(time_ms) as last_ms
from (
  select machine, time_ms from evaluations union all select machine, time_ms from signals
) r
group by machine having max(time_ms) < {now_ms} - 259200000
order by machine
