-- The logs of which records are missing or came twice. Each record is one row of three tables, so that a record that never
-- came is a hole in `seq`; an evaluation is whole where each of its bindings has its row. What was gone before anything of
-- its log could be carried left no hole: the first batch says how much it was, which sums.py puts in as {lost}.
with
lost as (
  {lost}
),
copies as (
  select log_id, seq, count(*) as times
  from (
    select log_id, seq from evaluations union all select log_id, seq from signals union all select log_id, seq from answers
  ) r
  group by log_id, seq
),
-- Files of before the column was added do not say how many bindings there are.
owed as (
  select log_id, seq, max(bindings) as runs from evaluations group by log_id, seq
),
given as (
  select log_id, seq, count(*) as times, count(distinct pos) as places from bindings group by log_id, seq
),
records as (
  select c.log_id as log_id, c.seq as seq,
    case when c.times > 1 then c.times - 1 when g.times > g.places then 1 else 0 end as extra,
    case when coalesce(g.places, 0) < o.runs then 1 else 0 end as torn
  from copies c
  left join owed o on c.log_id = o.log_id and c.seq = o.seq
  left join given g on c.log_id = g.log_id and c.seq = g.seq
),
logs as (
  select log_id, min(seq) as low, max(seq) as high, count(*) as different, sum(extra) as extras, sum(torn) as parts
  from records group by log_id
),
judged as (
  select g.log_id as log_id, g.low - coalesce(t.gone, 0) as first_seq, g.high as last_seq,
    g.high - g.low + 1 - g.different + g.parts + coalesce(t.gone, 0) as missing, g.extras as doubled
  from logs g left join lost t on g.log_id = t.log_id and g.low = t.seq
)
select log_id as log_id, first_seq as first_seq, last_seq as last_seq, missing as missing, doubled as doubled
from judged where missing > 0 or doubled > 0
order by log_id
