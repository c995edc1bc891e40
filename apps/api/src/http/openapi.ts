// The published description (OpenAPI 3.1), computed from the catalogue alone: no server, no database.
import type { TSchema } from 'typebox'
import type { Operation } from '../contract/operation.ts'
import { type Address, addressesOf } from './addresses.ts'

type Json = Record<string, unknown>

export function openapi(catalogue: readonly Operation[], version: string): Json {
  const schemas: Json = { Error: ERROR }
  const paths: Record<string, Json> = {}
  for (const operation of catalogue) {
    for (const address of addressesOf(operation)) {
      const path = address.url.replace(/:(\w+)/g, '{$1}')
      const described = describe(operation, address, schemas)
      paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Amphi',
      version,
      description: 'Build and operate machine-learning models, and decide who may do what with them.',
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: [...new Set(catalogue.map(({ resource }) => resource))].map((name) => ({ name })),
    paths,
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } }, schemas },
  }
}

function describe(operation: Operation, { url, deprecated, alias }: Address, schemas: Json): Json {
  const content = (schema: TSchema) => ({ content: { 'application/json': { schema: hoist(schema, schemas) } } })
  const parameters = [
    ...[...url.matchAll(/:(\w+)/g)].map(([, name]) => parameter(name!, 'path', { type: 'string' })),
    ...Object.entries(propertiesOf(operation.query)).map(([name, schema]) => parameter(name, 'query', schema)),
    ...(deprecated ? [parameter('Space', 'header', { type: 'string' })] : []),
    ...(operation.method === 'POST' && operation.scope !== 'public' && !operation.takesFiles ? [IDEMPOTENCY_KEY] : []),
  ]
  const { permission } = operation
  return {
    operationId: [operation.id, ...(alias ? ['alias'] : []), ...(deprecated ? ['by-header'] : [])].join('.'),
    tags: [operation.resource],
    summary: operation.summary,
    ...(permission && { description: `Needs the permission \`${permission}\`.`, 'x-permission': permission }),
    ...(deprecated && { deprecated: true }),
    ...(operation.scope === 'public' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body && { requestBody: { required: true, ...content(operation.body) } }),
    ...(operation.takesFiles && { requestBody: { required: true, content: { 'multipart/form-data': FILES } } }),
    responses: {
      [operation.status]: { description: 'Success', ...(operation.result && content(operation.result)) },
      default: {
        description: 'Error',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

const parameter = (name: string, where: 'path' | 'query' | 'header', schema: unknown) => ({
  name,
  in: where,
  ...(where !== 'query' && { required: true }),
  schema,
})

const propertiesOf = (schema: TSchema | undefined): Record<string, TSchema> =>
  (schema as { properties?: Record<string, TSchema> } | undefined)?.properties ?? {}

/** Moves every named shape to the components, so that clients generated from the description have names for them. */
function hoist(schema: unknown, schemas: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => hoist(item, schemas))
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, hoist(value, schemas)]))
  const { title } = copy
  if (typeof title !== 'string') return copy
  const known = schemas[title]
  if (known && JSON.stringify(known) !== JSON.stringify(copy))
    throw new Error(`Two different shapes are named ${title}`)
  schemas[title] = copy
  return { $ref: `#/components/schemas/${title}` }
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeat with the same key within a day is answered with the first answer.',
  schema: { type: 'string', maxLength: 255 },
}

const FILES = {
  schema: {
    type: 'object',
    required: ['files'],
    properties: { files: { type: 'array', minItems: 1, items: { type: 'string', format: 'binary' } } },
  },
}

const string = { type: 'string' }
const ERROR = {
  title: 'Error',
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['type', 'code', 'message', 'status', 'request_id'],
      properties: {
        type: string,
        code: string,
        message: string,
        param: string,
        status: { type: 'integer' },
        request_id: string,
        details: {
          type: 'array',
          items: {
            type: 'object',
            required: ['param', 'message'],
            properties: { param: string, message: string, file: string, line: { type: 'integer' } },
          },
        },
        access: {
          type: 'object',
          required: ['permission', 'seats'],
          properties: { space: string, permission: string, seats: { type: 'array', items: string } },
        },
      },
    },
  },
}
