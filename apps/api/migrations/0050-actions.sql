-- Action groups and actions (contract 2.5, 2.6).

create table action_groups (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint action_groups_pk primary key (tenant_id, space_id, id),
  constraint action_groups_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
call fence('action_groups');

create table actions (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null,
  type text not null,
  priority text not null,
  status text not null,
  channel text,
  channel_template text,
  custom_insights text,
  start_date timestamptz,
  end_date timestamptz,
  model_id text,
  -- A text of the client's, not a reference.
  "group" text,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint actions_pk primary key (tenant_id, space_id, id),
  constraint actions_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade,
  constraint actions_priority check (priority in ('very_low', 'low', 'medium', 'high', 'very_high')),
  constraint actions_status check (status in ('archived', 'draft', 'active', 'inactive'))
);
call fence('actions');
