-- Spaces and seats (contract 2.1, 2.21).

create table spaces (
  tenant_id text not null,
  id uuid not null,
  name text not null,
  description text not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint spaces_pk primary key (tenant_id, id),
  constraint spaces_tenant_fk foreign key (tenant_id) references tenants
);
call fence('spaces');

create table seats (
  tenant_id text not null,
  id uuid not null,
  name text not null,
  permissions text[] not null,
  -- Names the space and the roles of the invitations this seat serves, as long as it holds exactly those (contract 4.2).
  invitation_key text,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint seats_pk primary key (tenant_id, id),
  constraint seats_name_key unique (tenant_id, name),
  constraint seats_invitation_key unique (tenant_id, invitation_key),
  constraint seats_tenant_fk foreign key (tenant_id) references tenants
);
call fence('seats');

create table seat_spaces (
  tenant_id text not null,
  seat_id uuid not null,
  space_id uuid not null,
  position int not null,
  constraint seat_spaces_pk primary key (tenant_id, seat_id, space_id),
  constraint seat_spaces_seat_fk foreign key (tenant_id, seat_id) references seats on delete cascade,
  constraint seat_spaces_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
create index seat_spaces_by_space on seat_spaces (tenant_id, space_id, seat_id);
call fence('seat_spaces');
