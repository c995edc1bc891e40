-- The tags of logs, one row each, with all that a list is filtered by. Behind row-level security an index can answer only what
-- is leakproof, and whether an array contains something is not: each search for a tag read all logs of the space.

create table log_tags (
  tenant_id text not null,
  space_id uuid not null,
  tag text not null,
  created_at timestamptz not null,
  id uuid not null,
  user_id text not null,
  model text not null,
  type text,
  status text not null,
  correlation_id text not null,
  constraint log_tags_pk primary key (tenant_id, space_id, tag, created_at, id)
);
call fence('log_tags', 'select');

lock table logs in share row exclusive mode;
set local role amphi_system;
insert into log_tags
select distinct tenant_id, space_id, unnest(tags), created_at, id, user_id, model, type, status, correlation_id
from logs where tags <> '{}';
reset role;
drop index logs_by_tag;
