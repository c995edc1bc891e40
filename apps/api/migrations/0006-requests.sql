-- What requests leave behind: answers kept for repeats, and work to be done after the answer.

create table idempotency_keys (
  tenant_id text not null,
  user_id text not null,
  key text not null,
  operation text not null,
  request_hash text not null,
  -- The process that runs the first request; when it is gone and no answer is kept, the outcome is unknown.
  replica_id uuid not null,
  status int,
  sealed_body text,
  started_at timestamptz not null default now(),
  constraint idempotency_keys_pk primary key (tenant_id, user_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (started_at);
call fence('idempotency_keys');

create table jobs (
  id uuid not null,
  tenant_id text not null,
  space_id uuid,
  user_id text not null,
  request_id text not null,
  name text not null,
  payload jsonb not null,
  attempt int not null default 0,
  run_after timestamptz not null default now(),
  locked_until timestamptz,
  last_error text,
  created_at timestamptz not null default now(),
  constraint jobs_pk primary key (id)
);
create index jobs_by_due on jobs (run_after);
call fence('jobs', 'insert');
