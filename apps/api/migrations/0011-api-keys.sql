-- API keys (contract 2.24, 5.7): only a digest of each is kept.

create table api_keys (
  tenant_id text not null,
  id uuid not null,
  -- The maker: a key acts as this person.
  user_id text not null,
  -- The key this one was made with; it goes when that one goes.
  parent_id uuid,
  name text not null,
  prefix text not null,
  hash text not null,
  seats text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  constraint api_keys_pk primary key (tenant_id, id),
  constraint api_keys_hash_key unique (hash),
  constraint api_keys_user_fk foreign key (tenant_id, user_id) references users on delete cascade,
  constraint api_keys_parent_fk foreign key (tenant_id, parent_id) references api_keys on delete cascade
);
create index api_keys_by_user on api_keys (tenant_id, user_id);
create index api_keys_by_parent on api_keys (tenant_id, parent_id);
call fence('api_keys');
