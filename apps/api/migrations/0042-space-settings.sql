-- Settings of a space (contract 2.26), and word to every process when something changes where its model calls go.

create table space_settings (
  tenant_id text not null,
  space_id uuid not null,
  guard_model text,
  router_model text,
  guard_policy text,
  guard_fail_open boolean not null default false,
  tokens_per_day bigint,
  concurrent_completions int,
  updated_at timestamptz,
  updated_by text,
  constraint space_settings_pk primary key (tenant_id, space_id),
  constraint space_settings_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
call fence('space_settings');

create function announce_space_models() returns trigger language plpgsql as $$
begin
  perform pg_notify('amphi_space_models', coalesce(new.tenant_id, old.tenant_id) || ' ' || coalesce(new.space_id, old.space_id));
  return null;
end $$;
create trigger clusters_announced after insert or update or delete on clusters
  for each row execute function announce_space_models();
create trigger space_settings_announced after insert or update or delete on space_settings
  for each row execute function announce_space_models();
