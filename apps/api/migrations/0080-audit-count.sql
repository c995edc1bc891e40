-- How many entries the audit log of a tenant has, for those who see all of it: counting half a million took half a second.
-- It is kept as the counts of spaces are (0071), in notes that name no space. The log only grows, so nothing is taken off.

alter table row_counts alter column space_id drop not null;

create function count_rows_of_tenant() returns trigger language plpgsql as $$
begin
  insert into row_counts (tenant_id, space_id, table_name, change)
  select tenant_id, null, tg_table_name, count(*) from changed group by tenant_id;
  return null;
end $$;

-- Begins with what is there: the trigger keeps writers out until this is committed.
create trigger count_come after insert on audit referencing new table as changed
  for each statement execute function count_rows_of_tenant();
set local role amphi_system;
insert into row_counts (tenant_id, space_id, table_name, change)
select tenant_id, null, 'audit', count(*) from audit group by tenant_id;
reset role;

-- No reader could use it: under row-level security an index serves only operators that are known to leak nothing, and
-- && of arrays is not among them.
drop index audit_by_space;
