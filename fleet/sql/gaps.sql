-- The logs of which records are missing or came twice. Each record is one row of these three tables, so that a record that
-- never came is a hole in `seq`.
select log_id as log_id, min(seq) as first_seq, max(seq) as last_seq,
  max(seq) - min(seq) + 1 - count(distinct seq) as missing,
  count(*) - count(distinct seq) as doubled
from (
  select log_id, seq from evaluations union all select log_id, seq from signals union all select log_id, seq from answers
) r
group by log_id
having max(seq) - min(seq) + 1 <> count(distinct seq) or count(*) <> count(distinct seq)
order by log_id
