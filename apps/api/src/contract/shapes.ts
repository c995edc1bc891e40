// Schema pieces that resources are declared with: texts, inputs, records and the two kinds of list (contract 4.0, 8).
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'

const LIMIT_MAX = 1000

export const text = Type.String()
export const filled = Type.String({ minLength: 1 })
export const timestamp = Type.String({ format: 'date-time' })

/** What a text of a format must be, for those who sent something else. */
export const FORMAT_WORDS = {
  'date-time': 'a date and time that exist, written like 2026-01-31T12:00:00Z',
  date: 'a day that exists, written like 1990-12-31',
}

/** The notation has a year zero, the calendar and the database have none; beyond four digits there is no notation. */
const YEAR_ONE = Date.parse('0001-01-01T00:00:00Z')
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59.999Z')
/** No place on earth is further off, and the database knows none. */
const FAR_OFF = /[+-](1[6-9]|2\d):\d\d$/
const exists = (text: string) => {
  const at = Date.parse(text)
  return at >= YEAR_ONE && at <= LAST_MOMENT && !FAR_OFF.test(text)
}

/** A point in time that a client gives. */
export const moment = Type.Refine(timestamp, exists, () => `must be ${FORMAT_WORDS['date-time']}`)

/** A day of the calendar. */
export const day = Type.Refine(Type.String({ format: 'date' }), exists, () => `must be ${FORMAT_WORDS.date}`)
/** Fields by any name; a record of the kit's own would know none with a line break in it. */
export const recordOf = <T extends TSchema>(value: T) =>
  Type.Unsafe<Record<string, Static<T>>>(Type.Object({}, { additionalProperties: value }))
export const freeForm = recordOf(Type.Unknown())
/** A text of a certain form; the words say which, in the published description and after "must be" in a refusal. */
export const formed = (words: string, form: RegExp, bounds: { minLength?: number; maxLength?: number } = {}) =>
  Type.String({ ...bounds, pattern: form.source, description: words })
export const choice = <const T extends string>(...values: T[]) => Type.Enum(values)

/** May be left out, and null is the same as leaving it out, or says that a value is taken back. */
export const orNull = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))

/** A body: every field is known, and unknown ones are refused by name. */
export const input = <P extends TProperties>(fields: P) => Type.Object(fields, { additionalProperties: false })

/** The body of an update: any of the fields, only those given change. */
export const changes = <T extends TObject>(of: T) => Type.Partial(of, { additionalProperties: false })

/** Gives a shape the name under which the published description knows it. */
export const named = <T extends TSchema>(title: string, schema: T): T =>
  // A spread would lose what TypeBox keeps out of sight on its schemas.
  Object.defineProperties({} as T, {
    ...Object.getOwnPropertyDescriptors(schema),
    title: { value: title, enumerable: true },
  })

export const cursor = (limit: number) =>
  Type.Object({
    limit: Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: limit, description: 'How many at most' }),
    after: Type.String({ default: '', description: 'The id of the last item of the page before' }),
  })
export type Cursor = Static<ReturnType<typeof cursor>>

export const pages = (size: number) =>
  Type.Object({
    page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
    page_size: Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: size }),
  })
export type NumberedPage = Static<ReturnType<typeof pages>>

export const pageOf = <T extends TSchema>(item: T) =>
  Type.Object({ count: Type.Integer(), data: Type.Array(item), has_more: Type.Boolean() })

export interface Page<Row> {
  count: number
  data: Row[]
  has_more: boolean
}
