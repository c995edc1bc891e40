-- Trainings, what they read, and each step of their lives (contract 2.22, 2.27, 3.3).

create table trainings (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  name text not null,
  architecture text not null,
  data_model_id uuid not null,
  gpu_count int not null,
  configuration jsonb not null,
  status text not null default 'validating',
  -- Why the status is failed; absent otherwise.
  error text,
  -- Counts the tries at running it, so that a process that was given up for dead cannot write any more.
  attempt int not null default 0,
  -- Counts the changes of what is to be trained, so that a validation of something older settles nothing.
  revision int not null default 0,
  -- The files as the validation found them, each with its version.
  files jsonb not null default '[]',
  -- The digest of the token that the try at hand reports with.
  token_hash text,
  token_expires_at timestamptz,
  webhook_event jsonb,
  webhook_event_at timestamptz,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint trainings_pk primary key (tenant_id, space_id, id),
  constraint trainings_status check (
    status in ('validating', 'queued', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled')),
  constraint trainings_error check ((status = 'failed') = (error is not null)),
  constraint trainings_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade,
  constraint trainings_data_model_fk foreign key (tenant_id, space_id, data_model_id) references data_models
);
create unique index trainings_by_id on trainings (id);
create unique index trainings_by_token on trainings (token_hash) where token_hash is not null;
create index trainings_by_data_model on trainings (tenant_id, space_id, data_model_id);
create index trainings_open on trainings (tenant_id, space_id, id) where status in ('running', 'cancelling');
call fence('trainings');

create table training_connectors (
  tenant_id text not null,
  space_id uuid not null,
  training_id uuid not null,
  connector_id uuid not null,
  position int not null,
  keys text[] not null,
  constraint training_connectors_pk primary key (tenant_id, space_id, training_id, connector_id),
  constraint training_connectors_training_fk foreign key (tenant_id, space_id, training_id)
    references trainings on delete cascade,
  constraint training_connectors_connector_fk foreign key (tenant_id, space_id, connector_id) references connectors
);
create index training_connectors_by_connector on training_connectors (tenant_id, space_id, connector_id);
call fence('training_connectors');

create table training_benchmarks (
  tenant_id text not null,
  space_id uuid not null,
  training_id uuid not null,
  benchmark_id uuid not null,
  position int not null,
  constraint training_benchmarks_pk primary key (tenant_id, space_id, training_id, benchmark_id),
  constraint training_benchmarks_training_fk foreign key (tenant_id, space_id, training_id)
    references trainings on delete cascade,
  constraint training_benchmarks_benchmark_fk foreign key (tenant_id, space_id, benchmark_id) references benchmarks
);
create index training_benchmarks_by_benchmark on training_benchmarks (tenant_id, space_id, benchmark_id);
call fence('training_benchmarks');

create table training_events (
  tenant_id text not null,
  space_id uuid not null,
  training_id uuid not null,
  id uuid not null,
  status text not null,
  attempt int not null,
  reason text,
  created_at timestamptz not null default now(),
  constraint training_events_pk primary key (tenant_id, space_id, training_id, id),
  constraint training_events_training_fk foreign key (tenant_id, space_id, training_id)
    references trainings on delete cascade
);
call fence('training_events', 'select, insert');

-- One row for each round; a training that is taken up again repeats its rounds, and they are kept once.
create table training_rounds (
  tenant_id text not null,
  space_id uuid not null,
  training_id uuid not null,
  step int not null,
  round jsonb not null,
  constraint training_rounds_pk primary key (tenant_id, space_id, training_id, step),
  constraint training_rounds_training_fk foreign key (tenant_id, space_id, training_id)
    references trainings on delete cascade
);
call fence('training_rounds', 'select, insert');
