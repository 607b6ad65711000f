-- How often each trigger came, and how it was decided.
select e.grp as grp, e.hook as hook, e.decision as decision, count(*) as evaluations
from evaluations e group by e.grp, e.hook, e.decision order by e.grp, e.hook, e.decision
