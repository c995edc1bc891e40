// Experts (contract 2.15): what a router may choose from, each with what it knows and the tools it brings.
import { type Static, Type } from 'typebox'
import { resource } from '../contract/resource.ts'
import {
  changes,
  cursor,
  filled,
  formed,
  freeForm,
  input,
  named,
  pageOf,
  recordOf,
  text,
  timestamp,
} from '../contract/shapes.ts'
import { spaceTable } from '../storage/space-table.ts'

// Model servers take no other names, and they would say so only when the expert is first chosen.
const functionName = formed('1 to 64 of the characters A-Z, a-z, 0-9, _ and -', /^[A-Za-z0-9_-]{1,64}$/)
const Tool = named(
  'ExpertTool',
  input({
    type: filled,
    function: input({
      name: functionName,
      description: Type.Optional(text),
      parameters: Type.Optional(freeForm),
      strict: Type.Optional(Type.Boolean()),
    }),
  }),
)

const fields = {
  name: filled,
  description: text,
  context: Type.Optional(text),
  file_context: Type.Optional(Type.Array(recordOf(text))),
  tools: Type.Optional(Type.Array(Tool)),
}
const NewExpert = named('NewExpert', input(fields))
const Expert = named(
  'Expert',
  Type.Object({ id: text, ...fields, created_at: timestamp, updated_at: Type.Optional(timestamp) }),
)

const table = spaceTable<Static<typeof Expert>>('experts', 'expert')
const experts = resource('experts', 'space')

export default [
  experts.list({
    summary: 'List experts',
    query: cursor(10),
    result: pageOf(Expert),
    run: ({ db, grant }, { query }) => table.page(db, grant, query),
  }),

  experts.create({
    summary: 'Create an expert',
    body: NewExpert,
    result: Expert,
    run: ({ db, grant }, { body }) => table.insert(db, grant, body),
  }),

  experts.get({
    summary: 'Get an expert',
    result: Expert,
    run: ({ db, grant }, { id }) => table.get(db, grant, id),
  }),

  experts.update({
    summary: 'Update an expert',
    body: named('ExpertChanges', changes(NewExpert)),
    result: Expert,
    run: ({ db, grant }, { id, body }) => table.update(db, grant, id, body),
  }),

  experts.remove({
    summary: 'Delete an expert',
    run: ({ db, grant }, { id }) => table.remove(db, grant, id),
  }),
]
