// From what a file holds to a persona: what must be there is checked, everything else becomes its data.
import { IsDate } from 'typebox/format'
import { findUnstorable } from '../../../base/storable.ts'
import { lengthOf } from '../../../base/words.ts'
import { FORMAT_WORDS } from '../../../contract/shapes.ts'
import { NAME_LENGTH_MAX } from '../shapes.ts'
import { put, type Values } from './values.ts'

export interface PersonaRow {
  readonly name: string
  readonly notes: string
  readonly birthdate: string
  readonly data?: Values
}

export interface FieldFault {
  readonly field: string
  readonly message: string
}

export function toPersona(values: Values): PersonaRow | FieldFault[] {
  const { name, notes, birthdate, data: given } = values
  const faults: FieldFault[] = []
  const note = (fault: FieldFault | undefined) => fault && faults.push(fault)
  note(nameFault(name))
  note(textFault('notes', notes))
  note(birthdateFault(birthdate))
  note(dataFault(given, values))
  const unstorable = findUnstorable(values)
  if (unstorable) note({ field: unstorable.path, message: `${unstorable.path} ${unstorable.claim}` })
  if (faults.length > 0) return faults

  const data = dataOf(values)
  const persona = { name: name as string, notes: notes as string, birthdate: birthdate as string }
  return data ? { ...persona, data } : persona
}

const isOwnField = (key: string) => key === 'name' || key === 'notes' || key === 'birthdate' || key === 'data'

/** This runs a million times in an upload, so it makes nothing that is not kept. */
function dataOf(values: Values): Values | undefined {
  let data: Record<string, unknown> | undefined
  for (const key in values) {
    if (isOwnField(key)) continue
    data ??= { ...(values['data'] as object) }
    put(data, key, values[key])
  }
  return data ?? (values['data'] as Values | undefined)
}

function nameFault(name: unknown): FieldFault | undefined {
  const fault = textFault('name', name)
  if (fault) return fault
  const { length } = name as string
  if (length === 0) return { field: 'name', message: 'name must not be empty' }
  if (length > NAME_LENGTH_MAX && lengthOf(name as string) > NAME_LENGTH_MAX) {
    return { field: 'name', message: `name must not have more than ${NAME_LENGTH_MAX} characters` }
  }
  return undefined
}

function birthdateFault(birthdate: unknown): FieldFault | undefined {
  const fault = textFault('birthdate', birthdate)
  if (fault || isDay(birthdate as string)) return fault
  return { field: 'birthdate', message: `birthdate must be ${FORMAT_WORDS.date}` }
}

function dataFault(data: unknown, values: Values): FieldFault | undefined {
  if (data === undefined) return undefined
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    return { field: 'data', message: 'data must be an object' }
  }
  const twice = Object.keys(data).find((key) => !isOwnField(key) && Object.hasOwn(values, key))
  return twice === undefined ? undefined : { field: twice, message: `${twice} is given twice, once of them in data` }
}

function textFault(field: string, value: unknown): FieldFault | undefined {
  if (value === undefined) return { field, message: `${field} is required` }
  return typeof value === 'string' ? undefined : { field, message: `${field} must be a text` }
}

const isDay = (text: string) => IsDate(text) && !text.startsWith('0000')
