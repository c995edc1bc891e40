-- Logins, and the attempts at one that are still under way (contract 4.3, 5.1, 5.3).

create table logins (
  tenant_id text not null,
  -- Every token of a login bears this as its sid.
  id uuid not null,
  user_id text not null,
  created_at timestamptz not null default now(),
  -- Until then the login may be refreshed.
  expires_at timestamptz not null,
  -- When the last token that was issued under this login is void by itself.
  tokens_until timestamptz not null,
  ended_at timestamptz,
  constraint logins_pk primary key (tenant_id, id),
  constraint logins_user_fk foreign key (tenant_id, user_id) references users on delete cascade
);
create index logins_by_user on logins (tenant_id, user_id);
create index logins_by_age on logins (tokens_until);
call fence('logins');

-- Who comes back from an identity provider is nobody yet, so these rows are for the service alone: no fence, no rights.
create table login_states (
  -- Of the state; the state itself is known to the browser only.
  hash text not null,
  tenant_id text not null,
  -- The code verifier and the nonce.
  sealed text not null,
  binding_hash text not null,
  expires_at timestamptz not null,
  constraint login_states_pk primary key (hash)
);
create index login_states_by_age on login_states (expires_at);
grant select, insert, delete on login_states to amphi_system;
