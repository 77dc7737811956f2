-- Example questions: `tally sql --examples` lists them, `tally sql --example NAME` asks one. See examples.py for the layout.

-- name: everything-about-a-file
-- Everything known about a file: every relation of every version of it.
-- :uri = file:///home/dev/project/receipts/totals.py
with target as (
  select artifact_id from artifacts
  where uri = :uri
)
select rel.relation_type,
       rel.src_kind,
       rel.src_id,
       rel.dst_kind,
       rel.dst_id,
       substr(rel.evidence, 1, 160) as evidence
from relations rel, target
where (rel.src_kind = 'artifact' and rel.src_id = target.artifact_id)
   or (rel.dst_kind = 'artifact' and rel.dst_id = target.artifact_id)
order by rel.relation_id;

-- name: prompts-from-prompts
-- Which later prompts derive from earlier prompts: they read what those had made.
select r.src_id as src_request,
       substr(src.original_user_prompt, 1, 80) as src_prompt,
       r.dst_id as dst_request,
       substr(dst.original_user_prompt, 1, 80) as dst_prompt,
       r.evidence
from relations r
join requests src on r.src_kind = 'request' and r.src_id = src.request_id
join requests dst on r.dst_kind = 'request' and r.dst_id = dst.request_id
where r.relation_type = 'derived_from'
order by r.relation_id;

-- name: denials-after-triage
-- Calls that were refused after a triage had looked at them: the last triage before each refusal, for the same tool.
select d.session_id,
       t.n as triage_step,
       d.n as denial_step,
       d.tool,
       coalesce(d.reason, d.decision_reason) as reason,
       d.check_path,
       t.suspicious
from session_events d
join session_events t on t.step_id = (
  select max(e.step_id) from session_events e
  where e.step_id between d.step_id - d.n and d.step_id - 1
    and e.type = 'security_triage' and e.tool is d.tool
)
where d.type in ('security_decision', 'decision')
  and coalesce(d.action, d.decision, d.effect) = 'deny'
  and not exists (
    select 1 from session_events e
    where e.step_id between t.step_id + 1 and d.step_id - 1
      and e.type in ('security_decision', 'decision') and e.tool is d.tool
  )
order by d.at_us;

-- name: refused-calls
-- Calls that somebody or some rule refused, newest first.
select ts, session_id, n, agent_id, tool, decided_by, decision_reason
from session_events
where type in ('tool_result', 'permission', 'decision', 'security_decision')
  and coalesce(decision, action, effect) in ('deny', 'block')
order by at_us desc;

-- name: changed-outside
-- Files that something else than an agent's call changed.
select uri,
       recent_unmatched_effect_count as effects,
       datetime(last_modified_at / 1000, 'unixepoch') as last_modified,
       last_modified_source
from artifact_facts
where is_unmatched_modified = 1
order by last_modified_at desc;

-- name: busiest-files
-- The files that most calls touched: how often they were read, made, changed and removed.
select t.uri,
       count(*) as accesses,
       count(distinct a.request_id) as requests,
       sum(a.operation = 'read') as read,
       sum(a.operation <> 'read') as other
from accesses a
join things t on t.thing = a.thing
where t.kind = 'file'
group by t.thing
order by accesses desc, t.uri;

-- name: prompts-that-touched-a-file
-- The prompts whose calls read or changed a file, by its path or the end of it.
-- :path = totals.py
select distinct datetime(q.created_at / 1000, 'unixepoch') as at,
       q.session_id,
       q.n,
       r.relation_type,
       substr(q.original_user_prompt, 1, 80) as prompt
from artifacts a
join relations r on (r.src_kind = 'artifact' and r.src_id = a.artifact_id and r.dst_kind = 'request')
                 or (r.dst_kind = 'artifact' and r.dst_id = a.artifact_id and r.src_kind = 'request')
join requests q on q.request_id = iif(r.src_kind = 'request', r.src_id, r.dst_id)
where a.kind = 'file' and (a.uri = 'file://' || :path or a.uri like '%/' || :path)
order by q.created_at;

-- name: what-never-happened
-- What calls meant to do to files and did not: refused, failed, or not confirmed.
select e.ts, e.session_id, e.n, i.outcome, i.operation, i.target
from intents i
join session_events e on e.step_id = i.step_id
where i.domain = 'file' and i.outcome <> 'confirmed'
order by e.at_us desc;

-- name: not-understood
-- Parts of commands that could not be resolved: what the graph cannot know.
select e.ts, e.session_id, e.n, i.operation, i.target
from intents i
join session_events e on e.step_id = i.step_id
where i.domain = 'unknown' or i.is_known = 0
order by e.at_us desc;

-- name: tools-by-failures
-- How often each tool was called and how often it failed.
select agent_id,
       tool,
       count(*) as calls,
       sum(success = 0) as failures,
       round(avg(duration_ms)) as mean_ms
from session_events
where type = 'tool_result' and revised_by is null and corroborates is null
group by agent_id, tool
order by failures desc, calls desc;

-- name: tokens-by-model
-- Tokens and cost of each model, as far as sources tell them.
select model,
       count(*) as calls,
       sum(tokens_input) as input,
       sum(tokens_output) as output,
       sum(tokens_cache_read) as cache_read,
       sum(tokens_cache_write) as cache_write,
       round(sum(cost_microusd) / 1e6, 4) as usd
from session_events
where type in ('model_call', 'usage') and revised_by is null and corroborates is null
group by model
order by output desc;

-- name: words
-- Steps in which two words stand, by the search index.
-- :words = refuse AND push
select e.ts, e.session_id, e.n, e.type, e.tool
from search
join session_events e on e.step_id = search.rowid
where search match :words
order by e.at_us desc;

-- name: session-tree
-- Each session with the one it hangs on, to any depth.
with recursive tree(session_id, depth, path) as (
  select session_id, 0, session_id from sessions where parent_session is null
  union all
  select s.session_id, t.depth + 1, t.path || '/' || s.session_id
  from sessions s join tree t on s.parent_session = t.session_id
  where t.depth < 20
)
select substr('. . . . . . . . . . ', 1, 2 * t.depth) || substr(s.session_id, 1, 8) as session, s.agent_id, s.kind, s.title
from tree t join sessions s using (session_id)
order by t.path;
