-- Roles, the fence between tenants, and the tenants themselves.

-- Statements run under one of two roles that own nothing. Both are shared by every database of a server, so another
-- database may have made them already, perhaps at this very moment.
do $$
begin
  if not exists (select from pg_roles where rolname = 'amphi_app') then create role amphi_app nologin; end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$
begin
  if not exists (select from pg_roles where rolname = 'amphi_system') then create role amphi_system nologin; end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$
begin
  if not pg_has_role(current_user, 'amphi_app', 'member') then grant amphi_app to current_user; end if;
  if not pg_has_role(current_user, 'amphi_system', 'member') then grant amphi_system to current_user; end if;
end $$;

-- The second wall: under amphi_app a table shows and takes only the rows of the tenant that the session names. The
-- setting is read without a default, so a session that names no tenant gets an error and not an empty answer.
create procedure fence(fenced regclass, app_rights text default 'select, insert, update, delete')
language plpgsql as $$
begin
  execute format('alter table %s enable row level security', fenced);
  execute format('alter table %s force row level security', fenced);
  execute format('create policy tenant_only on %s to amphi_app using (tenant_id = current_setting(''amphi.tenant_id''))', fenced);
  execute format('create policy every_tenant on %s to amphi_system using (true)', fenced);
  execute format('grant %s on %s to amphi_app', app_rights, fenced);
  execute format('grant select, insert, update, delete on %s to amphi_system', fenced);
end $$;

create table tenants (
  tenant_id text not null,
  name text not null,
  -- The seat that every new space is attached to; it keeps its place when it is renamed.
  admin_seat_id uuid,
  created_at timestamptz not null default now(),
  constraint tenants_pk primary key (tenant_id)
);
call fence('tenants', 'select');
