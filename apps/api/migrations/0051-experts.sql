-- Experts (contract 2.15).

create table experts (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null,
  context text,
  file_context jsonb,
  tools jsonb,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint experts_pk primary key (tenant_id, space_id, id),
  constraint experts_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
call fence('experts');
