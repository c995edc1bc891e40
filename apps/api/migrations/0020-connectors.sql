-- Connectors and what their scans found (contract 2.12, 2.28, 3.5).

create table connectors (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  name text not null,
  provider text not null,
  region text not null,
  bucket text not null,
  -- A folder: empty, or with a slash at its end.
  prefix text not null,
  sealed_keys text not null,
  status text not null,
  -- Why the status is error; absent otherwise.
  error text,
  created_at timestamptz not null default now(),
  created_by text not null,
  constraint connectors_pk primary key (tenant_id, space_id, id),
  constraint connectors_status check (status in ('pending', 'active', 'scanning', 'error')),
  constraint connectors_error check ((status = 'error') = (error is not null)),
  constraint connectors_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
call fence('connectors');

create table connector_scans (
  tenant_id text not null,
  space_id uuid not null,
  connector_id uuid not null,
  id uuid not null,
  status text not null,
  error text,
  -- The names that were asked for, and what was found so far, one entry each.
  wanted text[] not null,
  files jsonb not null default '[]',
  created_at timestamptz not null default now(),
  created_by text not null,
  finished_at timestamptz,
  constraint connector_scans_pk primary key (tenant_id, space_id, connector_id, id),
  constraint connector_scans_status check (status in ('queued', 'running', 'succeeded', 'failed')),
  constraint connector_scans_connector_fk foreign key (tenant_id, space_id, connector_id)
    references connectors on delete cascade
);
call fence('connector_scans');
