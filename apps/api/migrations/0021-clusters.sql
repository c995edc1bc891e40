-- The cluster of a space (contract 2.11).

create table clusters (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  name text,
  ingress_url text not null,
  manager_url text not null,
  sealed_token text,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint clusters_pk primary key (tenant_id, space_id, id),
  constraint clusters_one_per_space unique (tenant_id, space_id),
  constraint clusters_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
call fence('clusters');
