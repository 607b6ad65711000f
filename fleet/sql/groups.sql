-- What is counted of each group: events, how many were stopped, signals, how many of them were answered, findings and repairs.
with
figures as (
  select b.grp as grp, sum(b.blocks) as blocks, sum(b.controls) as controls, sum(b.prompts) as prompts, sum(b.aids) as aids,
    sum(b.retry_after_fix + b.proceed_with_risk + b.abort + b.accept_modification + b.reject_modification + b.acknowledge
      + b.apply_suggestion + b.dismiss + b.suggestion_applied + b.suggestion_deferred) as answered,
    sum(b.findings) as findings, sum(b.repaired) as repaired, sum(b.overridden) as overridden, sum(b.dismissed) as dismissed,
    sum(b.heeded) as heeded, sum(b.ignored) as ignored, sum(b.repair_ms) as repair_ms
  from ({bindings}) b group by b.grp
),
events as (
  select e.grp as grp, count(*) as evaluations, sum(case when e.decision in ('ask', 'block') then 1 else 0 end) as stopped,
    min(e.time_ms) as first_ms, max(e.time_ms) as last_ms
  from evaluations e group by e.grp
)
select v.grp as grp, v.evaluations as evaluations, v.stopped as stopped, coalesce(f.blocks, 0) as blocks,
  coalesce(f.controls, 0) as controls, coalesce(f.prompts, 0) as prompts, coalesce(f.aids, 0) as aids,
  coalesce(f.answered, 0) as answered, coalesce(f.findings, 0) as findings, coalesce(f.repaired, 0) as repaired,
  coalesce(f.overridden, 0) as overridden, coalesce(f.dismissed, 0) as dismissed, coalesce(f.heeded, 0) as heeded,
  coalesce(f.ignored, 0) as ignored, coalesce(f.repair_ms, 0) as repair_ms, v.first_ms as first_ms, v.last_ms as last_ms
from events v left join figures f on v.grp = f.grp
order by v.grp
