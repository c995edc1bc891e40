-- Benchmarks and the files they measure on (contract 2.8).

create table benchmarks (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null,
  task text not null,
  metrics text[] not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint benchmarks_pk primary key (tenant_id, space_id, id),
  constraint benchmarks_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
call fence('benchmarks');

create table benchmark_connectors (
  tenant_id text not null,
  space_id uuid not null,
  benchmark_id uuid not null,
  connector_id uuid not null,
  position int not null,
  keys text[] not null,
  constraint benchmark_connectors_pk primary key (tenant_id, space_id, benchmark_id, connector_id),
  constraint benchmark_connectors_benchmark_fk foreign key (tenant_id, space_id, benchmark_id)
    references benchmarks on delete cascade,
  -- Checked at once, but for the deletion of a space, which takes both.
  constraint benchmark_connectors_connector_fk foreign key (tenant_id, space_id, connector_id) references connectors
    deferrable initially immediate
);
create index benchmark_connectors_by_connector on benchmark_connectors (tenant_id, space_id, connector_id);
call fence('benchmark_connectors');
