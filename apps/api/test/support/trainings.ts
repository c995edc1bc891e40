// The way from data to a leaderboard, for tests: connectors, trainings and evaluations made through the API alone.
import assert from 'node:assert/strict'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import type { SpaceGrant } from '../../src/base/grant.ts'
import { checkpointsOf } from '../../src/resources/checkpoints/checkpoints-store.ts'
import { insertCheckpoints } from '../../src/resources/checkpoints/stored-checkpoints-store.ts'
import { getTrainingRow } from '../../src/resources/trainings/trainings-store.ts'
import type { S3Server } from './s3-server.ts'
import { type Reply, type Service, until } from './service.ts'

type Call = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  body?: unknown,
) => Promise<Pick<Reply, 'status' | 'body'>>

const FINAL = ['succeeded', 'failed', 'cancelled']

/** Everything is done as the given caller, in the given space. */
export function trainingSteps(call: Call, space: string) {
  const at = (path: string) => `/v1/spaces/${space}/${path}`
  const ask = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) => {
    const reply = await call(method, at(path), body)
    assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const ended = async (path: string, timeoutMs = 60_000) => {
    let last = { status: '' }
    const isOver = async () => {
      last = await ask('GET', path)
      return FINAL.includes(last.status)
    }
    await until(`${path} has ended`, isOver, timeoutMs).catch((error) => {
      throw new Error(`${error.message}; it is ${JSON.stringify(last).slice(0, 500)}`)
    })
    return ask('GET', path)
  }
  return {
    at,
    ask,
    ended,
    async connector(
      bucket: string,
      keys: { accessKeyId: string; secretAccessKey: string },
      prefix = '',
    ): Promise<string> {
      const s3 = {
        bucket,
        prefix,
        region: 'us-east-1',
        access_key_id: keys.accessKeyId,
        secret_access_key: keys.secretAccessKey,
      }
      return (await ask('POST', 'connectors', { name: bucket, type: 'aws-s3', s3 })).id
    },
    dataModel: async (name = 'model'): Promise<string> => (await ask('POST', 'data-models', { name })).id,
    async training(changes: Record<string, unknown> = {}): Promise<string> {
      const { data_model_id = (await ask('POST', 'data-models', { name: 'model' })).id, ...rest } = changes
      const body = {
        name: 'a training',
        architecture: 'logistic-regression',
        data_model_id,
        gpu_count: 0,
        configuration: { target: 'y', epochs: 2 },
        connectors: [],
        ...rest,
      }
      return (await ask('POST', 'trainings', body)).id
    },
  }
}

/** Checkpoints that no training has made, for tests of what is done with them: step by step, oldest first. */
export async function seedCheckpoints(
  service: Service,
  spaceId: string,
  trainingId: string,
  steps: number,
): Promise<string[]> {
  const grant = { tenantId: 'acme', userId: 'ana', requestId: 'seed', spaceId } as SpaceGrant
  const { db } = service.process.services
  const files = { model_key: 'm', sha256: 'a'.repeat(64), encoding_key: 'e', encoding_sha256: 'b'.repeat(64) }
  return db.begin(grant, async (sql) => {
    const training = await getTrainingRow(sql, grant, trainingId)
    const made = Array.from({ length: steps }, (_, at) => ({ step: at + 1, ...files }))
    await insertCheckpoints(sql, grant, training, made)
    return (await checkpointsOf(sql, grant, [trainingId])).map(({ id }) => id)
  })
}

/** The parts of the S3 server come up one after the other, so its first answers may be refusals. */
export async function makeBucket({ client }: S3Server, Bucket: string): Promise<void> {
  const make = () => client.send(new CreateBucketCommand({ Bucket })).then(Boolean, () => false)
  await until(`there is a bucket ${Bucket}`, make, 30_000)
}
