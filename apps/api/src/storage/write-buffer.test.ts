// What becomes of records that the database does not take at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WriteBuffer } from './write-buffer.ts'

const failure = (code: string) => Object.assign(new Error(`played by a test: ${code}`), { code })

function buffered(refuse: (texts: readonly string[], attempt: number) => Error | undefined) {
  const stored: string[] = []
  const errors: string[] = []
  let attempt = 0
  const buffer = new WriteBuffer(
    (record) => JSON.stringify(record),
    async (texts) => {
      const error = refuse(texts, ++attempt)
      if (error) throw error
      stored.push(...texts)
    },
    { onError: (error) => errors.push((error as Error).message) },
  )
  return { buffer, stored, errors }
}

for (const code of ['53100', '53200', '25006', '40P01', '57014', '57P01']) {
  test(`records that meet a failure that passes (${code}) are stored when it has passed`, async () => {
    const { buffer, stored } = buffered((_, attempt) => (attempt <= 4 ? failure(code) : undefined))
    await Promise.all([1, 2, 3].map((n) => buffer.add({ n })))
    await buffer.flushed()
    assert.equal(stored.length, 3)
  })
}

test('whoever waits for a database that refuses everything is let go, and told of once', async () => {
  const { buffer, errors } = buffered(() => failure('53100'))
  await buffer.add({ n: 1 })
  await buffer.add({ n: 2 })
  assert.deepEqual(errors, ['played by a test: 53100'])
  assert.equal((await buffer.close()).length, 2)
})

test('a record that the database will never take is given up alone', async () => {
  const { buffer, stored, errors } = buffered((texts) =>
    texts.some((text) => text.includes('"bad"')) ? failure('22003') : undefined,
  )
  await Promise.all(['a', 'b', 'bad', 'c', 'd'].map((name) => buffer.add({ name })))
  await buffer.flushed()
  assert.equal(stored.length, 4)
  assert.match(errors.join(), /given up/)
})
