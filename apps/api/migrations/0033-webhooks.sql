-- Connectors take part in webhooks too (contract 6): the newest event, and a way to find one by its id alone.

alter table connectors add column webhook_event jsonb, add column webhook_event_at timestamptz;
create unique index connectors_by_id on connectors (id);
