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

test('processes that start together take them up without losing one, and without falling over each other', async () => {
  const records = Array.from({ length: 1_200 }, (_, index) => `record ${index}\nof two lines`)
  await keepForNextStart(folder, 'logs', records.slice(0, 700))
  await keepForNextStart(folder, 'logs', records.slice(700))
  const taken: string[] = []
  const takeUp = () =>
    takeUpLeft(folder, 'logs', async (texts, isRepeat) => {
      assert.ok(isRepeat)
      taken.push(...texts)
    })
  await Promise.all([takeUp(), takeUp(), takeUp()])
  assert.deepEqual([...new Set(taken)].sort(), records.sort())
  assert.deepEqual(await readdir(folder), [])
})

test('one that could not be stored stays for the next start', async () => {
  await keepForNextStart(folder, 'chats', ['a'])
  await assert.rejects(
    takeUpLeft(folder, 'chats', () => Promise.reject(new Error('away'))),
    /away/,
  )
  const taken: string[] = []
  await takeUpLeft(folder, 'chats', async (texts) => void taken.push(...texts))
  assert.deepEqual(taken, ['a'])
})
