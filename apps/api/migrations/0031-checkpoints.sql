-- Checkpoints and where their files lie in the checkpoint store (contract 2.10).

create table checkpoints (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  training_id uuid not null,
  data_model_id uuid not null,
  step int not null,
  name text not null,
  model_key text not null,
  sha256 text not null,
  encoding_key text not null,
  encoding_sha256 text not null,
  webhook_event jsonb,
  webhook_event_at timestamptz,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint checkpoints_pk primary key (tenant_id, space_id, id),
  -- A training that is taken up again comes to the same checkpoints, and they keep their ids.
  constraint checkpoints_step_key unique (tenant_id, space_id, training_id, step),
  constraint checkpoints_training_fk foreign key (tenant_id, space_id, training_id)
    references trainings on delete cascade
);
create unique index checkpoints_by_id on checkpoints (id);
create index checkpoints_by_data_model on checkpoints (tenant_id, space_id, data_model_id, id);
call fence('checkpoints');

-- How many checkpoints a space has, kept along with them: a leaderboard tells it on each page.
create table checkpoint_counts (
  tenant_id text not null,
  space_id uuid not null,
  count int not null,
  constraint checkpoint_counts_pk primary key (tenant_id, space_id),
  constraint checkpoint_counts_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
call fence('checkpoint_counts');
