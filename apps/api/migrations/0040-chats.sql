-- Chats and their turns (contract 2.9). A turn is what one call added: the messages it brought and the answer it got. The
-- first one is part of the chat itself, since most chats have no other.

create table chats (
  tenant_id text not null,
  space_id uuid not null,
  id uuid not null,
  name text not null,
  model text,
  max_tokens int,
  temperature double precision,
  guard_enabled boolean,
  router_enabled boolean,
  messages json not null,
  -- Absent where it says no more than the last message.
  last_response json,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz,
  updated_by text,
  constraint chats_pk primary key (tenant_id, space_id, id),
  constraint chats_space_fk foreign key (tenant_id, space_id) references spaces on delete cascade
);
call fence('chats');

create table chat_turns (
  tenant_id text not null,
  space_id uuid not null,
  chat_id uuid not null,
  -- The id of the call's log. Turns sort by it.
  id uuid not null,
  message_count int not null,
  messages json not null,
  constraint chat_turns_pk primary key (tenant_id, space_id, chat_id, id),
  constraint chat_turns_chat_fk foreign key (tenant_id, space_id, chat_id) references chats on delete cascade
);
call fence('chat_turns');
