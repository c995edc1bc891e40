-- Personas (contract 2.20) and their uploads, which are staged until somebody says what becomes of the conflicts.

create table personas (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  -- Names are only ever compared for being the same, and bytes compare fastest.
  name text collate "C" not null,
  notes text not null,
  birthdate date not null,
  data jsonb,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint personas_pk primary key (tenant_id, space_id, id),
  constraint personas_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
create index personas_by_identity on personas (tenant_id, space_id, name, birthdate);
call fence('personas');

create table persona_uploads (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  user_id text not null,
  -- Absent while files are still being read: an upload that was cut off never gets one.
  token_hash text,
  total int not null default 0,
  repeats int not null default 0,
  expires_at timestamptz not null,
  finalized_at timestamptz,
  constraint persona_uploads_pk primary key (tenant_id, space_id, id),
  constraint persona_uploads_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
create index persona_uploads_by_token on persona_uploads (token_hash);
create index persona_uploads_by_age on persona_uploads (expires_at);
call fence('persona_uploads');

-- Rows are kept a few hundred at a time. One row each would cost a check of the reference each, which is more than all
-- the rest of staging, and as much again to remove them. They are in the order of the files, and checked.
create table persona_upload_batches (
  tenant_id text not null,
  space_id uuid not null,
  upload_id uuid not null,
  first_position int not null,
  names text[] not null,
  notes text[] not null,
  birthdates date[] not null,
  data jsonb[] not null,
  constraint persona_upload_batches_pk primary key (tenant_id, space_id, upload_id, first_position),
  constraint persona_upload_batches_upload_fk foreign key (tenant_id, space_id, upload_id)
    references persona_uploads on delete cascade
);
call fence('persona_upload_batches');
