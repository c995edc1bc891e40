// Personas (contract 2.20, 4.2.12): made-up people who stand for clients, created singly or uploaded by the million.
import { resource } from '../../contract/resource.ts'
import { cursor, pageOf } from '../../contract/shapes.ts'
import { spaceTable } from '../../storage/space-table.ts'
import { complete } from './complete.ts'
import { finalizeUpload } from './finalize.ts'
import { FinalizedUpload, FinalizeUpload, NewPersona, Persona, PersonaChanges, StagedUpload } from './shapes.ts'
import { stageUpload } from './stage.ts'

const table = spaceTable<Persona>('personas', 'persona', { hasCount: true })
const personas = resource('personas', 'space')

export default [
  personas.list({
    summary: 'List personas',
    query: cursor(10),
    result: pageOf(Persona),
    run: ({ db, grant }, { query }) => table.page(db, grant, query),
  }),

  personas.create({
    summary: 'Create a persona',
    body: NewPersona,
    result: Persona,
    run: ({ db, grant }, { body }) => table.insert(db, grant, body),
  }),

  personas.get({
    summary: 'Get a persona',
    result: Persona,
    run: ({ db, grant }, { id }) => table.get(db, grant, id),
  }),

  personas.update({
    summary: 'Update a persona',
    body: PersonaChanges,
    result: Persona,
    run: ({ db, grant }, { id, body }) => table.update(db, grant, id, body),
  }),

  personas.remove({
    summary: 'Delete a persona',
    run: ({ db, grant }, { id }) => table.remove(db, grant, id),
  }),

  complete,

  personas.upload(
    'upload',
    '/upload',
  )({
    summary: 'Upload files of personas (CSV, JSON, NDJSON or XLSX), to be finalized',
    permission: 'personas:create',
    result: StagedUpload,
    run: ({ db, grant, uploads }, { files }) => uploads.during(grant.tenantId, () => stageUpload(db, grant, files)),
  }),

  personas.action(
    'finalize',
    'POST',
    '/upload/finalize',
  )({
    summary: 'Finalize an upload: decide what becomes of conflicts, and make its personas visible',
    permission: 'personas:create',
    body: FinalizeUpload,
    result: FinalizedUpload,
    run: ({ db, grant, uploads }, { body }) =>
      uploads.during(grant.tenantId, () =>
        finalizeUpload(db, grant, body.upload_token, body.conflict_resolution ?? 'skip'),
      ),
  }),
]
