-- What was found and what became of it, the part of a query that bindings.sql and rules.sql have in common; it ends with `fates`.
-- Findings, as docs/signal-log.md defines them. A hit is an evaluation in which one was found; a failure to judge is none.
-- A signal has a row for each finding: its first one, and the others, which stand in `also_found` as 16 digits and a space each.
tens as (
  select 0 as n union all select 1 as n union all select 2 as n union all select 3 as n union all select 4 as n
),
digits as (
  select n from tens union all select n + 5 as n from tens
),
found as (
  select log_id, hook, binding, issue, session, finding, coalesce(of_seq, seq) as of_seq, acted_on, grp, rule, intensity,
    signal_id, seq as given_seq, time_ms
  from signals
  union all
  select s.log_id as log_id, s.hook as hook, s.binding as binding, s.issue as issue, s.session as session,
    substring(s.also_found, t.n * 170 + d.n * 17 + 1, 16) as finding, coalesce(s.of_seq, s.seq) as of_seq,
    s.acted_on as acted_on, s.grp as grp, s.rule as rule, s.intensity as intensity, s.signal_id as signal_id,
    s.seq as given_seq, s.time_ms as time_ms
  from (select * from signals where also_found is not null) s cross join tens t cross join digits d
  where length(s.also_found) > t.n * 170 + d.n * 17
),
-- Where an evaluation gave several signals of one finding, the first one says what is known of it.
told as (
  select s.log_id as log_id, s.hook as hook, s.binding as binding, coalesce(s.issue, s.session, '') as subject,
    s.finding as finding, s.of_seq as seq, coalesce(s.acted_on, '') as object, s.grp as grp, s.issue as issue,
    s.session as session, s.rule as rule, s.given_seq as given_seq, s.time_ms as hit_ms,
    row_number() over (
      partition by s.log_id, s.hook, s.binding, coalesce(s.issue, s.session, ''), s.finding, s.of_seq order by s.given_seq
    ) as place
  from found s left join (select distinct log_id, hook, binding, seq from bindings where outcome = 'failed') b
    on s.log_id = b.log_id and s.hook = b.hook and s.binding = b.binding and s.of_seq = b.seq
  where s.intensity <> 'aid' and b.seq is null
),
hits as (
  select * from told where place = 1
),
-- Only what something was ever found of is sorted: what nothing was found of is most of it.
judged as (
  select b.log_id as log_id, b.hook as hook, b.binding as binding, b.subject as subject, h.object as object, b.seq as seq,
    min(b.time_ms) as judged_ms
  from bindings b join (select distinct log_id, hook, binding, subject, object from hits) h
    on b.log_id = h.log_id and b.hook = h.hook and b.binding = h.binding and b.subject = h.subject
    and coalesce(b.acted_on, '') = h.object
  where b.outcome in ('accepted', 'signalled')
  group by b.log_id, b.hook, b.binding, b.subject, h.object, b.seq
),
stream as (
  select log_id, hook, binding, subject, object, seq, 0 as is_hit, '' as finding from judged
  union all
  select log_id, hook, binding, subject, object, seq, 1 as is_hit, finding from hits
),
-- Behind each hit, where its object was judged next.
followed as (
  select log_id, hook, binding, subject, object, seq, is_hit, finding,
    min(case when is_hit = 0 then seq end) over (
      partition by log_id, hook, binding, subject, object order by seq desc, is_hit desc
      rows between unbounded preceding and 1 preceding
    ) as next_judged
  from stream
),
-- What was found of no issue does not outlive its session.
session_ends as (
  select h.log_id as log_id, h.hook as hook, h.binding as binding, h.finding as finding, h.subject as subject, h.seq as seq,
    min(e.seq) as end_seq
  from hits h join evaluations e on h.log_id = e.log_id and h.session = e.session
  where h.issue is null and e.hook = 'post-session' and e.seq > h.seq
  group by h.log_id, h.hook, h.binding, h.finding, h.subject, h.seq
),
-- Where an answer held one back.
held_back as (
  select distinct b.log_id as log_id, b.hook as hook, b.binding as binding, b.subject as subject, b.seq as seq,
    s.finding as finding
  from bindings b join found s on b.log_id = s.log_id and b.hook = s.hook and b.binding = s.binding
  where b.waived like concat('%', s.signal_id, '%') and b.subject = coalesce(s.issue, s.session, '')
),
stepped as (
  select h.log_id as log_id, h.hook as hook, h.binding as binding, h.subject as subject, h.finding as finding, h.seq as seq,
    h.grp as grp, h.issue as issue, h.session as session, h.rule as rule, h.given_seq as given_seq, h.hit_ms as hit_ms,
    f.next_judged as next_judged,
    s.end_seq as end_seq, w.seq as waived_seq,
    -- ClickHouse has 0 behind the last one of a column that has no nulls.
    lead(case when h.seq > 0 then h.seq end) over (partition by h.log_id, h.hook, h.binding, h.subject, h.finding order by h.seq) as next_hit
  from hits h
  join (select * from followed where is_hit = 1) f
    on h.log_id = f.log_id and h.hook = f.hook and h.binding = f.binding and h.subject = f.subject
    and h.object = f.object and h.finding = f.finding and h.seq = f.seq
  left join session_ends s
    on h.log_id = s.log_id and h.hook = s.hook and h.binding = s.binding and h.subject = s.subject
    and h.finding = s.finding and h.seq = s.seq
  left join held_back w
    on h.log_id = w.log_id and h.hook = w.hook and h.binding = w.binding and h.subject = w.subject
    and h.finding = w.finding and f.next_judged = w.seq
),
-- With which hit a finding ended, and how.
closed as (
  select log_id, hook, binding, subject, finding, seq, grp, issue, session, rule, given_seq, hit_ms, next_judged, end_seq,
    case
      when end_seq <= coalesce(next_judged, end_seq) and end_seq <= coalesce(next_hit, end_seq) then 'session'
      when waived_seq <= coalesce(next_hit, waived_seq) then 'waived'
      when next_judged < coalesce(next_hit, next_judged + 1) then 'judged'
      when next_hit is null then 'open'
    end as how
  from stepped
),
numbered as (
  select log_id, hook, binding, subject, finding, seq, grp, issue, session, rule, given_seq, hit_ms, how,
    case when how in ('judged', 'waived') then next_judged when how = 'session' then end_seq end as until_seq,
    coalesce(sum(case when how is not null then 1 else 0 end) over (
      partition by log_id, hook, binding, subject, finding order by seq
      rows between unbounded preceding and 1 preceding
    ), 0) as episode
  from closed
),
spans as (
  select log_id, hook, binding, subject, finding, episode, min(seq) as first_seq, max(seq) as last_seq,
    count(*) as hits, max(how) as how, max(until_seq) as until_seq
  from numbered group by log_id, hook, binding, subject, finding, episode
),
-- What was said of a signal is not undone by what is concluded later.
first_said as (
  select log_id, signal_id, min(seq) as first_seq from answers where not refused and not inferred group by log_id, signal_id
),
counted as (
  select a.log_id as log_id, a.signal_id as signal_id, a.seq as seq, a.action as action, a.inferred as inferred,
    a.answered_by as answered_by
  from answers a left join first_said f on a.log_id = f.log_id and a.signal_id = f.signal_id
  where not a.refused and (not a.inferred or a.seq < coalesce(f.first_seq, a.seq + 1))
),
said as (
  select s.log_id as log_id, s.hook as hook, s.binding as binding, coalesce(s.issue, s.session, '') as subject,
    s.finding as finding, a.seq as said_seq, a.answered_by as answered_by,
    case
      when a.action = 'proceed_with_risk' then 'overridden'
      when a.action in ('acknowledge', 'dismiss', 'reject_modification', 'suggestion_deferred') then 'dismissed'
    end as fate
  from counted a join found s on a.log_id = s.log_id and a.signal_id = s.signal_id
  where not a.inferred or a.answered_by = 'human'
),
-- Of each finding the last answer that was said while it stood.
answered as (
  select p.log_id as log_id, p.hook as hook, p.binding as binding, p.subject as subject, p.finding as finding,
    p.episode as episode, a.fate as fate, a.answered_by as answered_by,
    row_number() over (
      partition by p.log_id, p.hook, p.binding, p.subject, p.finding, p.episode order by a.said_seq desc
    ) as place
  from spans p join said a
    on p.log_id = a.log_id and p.hook = a.hook and p.binding = a.binding and p.subject = a.subject and p.finding = a.finding
  where a.said_seq > p.first_seq and a.said_seq < coalesce(p.until_seq, a.said_seq + 1)
),
-- What was stopped and went on after all, as what came next shows.
went_on as (
  select distinct p.log_id as log_id, p.hook as hook, p.binding as binding, p.subject as subject, p.finding as finding,
    p.episode as episode
  from spans p
  join found s on p.log_id = s.log_id and p.hook = s.hook and p.binding = s.binding
    and p.subject = coalesce(s.issue, s.session, '') and p.finding = s.finding
  join counted a on s.log_id = a.log_id and s.signal_id = a.signal_id
  where a.inferred and a.action in ('dismiss', 'accept_modification')
    and a.seq > p.last_seq and a.seq < coalesce(p.until_seq, a.seq + 1)
),
{ends},
-- When something of a session was written last.
heard as (
  select log_id, session, seq, time_ms from evaluations where session is not null
  union all
  select log_id, session, seq, time_ms from signals where session is not null
),
session_last as (
  select h.log_id as log_id, h.session as session, min(h.time_ms) as heard_ms
  from heard h join (select log_id, session, max(seq) as last_seq from heard group by log_id, session) m
    on h.log_id = m.log_id and h.session = m.session and h.seq = m.last_seq
  group by h.log_id, h.session
),
ended as (
  select n.grp as grp, p.hook as hook, p.binding as binding, n.rule as rule, p.log_id as log_id, n.given_seq as given_seq,
    p.finding as finding, p.hits as hits,
    -- A clock that was set back makes no repair take less than no time.
    case when j.judged_ms > n.hit_ms then j.judged_ms - n.hit_ms else 0 end as took_ms,
    -- What was held back without a word that is known was held back by the agent.
    coalesce(a.answered_by, 'agent') as answered_by,
    case
      when p.how = 'judged' then 'repaired'
      when p.how = 'waived' then coalesce(a.fate, 'dismissed')
      when a.fate is not null then a.fate
      when p.how = 'session' or n.issue is null and l.last_ms - t.heard_ms > 86400000
        then case when e.decision in ('ask', 'block') and g.episode is null then 'heeded' else 'ignored' end
    end as fate
  from spans p
  join numbered n on p.log_id = n.log_id and p.hook = n.hook and p.binding = n.binding and p.subject = n.subject
    and p.finding = n.finding and p.first_seq = n.seq
  left join evaluations e on p.log_id = e.log_id and p.last_seq = e.seq
  join ends l on p.log_id = l.log_id
  left join session_last t on n.log_id = t.log_id and n.session = t.session
  left join (select distinct log_id, hook, binding, subject, seq, judged_ms from judged) j
    on p.log_id = j.log_id and p.hook = j.hook and p.binding = j.binding and p.subject = j.subject and p.until_seq = j.seq
  left join (select * from answered where place = 1) a
    on p.log_id = a.log_id and p.hook = a.hook and p.binding = a.binding and p.subject = a.subject
    and p.finding = a.finding and p.episode = a.episode
  left join went_on g
    on p.log_id = g.log_id and p.hook = g.hook and p.binding = g.binding and p.subject = g.subject
    and p.finding = g.finding and p.episode = g.episode
),
-- What one signal brought at once is one occasion.
fates as (
  select grp, hook, binding, rule, hits, took_ms, fate,
    case when fate in ('overridden', 'dismissed') and answered_by = 'agent' then 1 else 0 end as by_agent,
    case when row_number() over (partition by log_id, given_seq order by finding) = 1 then 1 else 0 end as is_occasion
  from ended
)
