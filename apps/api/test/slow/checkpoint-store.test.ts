// Both places checkpoints can be kept in, a folder and a bucket of a real S3 server, under the same claims.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { CheckpointStore } from '../../src/outside/checkpoint-store/checkpoint-store.ts'
import { openCheckpointStore } from '../../src/outside/checkpoint-store/open-checkpoint-store.ts'
import { type S3Server, startS3Server, whyNoS3Server } from '../support/s3-server.ts'
import { KEYS } from '../support/s3-server-files.ts'
import { makeBucket } from '../support/trainings.ts'

const missing = await whyNoS3Server()
let server: S3Server
let folder: string
const stores: Record<string, CheckpointStore> = {}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'amphi-checkpoints-'))
  stores['a folder'] = openCheckpointStore({ place: join(folder, 'kept'), region: '', endpoint: undefined })
  if (missing) return
  server = await startS3Server()
  await makeBucket(server, 'models')
  // Where the AWS libraries look for keys.
  process.env['AWS_ACCESS_KEY_ID'] = KEYS.accessKeyId
  process.env['AWS_SECRET_ACCESS_KEY'] = KEYS.secretAccessKey
  const place = { region: 'us-east-1', endpoint: server.endpoint }
  stores['a bucket'] = openCheckpointStore({ place: 's3://models/amphi', ...place })
})
after(async () => {
  for (const store of Object.values(stores)) store.close()
  await server?.stop()
  await rm(folder, { recursive: true })
})

for (const place of ['a folder', 'a bucket']) {
  describe(place, { skip: place === 'a bucket' && missing }, () => {
    const local = (name: string) => join(folder, name)
    const fetched = async (key: string) => {
      await stores[place]!.fetch(key, local('back'))
      return readFile(local('back'), 'utf8')
    }

    test('gives back what was put, the newest where it was put twice', async () => {
      for (const text of ['first', 'second, and longer']) {
        await writeFile(local('model'), text)
        await stores[place]!.put('acme/one/model.txt', local('model'))
        assert.equal(await fetched('acme/one/model.txt'), text)
      }
    })

    test('says that a file is not there', async () => {
      await assert.rejects(fetched('acme/none'), { code: 'not_found' })
    })

    test('removes a folder and nothing beside it', async () => {
      await writeFile(local('model'), 'x')
      for (const key of ['acme/one/a', 'acme/one/b', 'acme/one-more/a']) await stores[place]!.put(key, local('model'))
      await stores[place]!.removeAll('acme/one')
      for (const key of ['acme/one/a', 'acme/one/b']) await assert.rejects(fetched(key), { code: 'not_found' })
      assert.equal(await fetched('acme/one-more/a'), 'x')
      await stores[place]!.removeAll('acme/one')
    })
  })
}

test('a bucket that does not exist is told without its name', { skip: missing }, async () => {
  const store = openCheckpointStore({ place: 's3://nowhere', region: 'us-east-1', endpoint: server.endpoint })
  await writeFile(join(folder, 'model'), 'x')
  await assert.rejects(store.put('a', join(folder, 'model')), {
    message: 'The checkpoint store could not be reached, or refused',
  })
  store.close()
})
