-- Chats still go with their space, and still cannot come into one that is gone; but the proof is made once for all chats that
-- are written together, and no longer for each: the statement that writes them locks their spaces (contract 2.9).

alter table chats drop constraint chats_space_fk;

create function forget_chats() returns trigger language plpgsql as $$
begin
  delete from chats where tenant_id = old.tenant_id and space_id = old.id;
  return null;
end $$;
create trigger spaces_forget_chats after delete on spaces for each row execute function forget_chats();
