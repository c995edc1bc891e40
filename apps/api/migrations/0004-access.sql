-- The access snapshot's clock: every change of access has an epoch, every replica says which one it has (decision 0004).

create table authz_epoch (
  one boolean not null default true,
  epoch bigint not null,
  constraint authz_epoch_pk primary key (one),
  constraint authz_epoch_one_row check (one)
);
insert into authz_epoch (epoch) values (0);

create table authz_change (
  epoch bigint not null,
  tenant_id text not null,
  kind text not null,
  subject text not null,
  constraint authz_change_pk primary key (epoch, tenant_id, kind, subject),
  constraint authz_change_kind check (kind in ('seat', 'login', 'key', 'member'))
);

create table authz_replica (
  id uuid not null,
  acked bigint not null,
  renewed_at timestamptz not null default now(),
  constraint authz_replica_pk primary key (id)
);

grant select, update on authz_epoch to amphi_app, amphi_system;
grant select, insert, delete on authz_change to amphi_app, amphi_system;
grant select, insert, update, delete on authz_replica to amphi_app, amphi_system;

-- Each statement of a volatile function sees what was committed before it began, so the epoch is read after the lock is
-- held: a lease is renewed either before a writer takes the lock or with that writer's epoch.
create function authz_renew(replica uuid, have bigint) returns bigint language plpgsql volatile as $$
declare
  current_epoch bigint;
begin
  perform pg_advisory_xact_lock_shared(7301002);
  select epoch into current_epoch from authz_epoch;
  if current_epoch = have then
    insert into authz_replica as r (id, acked) values (replica, have)
      on conflict (id) do update set acked = greatest(r.acked, excluded.acked), renewed_at = now();
  end if;
  return current_epoch;
end $$;

-- Keys that sign the service's tokens; the private half is sealed.
create table signing_keys (
  id text not null,
  public_jwk jsonb not null,
  sealed_private_jwk text not null,
  created_at timestamptz not null default now(),
  constraint signing_keys_pk primary key (id)
);
grant select, insert, delete on signing_keys to amphi_system;
