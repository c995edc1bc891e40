-- Data models (contract 2.13).

create table data_models (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  name text not null,
  description text,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint data_models_pk primary key (tenant_id, space_id, id),
  constraint data_models_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
call fence('data_models');
