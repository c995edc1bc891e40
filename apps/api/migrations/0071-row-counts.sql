-- How many rows a space has of what comes by the million. Every list tells its exact count, and counting a million rows
-- takes most of a second. Kept are the changes of a count, which are summed: writers of one space add theirs side by side,
-- where one number for all of them would make them wait for each other's commit.

create table row_counts (
  tenant_id text not null,
  space_id uuid not null,
  table_name text not null,
  change bigint not null
);
create index row_counts_by_table on row_counts (tenant_id, space_id, table_name);
call fence('row_counts', 'select, insert');

create function count_rows() returns trigger language plpgsql as $$
begin
  insert into row_counts (tenant_id, space_id, table_name, change)
  select tenant_id, space_id, tg_table_name, case tg_op when 'INSERT' then count(*) else -count(*) end
  from changed group by tenant_id, space_id;
  return null;
end $$;

-- Begins with what is there: the triggers keep writers out until this is committed.
create procedure keep_count(counted regclass) language plpgsql as $$
begin
  execute format('create trigger count_come after insert on %s referencing new table as changed
    for each statement execute function count_rows()', counted);
  execute format('create trigger count_gone after delete on %s referencing old table as changed
    for each statement execute function count_rows()', counted);
  set local role amphi_system;
  execute format('insert into row_counts
    select tenant_id, space_id, %L, count(*) from %s group by tenant_id, space_id', counted, counted);
  reset role;
end $$;

call keep_count('chats');
call keep_count('personas');
