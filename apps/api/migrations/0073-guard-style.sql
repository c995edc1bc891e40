-- How a space's guard is asked, where the name of its model does not tell: guard models are often served under another.

alter table space_settings add column guard_style text;
