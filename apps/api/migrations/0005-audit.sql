-- What was done, by whom, and what was refused: written with the change, never altered (contract 5.4).

create table audit (
  tenant_id text not null,
  id uuid not null,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  outcome text not null,
  resource text not null,
  resource_id text,
  spaces uuid[] not null,
  before jsonb,
  after jsonb,
  request_id text,
  constraint audit_pk primary key (tenant_id, id),
  constraint audit_outcome check (outcome in ('done', 'denied', 'failed'))
);
create index audit_by_space on audit using gin (spaces);
call fence('audit', 'select, insert');
revoke update, delete on audit from amphi_system;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'The table % only grows', tg_table_name;
end $$;
create trigger audit_only_grows before update or delete or truncate on audit
  for each statement execute function refuse_change();
