// Reading the audit log (contract 5.4).
import { Type } from 'typebox'
import { resource } from '../contract/resource.ts'
import { choice, cursor, freeForm, named, pageOf, text, timestamp } from '../contract/shapes.ts'
import { listAudit } from './audit-store.ts'

const AuditEntry = named(
  'AuditEntry',
  Type.Object({
    id: text,
    at: timestamp,
    actor: text,
    action: text,
    outcome: choice('done', 'denied', 'failed'),
    resource: text,
    resource_id: Type.Optional(text),
    spaces: Type.Array(text),
    before: Type.Optional(freeForm),
    after: Type.Optional(freeForm),
    request_id: Type.Optional(text),
  }),
)

export default [
  resource('audit', 'tenant').list({
    summary: 'List what was done and what was refused, newest first',
    query: cursor(20),
    result: pageOf(AuditEntry),
    run: ({ db, grant }, { query }) => db.as(grant, (sql) => listAudit(sql, grant, query)),
  }),
]
