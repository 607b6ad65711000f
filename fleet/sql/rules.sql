-- What is counted of each rule of each binding: its signals, its findings, and what became of them.
with
{findings},
fate_sums as (
  select grp, hook, binding, rule, count(*) as findings,
    sum(is_occasion) as occasions,
    sum(case when fate = 'repaired' then 1 else 0 end) as repaired,
    sum(case when fate = 'overridden' then 1 else 0 end) as overridden,
    sum(case when fate = 'overridden' then by_agent else 0 end) as overridden_by_agent,
    sum(case when fate = 'dismissed' then 1 else 0 end) as dismissed,
    sum(case when fate = 'dismissed' then by_agent else 0 end) as dismissed_by_agent,
    sum(case when fate = 'heeded' then 1 else 0 end) as heeded,
    sum(case when fate = 'ignored' then 1 else 0 end) as ignored
  from fates group by grp, hook, binding, rule
),
signal_sums as (
  select grp, hook, binding, rule,
    sum(case when intensity = 'block' then 1 else 0 end) as blocks,
    sum(case when intensity = 'control' then 1 else 0 end) as controls,
    sum(case when intensity = 'prompt' then 1 else 0 end) as prompts,
    sum(case when intensity = 'aid' then 1 else 0 end) as aids
  from signals group by grp, hook, binding, rule
)
select s.grp as grp, s.hook as hook, s.binding as binding, s.rule as rule,
  s.blocks as blocks, s.controls as controls, s.prompts as prompts, s.aids as aids,
  coalesce(f.findings, 0) as findings, coalesce(f.occasions, 0) as occasions, coalesce(f.repaired, 0) as repaired,
  coalesce(f.overridden, 0) as overridden, coalesce(f.overridden_by_agent, 0) as overridden_by_agent,
  coalesce(f.dismissed, 0) as dismissed, coalesce(f.dismissed_by_agent, 0) as dismissed_by_agent,
  coalesce(f.heeded, 0) as heeded, coalesce(f.ignored, 0) as ignored
from signal_sums s
left join fate_sums f on s.grp = f.grp and s.hook = f.hook and s.binding = f.binding and s.rule = f.rule
order by s.grp, s.hook, s.binding, s.rule
