-- Evaluations, and the scores that leaderboards are ordered by (contract 2.14, 2.18, 3.4).

create table evaluations (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  benchmark_id uuid not null,
  checkpoint_id uuid not null,
  gpu_count int not null,
  status text not null default 'queued',
  -- Why it failed, or which metrics the rows do not define.
  error text,
  result jsonb,
  attempt int not null default 0,
  token_hash text,
  token_expires_at timestamptz,
  webhook_event jsonb,
  webhook_event_at timestamptz,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint evaluations_pk primary key (tenant_id, space_id, id),
  constraint evaluations_status check (status in ('queued', 'running', 'succeeded', 'failed')),
  constraint evaluations_result check ((status = 'succeeded') = (result is not null)),
  constraint evaluations_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade,
  constraint evaluations_benchmark_fk foreign key (tenant_id, space_id, benchmark_id) references benchmarks,
  constraint evaluations_checkpoint_fk foreign key (tenant_id, space_id, checkpoint_id)
    references checkpoints on delete cascade
);
create unique index evaluations_by_id on evaluations (id);
create unique index evaluations_by_token on evaluations (token_hash) where token_hash is not null;
create index evaluations_by_checkpoint on evaluations (tenant_id, space_id, checkpoint_id, id);
create index evaluations_by_benchmark on evaluations (tenant_id, space_id, benchmark_id, checkpoint_id);
create index evaluations_running on evaluations (tenant_id, space_id, id) where status = 'running';
call fence('evaluations');

-- The newest value of each metric by checkpoint and benchmark; the benchmark of all zeros stands for the average over
-- all of them. A score outlives its checkpoint for a day, so that a page that ended with it can be turned.
create table checkpoint_scores (
  tenant_id text not null,
  space_id uuid not null,
  checkpoint_id uuid not null,
  benchmark_id uuid not null,
  metric text not null,
  value double precision not null,
  retired_at timestamptz,
  constraint checkpoint_scores_pk primary key (tenant_id, space_id, checkpoint_id, benchmark_id, metric),
  constraint checkpoint_scores_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
create index checkpoint_scores_ranked on checkpoint_scores
  (tenant_id, space_id, benchmark_id, metric, value, checkpoint_id) where retired_at is null;
create index checkpoint_scores_retired on checkpoint_scores (retired_at) where retired_at is not null;
call fence('checkpoint_scores');
