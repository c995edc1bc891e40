// Connectors (contract 2.12, 4.2.6): where training data is read from. Keys go in and never come out.
import { Type } from 'typebox'
import { newId } from '../../base/ids.ts'
import { resource } from '../../contract/resource.ts'
import { cursor, pageOf } from '../../contract/shapes.ts'
import { audit } from '../../storage/audit.ts'
import { asFolder, connectorBucket, sealKeys } from './connector-bucket.ts'
import { beginScanning, connectorTable } from './connectors-store.ts'
import { insertScan, listScans } from './scans-store.ts'
import { Connector, ConnectorFile, ConnectorScan, NewConnector, ScanRequest } from './shapes.ts'

const connectors = resource('connectors', 'space')

export default [
  connectors.list({
    summary: 'List connectors',
    query: cursor(10),
    result: pageOf(Connector),
    run: ({ db, grant }, { query }) => connectorTable.page(db, grant, query),
  }),

  connectors.create({
    summary: 'Create a connector; whether its bucket can be read is found out afterwards',
    body: NewConnector,
    result: Connector,
    run: ({ db, grant, vault, jobs }, { body: { name, type, s3 } }) =>
      db.begin(grant, async (sql) => {
        const id = newId()
        const { region, bucket } = s3
        const prefix = asFolder(s3.prefix)
        const sealed_keys = sealKeys(vault, grant, id, s3)
        const values = { name, provider: type, region, bucket, prefix, sealed_keys, status: 'pending' as const }
        const connector = await connectorTable.insertIn(sql, grant, values, id)
        await jobs.enqueue(sql, grant, 'connectors.verify', { id })
        return connector
      }),
  }),

  connectors.get({
    summary: 'Get a connector',
    result: Connector,
    run: ({ db, grant }, { id }) => connectorTable.get(db, grant, id),
  }),

  connectors.remove({
    summary: 'Delete a connector',
    run: ({ db, grant }, { id }) => connectorTable.remove(db, grant, id),
  }),

  connectors.action(
    'files',
    'GET',
    '/:id/files',
  )({
    summary: 'List the files of a connector, page by page',
    permission: 'connectors:get',
    query: Type.Object({
      prefix: Type.String({ default: '', description: 'What the names begin with' }),
      limit: Type.Integer({ minimum: 1, maximum: 10_000, default: 100, description: 'How many files at most, in all' }),
    }),
    result: Type.Array(Type.Array(ConnectorFile)),
    run: async (context, { id, query }) => {
      const bucket = await connectorBucket(context, context.grant, id)
      const pages: { files: string; size: number }[][] = []
      for await (const page of context.objects.list(bucket, query.prefix, query.limit, context.signal)) {
        pages.push(page.map(({ key, size }) => ({ files: key, size })))
      }
      return pages
    },
  }),

  connectors.action(
    'scan',
    'POST',
    '/:id/scan',
  )({
    summary: 'Look through files for their columns, types and row counts; this goes on after the answer',
    permission: 'connectors:update',
    body: ScanRequest,
    result: Type.Object({}),
    run: ({ db, grant, jobs }, { id, body }) =>
      db.begin(grant, async (sql) => {
        const files = [...new Set(body.files)]
        await beginScanning(sql, grant, id)
        const scan = await insertScan(sql, grant, id, files)
        await jobs.enqueue(sql, grant, 'connectors.scan', { id, scan })
        const entry = { action: 'connectors.scan', resource: 'connectors', resourceId: id, spaces: [grant.spaceId] }
        await audit(sql, grant, { ...entry, after: { scan, files } })
        return {}
      }),
  }),

  connectors.action(
    'scans',
    'GET',
    '/:id/scans',
  )({
    summary: 'List the scans of a connector and what they found, newest first',
    permission: 'connectors:get',
    query: cursor(10),
    result: pageOf(ConnectorScan),
    run: async ({ db, grant }, { id, query }) => {
      await connectorTable.get(db, grant, id)
      return db.as(grant, (sql) => listScans(sql, grant, id, query))
    },
  }),
]
