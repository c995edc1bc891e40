// Builds what model-backed operations live on: the way to the models, the records they leave, and the budgets they keep to.
import { basename } from 'node:path'
import type { Logger } from 'pino'
import { Pool } from 'undici'
import { Budgets } from './access/budgets/budgets.ts'
import type { Replica } from './access/replica.ts'
import type { SpaceGrant } from './base/grant.ts'
import type { Vault } from './base/vault.ts'
import type { Config } from './config.ts'
import { ModelDirectory, type SpaceModels } from './inference/space-models.ts'
import type { Egress } from './outside/egress/egress.ts'
import type { Engine } from './outside/models/engine.ts'
import { lazyEngine } from './outside/models/lazy-engine.ts'
import { openLlama } from './outside/models/llama.ts'
import { openAiServer } from './outside/models/openai-server.ts'
import { connectionTimings } from './outside/models/timings.ts'
import { chatRecords, turnRecords } from './resources/chats/chat-writes-store.ts'
import { findCluster, openToken } from './resources/clusters/clusters-store.ts'
import { logRecords } from './resources/logs/log-writes-store.ts'
import { prepareLogMonths } from './resources/logs/logs-store.ts'
import { readSettings } from './resources/spaces/settings-store.ts'
import type { Database } from './storage/database.ts'
import { keepForNextStart, takeUpLeft } from './storage/left-records.ts'
import { type Client, connect } from './storage/sql.ts'
import { type CallRecords, type RecordKind, type Write, WriteBuffer } from './storage/write-buffer.ts'

/** Nobody waits for logs, and many in one statement cost little more than one. */
const LOGS_EVERY_MS = 50

export interface ModelServices {
  readonly directory: ModelDirectory
  readonly records: CallRecords
  readonly budgets: Budgets
}

interface Parts {
  readonly databaseUrl: string
  readonly system: Client
  readonly db: Database
  readonly vault: Vault
  readonly replica: Replica
  readonly egress: Egress
  readonly onError: (error: unknown) => void
}

export async function startModels(
  config: Config,
  log: Logger,
  parts: Parts,
  closers: (() => unknown)[],
): Promise<ModelServices> {
  const { system, replica, onError } = parts
  await prepareLogMonths(system)
  const backends = openBackends(config, log, closers)
  const { defaultModel, guardModel, routerModel, modelFile } = config.inference
  const ownModel = backends.embedded && modelFile ? basename(modelFile, '.gguf') : undefined
  const defaults = { model: defaultModel ?? ownModel, guard: guardModel, router: routerModel }
  const directory = new ModelDirectory(backends, defaults, (grant) => readSpace(parts, grant))
  await system.listen('amphi_space_models', (place) => {
    const [tenantId = '', spaceId = ''] = place.split(' ')
    directory.forget(tenantId, spaceId)
  })
  const budgets = new Budgets(system, replica.id, config.budgets, onError)
  closers.push(() => budgets.close())
  const records = {
    logs: await openBuffer('logs', logRecords, config, parts, closers, LOGS_EVERY_MS),
    chats: await openBuffer('chats', chatRecords, config, parts, closers),
    turns: await openBuffer('turns', turnRecords, config, parts, closers),
  }
  return { directory, records, budgets }
}

/** What the database was not there for when the last process ended is stored first. */
async function openBuffer(
  name: string,
  { textOf, insert }: RecordKind,
  { dataDir }: Config,
  { databaseUrl, onError }: Parts,
  closers: (() => unknown)[],
  spacingMs = 0,
): Promise<WriteBuffer> {
  // A connection of its own: it stays warm for the one statement it knows, and the statement waits for nobody else's.
  const sql = connect(databaseUrl, { max: 1, role: 'amphi_system', genericPlans: true })
  closers.push(() => sql.end({ timeout: 5 }))
  const write: Write = (texts, isRepeat) => insert(sql, texts, isRepeat)
  await takeUpLeft(dataDir, name, write, onError)
  const buffer = new WriteBuffer(textOf, write, { onError, spacingMs })
  closers.push(async () => keepForNextStart(dataDir, name, await buffer.close()))
  return buffer
}

/** The embedded engine is for services without a server: it would take memory for nothing otherwise. */
function openBackends({ inference }: Config, log: Logger, closers: (() => unknown)[]) {
  if (inference.url !== undefined) {
    const dispatcher = new Pool(new URL(inference.url).origin, {
      connect: { timeout: connectionTimings.connectTimeoutMs },
      keepAliveTimeout: connectionTimings.keepAliveTimeoutMs,
      keepAliveMaxTimeout: connectionTimings.keepAliveTimeoutMs,
    })
    closers.push(() => dispatcher.destroy())
    return { server: openAiServer({ baseUrl: inference.url, apiKey: inference.apiKey, dispatcher }) }
  }
  const { modelFile } = inference
  if (modelFile === undefined) return {}
  const embedded = lazyEngine(`embedded:${basename(modelFile, '.gguf')}`, () => openLlama({ modelFile }))
  closers.push(() => embedded.close())
  // Opened while nobody waits; a file that cannot be used is told now and not with the first question.
  embedded
    .models(new AbortController().signal)
    .catch((error) => log.error({ err: error }, 'the embedded model cannot be opened'))
  return { embedded: embedded as Engine }
}

async function readSpace({ db, vault, egress }: Parts, grant: SpaceGrant): Promise<SpaceModels> {
  const [settings, row] = await db.as(grant, (sql) => Promise.all([readSettings(sql, grant), findCluster(sql, grant)]))
  const apiKey = row && openToken(vault, grant, row)
  const cluster = row && openAiServer({ baseUrl: row.ingress_url, apiKey, dispatcher: egress.dispatcher })
  return { cluster, settings }
}
