-- Logs of model-backed calls, by month, and their sums by hour and day (contract 2.16).

create table logs (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  -- Always the time in the id, so that an id alone leads to its month.
  created_at timestamptz not null,
  finished_at timestamptz not null,
  api text not null,
  correlation_id text not null,
  status text not null,
  error_message text,
  model text not null,
  type text,
  user_id text not null,
  input_tokens int not null,
  total_tokens int not null,
  latency_ms int not null,
  position int,
  stream boolean not null,
  tags text[] not null,
  metadata json,
  messages json not null,
  response_log json not null,
  constraint logs_pk primary key (tenant_id, space_id, created_at, id),
  constraint logs_status check (status in ('success', 'error'))
) partition by range (created_at);
create index logs_by_correlation on logs (tenant_id, space_id, correlation_id);
create index logs_by_tag on logs using gin (tags) where tags <> '{}';
call fence('logs', 'select');

-- A log is never refused for want of a month: what falls between waits here.
create table logs_default partition of logs default;

-- Makes the months from one day to another that are not there yet. One process at a time; runs as the owner of the tables.
create function ensure_log_months(first_day date, last_day date) returns void
language plpgsql security definer set search_path from current as $$
declare
  month date := date_trunc('month', first_day)::date;
  name text;
begin
  perform pg_advisory_xact_lock(7301040);
  while month <= last_day loop
    name := 'logs_' || to_char(month, 'YYYY_MM');
    if to_regclass(name) is null then
      begin
        execute format('create table %I partition of logs for values from (%L) to (%L)', name,
          month || 'T00:00:00Z', (month + interval '1 month')::date || 'T00:00:00Z');
      exception when check_violation then null; -- Logs of that month are in the default partition and stay there.
      end;
    end if;
    month := (month + interval '1 month')::date;
  end loop;
end $$;
revoke execute on function ensure_log_months from public;
grant execute on function ensure_log_months to amphi_system;
select ensure_log_months((now() at time zone 'UTC')::date, (now() at time zone 'UTC' + interval '2 months')::date);

-- Written in the statement that writes the logs, so that both always agree.
create table log_sums (
  tenant_id text not null,
  space_id uuid not null,
  grain text not null,
  bucket timestamptz not null,
  user_id text not null,
  model text not null,
  -- Empty where the calls had no type.
  type text not null,
  calls bigint not null,
  successes bigint not null,
  input_tokens bigint not null,
  total_tokens bigint not null,
  latency_ms bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  constraint log_sums_pk primary key (tenant_id, space_id, grain, bucket, user_id, model, type),
  constraint log_sums_grain check (grain in ('hour', 'day'))
) with (fillfactor = 50);
call fence('log_sums', 'select');
