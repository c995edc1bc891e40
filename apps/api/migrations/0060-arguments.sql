-- Arguments and what became of their review (contract 2.7, 3.2).

create table arguments (
  tenant_id text not null,
  space_id uuid not null,
  -- Also the id of the log of the call that wrote it.
  id uuid not null,
  action_id uuid,
  argument text not null,
  argument_thinking text not null,
  client json not null,
  insight_spec json not null,
  product json not null,
  review_status text not null default 'pending',
  original_argument_score text,
  reviewed_argument text,
  reviewed_at timestamptz,
  reviewed_by text,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint arguments_pk primary key (tenant_id, space_id, id),
  constraint arguments_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade,
  constraint arguments_action_fk foreign key (tenant_id, space_id, action_id) references actions,
  constraint arguments_review_status check (review_status in ('pending', 'waiting_review', 'reviewing', 'success', 'failed')),
  -- A verdict always says whose it is and when it was given, and without one nobody has given any.
  constraint arguments_verdict check (
    (review_status in ('success', 'failed')) = (reviewed_by is not null) and (reviewed_by is null) = (reviewed_at is null))
);
create index arguments_by_action on arguments (tenant_id, space_id, action_id, id);
create index arguments_by_status on arguments (tenant_id, space_id, review_status, id);
call fence('arguments');
