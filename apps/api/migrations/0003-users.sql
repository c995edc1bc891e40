-- Users, the seat names they hold, and invitations (contract 2.19, 4.2).

create table users (
  tenant_id text not null,
  -- The identity provider's subject.
  id text not null,
  email text,
  email_verified boolean not null default false,
  first_name text,
  last_name text,
  role text,
  created_at timestamptz not null default now(),
  updated_at timestamptz,
  last_login_at timestamptz,
  constraint users_pk primary key (tenant_id, id),
  constraint users_role check (role in ('designer', 'developer')),
  constraint users_tenant_fk foreign key (tenant_id) references tenants
);
call fence('users');

-- The seat names of each user's latest login, whether a seat of that name exists yet or not.
create table memberships (
  tenant_id text not null,
  seat_name text not null,
  user_id text not null,
  source text not null,
  constraint memberships_pk primary key (tenant_id, seat_name, user_id, source),
  constraint memberships_source check (source in ('group', 'invitation')),
  constraint memberships_user_fk foreign key (tenant_id, user_id) references users on delete cascade
);
create index memberships_by_user on memberships (tenant_id, user_id);
call fence('memberships');

create table invitations (
  tenant_id text not null,
  id uuid not null,
  space_id uuid not null,
  seat_id uuid not null,
  -- Lower case: addresses are matched without regard to case.
  email text not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  constraint invitations_pk primary key (tenant_id, id),
  constraint invitations_once unique (tenant_id, seat_id, email),
  constraint invitations_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade,
  constraint invitations_seat_fk foreign key (tenant_id, seat_id) references seats on delete cascade
);
create index invitations_by_email on invitations (tenant_id, email);
call fence('invitations');
