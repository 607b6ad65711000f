-- When the first and the last record of each log were written, a part of queries. The order is that of `seq`: a clock may
-- have been set back.
every as (
  select log_id, machine, seq, time_ms from evaluations union all select log_id, machine, seq, time_ms from signals
  union all select log_id, machine, seq, time_ms from answers
),
edges as (
  select log_id, min(seq) as first_seq, max(seq) as last_seq from every group by log_id
),
ends as (
  select e.log_id as log_id, min(case when r.seq = e.first_seq then r.time_ms end) as first_ms,
    min(case when r.seq = e.last_seq then r.time_ms end) as last_ms, min(r.machine) as machine
  from edges e join every r on e.log_id = r.log_id
  where r.seq = e.first_seq or r.seq = e.last_seq
  group by e.log_id
)
