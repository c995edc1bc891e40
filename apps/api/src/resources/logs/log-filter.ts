// Which logs are meant: the filters that the list and the statistics share, as SQL conditions see them.
import { Type } from 'typebox'
import { filled, moment } from '../../contract/shapes.ts'
import { endOf, startOf } from './periods.ts'

export const filterFields = {
  start_date: Type.Optional(moment),
  end_date: Type.Optional(moment),
  user: Type.Optional(filled),
  model: Type.Optional(filled),
  type: Type.Optional(filled),
  correlation_id: Type.Optional(filled),
}

export interface LogFilter {
  readonly start_date?: string | undefined
  readonly end_date?: string | undefined
  readonly user?: string | undefined
  readonly model?: string | undefined
  readonly type?: string | undefined
  readonly correlation_id?: string | undefined
}

/** From the first millisecond that counts to just after the last. */
export const periodOf = ({ start_date, end_date }: LogFilter) => ({
  from: start_date === undefined ? Number.NEGATIVE_INFINITY : startOf(start_date),
  to: end_date === undefined ? Number.POSITIVE_INFINITY : endOf(end_date),
})
