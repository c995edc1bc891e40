-- A space may have millions of chats, and nobody should wait for them when it is deleted, nor any chat that is written
-- meanwhile: they are out of reach with their space, and are swept in pieces afterwards, like logs.

drop trigger spaces_forget_chats on spaces;
drop function forget_chats();
