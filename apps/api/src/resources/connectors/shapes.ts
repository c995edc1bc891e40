// Connectors and their scans on the wire (contract 2.8, 2.12, 2.28).
import { type Static, Type } from 'typebox'
import { choice, filled, formed, input, named, text, timestamp } from '../../contract/shapes.ts'

const KEY_LENGTH_MAX = 1024

const S3 = named(
  'S3Settings',
  input({
    // Both become part of a host name.
    bucket: formed(
      '3 to 255 of the characters A-Z, a-z, 0-9, dot, _ and -, with a letter or a digit at either end',
      /^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/,
    ),
    region: formed('1 to 63 of the characters A-Z, a-z, 0-9 and -', /^[A-Za-z0-9-]{1,63}$/),
    prefix: Type.String({
      default: '',
      maxLength: KEY_LENGTH_MAX,
      description: 'The folder below which files are taken',
    }),
    access_key_id: Type.String({ minLength: 1, maxLength: 1024 }),
    secret_access_key: Type.String({ minLength: 1, maxLength: 1024 }),
  }),
)

export const NewConnector = named('NewConnector', input({ name: filled, type: choice('aws-s3'), s3: S3 }))

export const Connector = named(
  'Connector',
  Type.Object({
    id: text,
    name: text,
    provider: text,
    region: text,
    status: choice('pending', 'active', 'scanning', 'error'),
    error: Type.Optional(text),
    created_at: timestamp,
    created_by: text,
  }),
)
export type Connector = Static<typeof Connector>

export const ConnectorFile = named('ConnectorFile', Type.Object({ files: text, size: Type.Integer() }))

const FileKey = Type.String({ minLength: 1, maxLength: KEY_LENGTH_MAX })

export const ScanRequest = named('ScanRequest', input({ files: Type.Array(FileKey, { minItems: 1, maxItems: 1000 }) }))

const ScannedFile = named(
  'ScannedFile',
  Type.Object({
    name: text,
    row_count: Type.Optional(Type.Integer()),
    columns: Type.Optional(
      Type.Array(Type.Object({ name: text, type: text, null_count: Type.Optional(Type.Integer()) })),
    ),
    error: Type.Optional(text),
  }),
)
export type ScannedFile = Static<typeof ScannedFile>

export const ConnectorScan = named(
  'ConnectorScan',
  Type.Object({
    id: text,
    status: choice('queued', 'running', 'succeeded', 'failed'),
    error: Type.Optional(text),
    files: Type.Array(ScannedFile),
    created_at: timestamp,
    created_by: text,
    finished_at: Type.Optional(timestamp),
  }),
)
export type ConnectorScan = Static<typeof ConnectorScan>

/** Files of a connector, as benchmarks and trainings name them: below its prefix, and all of them when none is named. */
export const ConnectorTraining = named('ConnectorTraining', input({ connector_id: filled, keys: Type.Array(FileKey) }))
export type ConnectorTraining = Static<typeof ConnectorTraining>
