-- A process that was taken for dead gives back what was swept meanwhile: that must not make room that is not there.

create or replace function take_allowance(
  of_tenant text, of_budget text, of_subject text, of_period date, replica uuid,
  newly_spent bigint, released bigint, wanted bigint, limit_max bigint
) returns bigint language plpgsql as $$
declare
  taken bigint;
  granted bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended(concat_ws(' ', of_tenant, of_budget, of_subject, of_period), 0));
  insert into allowances as a (tenant_id, budget, subject, period, replica_id, held, spent)
    values (of_tenant, of_budget, of_subject, of_period, replica, greatest(0, -released), newly_spent)
    on conflict on constraint allowances_pk
    do update set held = greatest(0, a.held - released), spent = a.spent + newly_spent;
  if wanted = 0 then return 0; end if;
  select coalesce(sum(a.spent), 0) + coalesce(sum(a.held) filter (where a.replica_id = replica or exists (
      select from authz_replica r where r.id = a.replica_id and r.renewed_at > now() - interval '10 seconds')), 0)
    into taken from allowances a
    where a.tenant_id = of_tenant and a.budget = of_budget and a.subject = of_subject and a.period = of_period;
  granted := greatest(0, least(wanted, limit_max - taken));
  update allowances a set held = a.held + granted
    where a.tenant_id = of_tenant and a.budget = of_budget and a.subject = of_subject and a.period = of_period
      and a.replica_id = replica;
  return granted;
end $$;
