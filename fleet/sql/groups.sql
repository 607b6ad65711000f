-- What is counted of each group: events, how many were stopped, signals, how many of them were answered, findings and repairs.
with
figures as (
  select b.grp as grp, sum(b.blocks) as blocks, sum(b.controls) as controls, sum(b.prompts) as prompts, sum(b.aids) as aids,
    sum(b.retry_after_fix + b.proceed_with_risk + b.abort + b.accept_modification + b.reject_modification + b.acknowledge
      + b.apply_suggestion + b.dismiss + b.suggestion_applied + b.suggestion_deferred) as answered,
    sum(b.findings) as findings, sum(b.occasions) as occasions, sum(b.repaired) as repaired, sum(b.overridden) as overridden,
    sum(b.overridden_by_agent) as overridden_by_agent, sum(b.dismissed) as dismissed,
    sum(b.dismissed_by_agent) as dismissed_by_agent, sum(b.heeded) as heeded, sum(b.ignored) as ignored, sum(b.repair_ms) as repair_ms
  from ({bindings}) b group by b.grp
),
events as (
  select e.grp as grp, count(*) as evaluations, sum(case when e.decision in ('ask', 'block') then 1 else 0 end) as stopped
  from evaluations e group by e.grp
),
-- In each log the times are those of the first and of the last record, whatever its clock did in between.
bounds as (
  select grp, log_id, min(seq) as first_seq, max(seq) as last_seq from evaluations group by grp, log_id
),
times as (
  select d.grp as grp, min(case when e.seq = d.first_seq then e.time_ms end) as first_ms,
    max(case when e.seq = d.last_seq then e.time_ms end) as last_ms
  from bounds d join evaluations e on d.grp = e.grp and d.log_id = e.log_id
  where e.seq = d.first_seq or e.seq = d.last_seq
  group by d.grp
),
all_groups as (
  select grp from events union distinct select grp from figures
)
select n.grp as grp, coalesce(v.evaluations, 0) as evaluations, coalesce(v.stopped, 0) as stopped, coalesce(f.blocks, 0) as blocks,
  coalesce(f.controls, 0) as controls, coalesce(f.prompts, 0) as prompts, coalesce(f.aids, 0) as aids,
  coalesce(f.answered, 0) as answered, coalesce(f.findings, 0) as findings, coalesce(f.occasions, 0) as occasions,
  coalesce(f.repaired, 0) as repaired, coalesce(f.overridden, 0) as overridden,
  coalesce(f.overridden_by_agent, 0) as overridden_by_agent, coalesce(f.dismissed, 0) as dismissed,
  coalesce(f.dismissed_by_agent, 0) as dismissed_by_agent, coalesce(f.heeded, 0) as heeded,
  coalesce(f.ignored, 0) as ignored, coalesce(f.repair_ms, 0) as repair_ms, t.first_ms as first_ms, t.last_ms as last_ms
from all_groups n
left join events v on n.grp = v.grp
left join figures f on n.grp = f.grp
left join times t on n.grp = t.grp
order by n.grp
