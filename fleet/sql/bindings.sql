-- The figures of `ahp log stats`, for each group, trigger and binding. One text for DuckDB, ClickHouse and Spark: no alias
-- has the name of a column that its query reads, and there is no function of times, lists or maps.
with
-- Of each signal the last answer that was said; only where none was said the last that was concluded.
ranked as (
  select a.log_id as log_id, a.signal_id as signal_id, a.action as action, a.inferred as inferred,
    row_number() over (
      partition by a.log_id, a.signal_id order by case when a.inferred then 1 else 0 end, a.seq desc
    ) as place
  from answers a where not a.refused
),
given as (
  select s.grp as grp, s.hook as hook, s.binding as binding, s.oracle as oracle, s.source as source, s.intensity as intensity,
    r.action as action, r.inferred as inferred
  from signals s left join (select * from ranked where place = 1) r
    on s.log_id = r.log_id and s.signal_id = r.signal_id
),
given_sums as (
  select grp, hook, binding, max(oracle) as oracle, max(source) as source,
    sum(case when intensity = 'block' then 1 else 0 end) as blocks,
    sum(case when intensity = 'control' then 1 else 0 end) as controls,
    sum(case when intensity = 'prompt' then 1 else 0 end) as prompts,
    sum(case when intensity = 'aid' then 1 else 0 end) as aids,
    sum(case when action = 'retry_after_fix' then 1 else 0 end) as retry_after_fix,
    sum(case when action = 'proceed_with_risk' then 1 else 0 end) as proceed_with_risk,
    sum(case when action = 'abort' then 1 else 0 end) as abort,
    sum(case when action = 'accept_modification' then 1 else 0 end) as accept_modification,
    sum(case when action = 'reject_modification' then 1 else 0 end) as reject_modification,
    sum(case when action = 'acknowledge' then 1 else 0 end) as acknowledge,
    sum(case when action = 'apply_suggestion' then 1 else 0 end) as apply_suggestion,
    sum(case when action = 'dismiss' then 1 else 0 end) as dismiss,
    sum(case when action = 'suggestion_applied' then 1 else 0 end) as suggestion_applied,
    sum(case when action = 'suggestion_deferred' then 1 else 0 end) as suggestion_deferred,
    sum(case when action is not null and action <> '' and inferred then 1 else 0 end) as inferred_answers
  from given group by grp, hook, binding
),
refused_sums as (
  select s.grp as grp, s.hook as hook, s.binding as binding, count(*) as refused
  from answers a join signals s on a.log_id = s.log_id and a.signal_id = s.signal_id
  where a.refused group by s.grp, s.hook, s.binding
),
run_sums as (
  select grp, hook, binding, max(oracle) as oracle, max(source) as source,
    sum(case when outcome in ('accepted', 'signalled', 'failed', 'started') then 1 else 0 end) as triggered,
    sum(case when outcome = 'accepted' and coalesce(waived, '') = '' then 1 else 0 end) as accepted,
    sum(case when outcome = 'signalled' then 1 else 0 end) as signalled,
    sum(case when outcome = 'failed' then 1 else 0 end) as errors,
    sum(case when outcome = 'failed' and timed_out then 1 else 0 end) as timeouts,
    sum(case when outcome in ('accepted', 'signalled', 'failed') and duration_us >= 2000000 then 1 else 0 end) as slow_runs
  from bindings group by grp, hook, binding
),
{findings},
finding_sums as (
  select grp, hook, binding, count(*) as findings,
    sum(is_occasion) as occasions,
    sum(case when fate = 'repaired' then 1 else 0 end) as repaired,
    sum(case when fate = 'overridden' then 1 else 0 end) as overridden,
    sum(case when fate = 'overridden' then by_agent else 0 end) as overridden_by_agent,
    sum(case when fate = 'dismissed' then 1 else 0 end) as dismissed,
    sum(case when fate = 'dismissed' then by_agent else 0 end) as dismissed_by_agent,
    sum(case when fate = 'heeded' then 1 else 0 end) as heeded,
    sum(case when fate = 'ignored' then 1 else 0 end) as ignored,
    sum(case when fate = 'repaired' then took_ms else 0 end) as repair_ms,
    sum(case when fate = 'repaired' then hits + 1 else 0 end) as tries,
    sum(case when fate = 'repaired' and (took_ms >= 1800000 or hits + 1 >= 4) then 1 else 0 end) as hard_repairs,
    sum(case when fate = 'repaired' and took_ms < 60000 then 1 else 0 end) as in_1m,
    sum(case when fate = 'repaired' and took_ms < 300000 then 1 else 0 end) as in_5m,
    sum(case when fate = 'repaired' and took_ms < 900000 then 1 else 0 end) as in_15m,
    sum(case when fate = 'repaired' and took_ms < 3600000 then 1 else 0 end) as in_1h,
    sum(case when fate = 'repaired' and took_ms < 14400000 then 1 else 0 end) as in_4h,
    sum(case when fate = 'repaired' and took_ms < 86400000 then 1 else 0 end) as in_1d
  from fates group by grp, hook, binding
),
durations as (
  select grp, hook, binding, duration_us as us, count(*) as times
  from bindings where outcome in ('accepted', 'signalled', 'failed') group by grp, hook, binding, duration_us
),
cumulated as (
  select grp, hook, binding, us,
    sum(times) over (partition by grp, hook, binding order by us rows between unbounded preceding and current row) as seen,
    sum(times) over (partition by grp, hook, binding) as total
  from durations
),
-- What the program itself says, as of a faulty policy, has signals and never a run.
named as (
  select grp, hook, binding from bindings union distinct select grp, hook, binding from signals
),
percentiles as (
  select grp, hook, binding,
    min(case when seen * 100 >= total * 50 then us end) as p50_us,
    min(case when seen * 100 >= total * 99 then us end) as p99_us
  from cumulated group by grp, hook, binding
)
select n.grp as grp, n.hook as hook, n.binding as binding, coalesce(r.oracle, g.oracle) as oracle,
  coalesce(r.source, g.source) as source, coalesce(r.triggered, 0) as triggered, coalesce(r.accepted, 0) as accepted,
  coalesce(r.signalled, 0) as signalled, coalesce(r.errors, 0) as errors, coalesce(r.timeouts, 0) as timeouts,
  coalesce(r.slow_runs, 0) as slow_runs,
  coalesce(g.blocks, 0) as blocks, coalesce(g.controls, 0) as controls, coalesce(g.prompts, 0) as prompts,
  coalesce(g.aids, 0) as aids,
  coalesce(g.retry_after_fix, 0) as retry_after_fix, coalesce(g.proceed_with_risk, 0) as proceed_with_risk,
  coalesce(g.abort, 0) as abort, coalesce(g.accept_modification, 0) as accept_modification,
  coalesce(g.reject_modification, 0) as reject_modification, coalesce(g.acknowledge, 0) as acknowledge,
  coalesce(g.apply_suggestion, 0) as apply_suggestion, coalesce(g.dismiss, 0) as dismiss,
  coalesce(g.suggestion_applied, 0) as suggestion_applied, coalesce(g.suggestion_deferred, 0) as suggestion_deferred,
  coalesce(g.inferred_answers, 0) as inferred, coalesce(f.refused, 0) as refused,
  coalesce(p.findings, 0) as findings, coalesce(p.occasions, 0) as occasions, coalesce(p.overridden, 0) as overridden,
  coalesce(p.overridden_by_agent, 0) as overridden_by_agent, coalesce(p.dismissed, 0) as dismissed,
  coalesce(p.dismissed_by_agent, 0) as dismissed_by_agent,
  coalesce(p.heeded, 0) as heeded, coalesce(p.ignored, 0) as ignored,
  coalesce(p.repaired, 0) as repaired, coalesce(p.repair_ms, 0) as repair_ms, coalesce(p.tries, 0) as tries,
  coalesce(p.hard_repairs, 0) as hard_repairs, coalesce(p.in_1m, 0) as in_1m, coalesce(p.in_5m, 0) as in_5m,
  coalesce(p.in_15m, 0) as in_15m, coalesce(p.in_1h, 0) as in_1h, coalesce(p.in_4h, 0) as in_4h, coalesce(p.in_1d, 0) as in_1d,
  q.p50_us as p50_us, q.p99_us as p99_us
from named n
left join run_sums r on n.grp = r.grp and n.hook = r.hook and n.binding = r.binding
left join given_sums g on n.grp = g.grp and n.hook = g.hook and n.binding = g.binding
left join refused_sums f on n.grp = f.grp and n.hook = f.hook and n.binding = f.binding
left join finding_sums p on n.grp = p.grp and n.hook = p.hook and n.binding = p.binding
left join percentiles q on n.grp = q.grp and n.hook = q.hook and n.binding = q.binding
order by n.grp, n.hook, n.binding
