// Records that were left behind by a process that ended without its database.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { keepForNextStart, takeUpLeft } from './left-records.ts'

let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'amphi-left-'))
})
after(() => rm(folder, { recursive: true }))

const fail = (error: Error) => assert.fail(error)
const failure = (code: string) => Object.assign(new Error(code), { code })

test('processes that start together take them up without losing one, and without falling over each other', async () => {
  const records = Array.from({ length: 1_200 }, (_, index) => `record ${index}\nof two lines`)
  await keepForNextStart(folder, 'logs', records.slice(0, 700))
  await keepForNextStart(folder, 'logs', records.slice(700))
  const taken: string[] = []
  const takeUp = () =>
    takeUpLeft(
      folder,
      'logs',
      async (texts, isRepeat) => {
        assert.ok(isRepeat)
        taken.push(...texts)
      },
      fail,
    )
  await Promise.all([takeUp(), takeUp(), takeUp()])
  assert.deepEqual([...new Set(taken)].sort(), records.sort())
  assert.deepEqual(await readdir(folder), [])
})

test('one that could not be stored stays for the next start', async () => {
  await keepForNextStart(folder, 'chats', ['a'])
  await assert.rejects(
    takeUpLeft(folder, 'chats', () => Promise.reject(failure('57P01')), fail),
    /57P01/,
  )
  const taken: string[] = []
  await takeUpLeft(folder, 'chats', async (texts) => void taken.push(...texts), fail)
  assert.deepEqual(taken, ['a'])
})

test('those that the database will never take are put aside, and keep neither the others nor the start', async () => {
  const records = Array.from({ length: 1_000 }, (_, index) => `record ${index}`)
  await keepForNextStart(folder, 'turns', records)
  const taken: string[] = []
  const said: string[] = []
  await takeUpLeft(
    folder,
    'turns',
    async (texts) => {
      if (texts.includes('record 7') || texts.includes('record 999')) throw failure('22003')
      taken.push(...texts)
    },
    ({ message }) => void said.push(message),
  )
  assert.equal(taken.length, 998)
  assert.match(
    said.join(),
    /^2 of 1000 records in left-turns-.*\.records cannot be stored: see left-turns-.*\.refused$/,
  )
  const [aside, ...rest] = await readdir(folder)
  assert.match(aside!, /\.refused$/)
  assert.equal(rest.length, 0)
})
