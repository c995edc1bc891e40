// Builds what lives as long as the process, from the configuration alone, and takes it down again in the opposite order.
import { join } from 'node:path'
import type { Logger } from 'pino'
import { KeyUses } from './access/api-keys.ts'
import { sweepAllowances } from './access/budgets/allowances-store.ts'
import { Denials } from './access/denials.ts'
import { Logins } from './access/logins.ts'
import { sweepLogins } from './access/logins-store.ts'
import { sweepStates } from './access/oidc/states-store.ts'
import { Replica, type ReplicaOptions } from './access/replica.ts'
import { SigningKeys } from './access/signing-keys.ts'
import { foundTenants } from './access/tenants.ts'
import { Tokens } from './access/tokens.ts'
import { BusyLimit } from './base/busy-limit.ts'
import { nowAndThen } from './base/now-and-then.ts'
import { openVault } from './base/vault.ts'
import { startCompute } from './compute.ts'
import type { Config } from './config.ts'
import type { Services } from './contract/context.ts'
import { openEmbeddedDatabase } from './embedded-database.ts'
import { connectorScan } from './jobs/connector-scan.ts'
import { connectorVerify } from './jobs/connector-verify.ts'
import { invitationMail } from './jobs/invitation-mail.ts'
import { Worker } from './jobs/worker.ts'
import { startModels } from './model-services.ts'
import { openCheckpointStore } from './outside/checkpoint-store/open-checkpoint-store.ts'
import { Scratch } from './outside/compute/embedded/scratch.ts'
import { embeddedState } from './outside/compute/embedded-state.ts'
import { openEgress } from './outside/egress/egress.ts'
import { openMailer } from './outside/mailer.ts'
import { openObjectStore } from './outside/object-store/object-store.ts'
import { alone, type Siblings } from './processes/siblings.ts'
import { sweepChats } from './resources/chats/chats-store.ts'
import { sweepScores } from './resources/leaderboards/scores-store.ts'
import { prepareLogMonths, sweepLogs } from './resources/logs/logs-store.ts'
import { sweepUploads } from './resources/personas/uploads-store.ts'
import { embeddedJobs } from './resources/trainings/running-jobs-store.ts'
import { TrainingNews } from './resources/trainings/training-news.ts'
import { findOrMakeSecretsKey } from './secrets-key.ts'
import { openSignIn } from './sign-in.ts'
import { openDatabase } from './storage/database.ts'
import { sweepKeys } from './storage/idempotency.ts'
import { jobs } from './storage/jobs.ts'
import { migrate } from './storage/migrate.ts'
import { foldRowCounts } from './storage/row-counts.ts'
import { type Client, connect } from './storage/sql.ts'

export interface Process {
  readonly services: Services
  readonly system: Client
  readonly keys: SigningKeys
  readonly keyUses: KeyUses
  readonly denials: Denials
  readonly siblings: Siblings
  close(): Promise<void>
}

const SYSTEM_CONNECTIONS = 4
/** For each tenant. An upload holds a few megabytes, a workbook or a finalization more. */
const UPLOADS_AT_ONCE_MAX = 4
const SWEEP_EVERY_MS = 10 * 60_000
const FOLD_EVERY_MS = 30_000

export async function startServices(
  config: Config,
  log: Logger,
  { access = {}, siblings = alone }: { access?: ReplicaOptions; siblings?: Siblings } = {},
): Promise<Process> {
  const closers: (() => unknown)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) {
      try {
        await closer()
      } catch (error) {
        // What one cannot do must not keep the others from storing what they have.
        log.error({ err: error }, 'closing failed')
      }
    }
  }
  try {
    const secretsKey = config.secretsKey ?? (await findOrMakeSecretsKey(config.dataDir))
    let { url } = config.database
    if (url === undefined) {
      const embedded = await openEmbeddedDatabase(config, log)
      closers.push(embedded.stop)
      url = embedded.url
    }
    await migrate(url)

    const system = connect(url, { max: SYSTEM_CONNECTIONS, role: 'amphi_system' })
    closers.push(() => system.end({ timeout: 5 }))
    const db = openDatabase(url, config.database.connections)
    closers.push(() => db.close())
    await foundTenants(system, config.tenants)

    const vault = openVault(secretsKey)
    const keys = new SigningKeys(system, vault)
    await keys.start()
    const onError = (error: unknown) => log.error({ err: error }, 'background work failed')
    const inBackground = async (work: Promise<unknown>[]) => {
      await Promise.all(work.map((one) => one.catch(onError)))
    }
    const replica = new Replica(system, db, { onError, ...access })
    await replica.start()
    closers.push(() => replica.stop())
    const denials = new Denials(system, onError)
    closers.push(() => denials.flush())
    const keyUses = new KeyUses(system, onError)
    closers.push(() => keyUses.flush())

    const sweep = () =>
      inBackground([
        keys.rotateWhenDue(),
        sweepKeys(system),
        sweepUploads(system),
        sweepScores(system),
        sweepStates(system),
        sweepLogins(system),
        prepareLogMonths(system),
        sweepAllowances(system),
      ])
    closers.push(nowAndThen(SWEEP_EVERY_MS, sweep))
    // Apart from the others: what a space leaves behind may take hours.
    const closing = new AbortController()
    const sweepSpaces = () => inBackground([sweepLogs(system, closing.signal), sweepChats(system, closing.signal)])
    // Closed in reverse: what is being swept hears of the end, and is then waited for.
    closers.push(nowAndThen(SWEEP_EVERY_MS, sweepSpaces), () => closing.abort())
    closers.push(nowAndThen(FOLD_EVERY_MS, () => inBackground([foldRowCounts(system)])))

    const egress = openEgress({ allow: config.egressAllow, production: config.production })
    closers.push(() => egress.close())
    const objects = openObjectStore({ endpoint: config.s3Endpoint, egress })
    closers.push(() => objects.close())
    const { host } = new URL(config.baseUrl)
    const embedded: Services['embedded'] = {
      state: (viewer) => embeddedState(viewer, host, (of) => embeddedJobs(system, of)),
    }
    const news = new TrainingNews()
    await news.start(system)
    closers.push(() => news.close())
    const webhooks = { secret: config.webhookSecret, system }

    if (config.role !== 'api')
      closers.push(await startWorkers(config, log, system, { db, vault, objects, jobs, embedded }))
    const tokens = new Tokens(keys, config.baseUrl, config.tokenLifetimeSeconds)
    const logins = new Logins(db, replica, tokens)
    const models = await startModels(
      config,
      log,
      { databaseUrl: url, system, db, vault, replica, egress, onError },
      closers,
    )
    const uploads = new BusyLimit('uploads of your tenant', UPLOADS_AT_ONCE_MAX)
    const signIn = openSignIn(config, log, { db, system, vault, logins, egress, siblings })
    return {
      services: {
        db,
        replica,
        tokens,
        vault,
        jobs,
        signIn,
        logins,
        egress,
        objects,
        embedded,
        news,
        webhooks,
        uploads,
        ...models,
      },
      system,
      keys,
      keyUses,
      denials,
      siblings,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function startWorkers(
  config: Config,
  log: Logger,
  system: Client,
  services: Pick<Services, 'db' | 'vault' | 'objects' | 'jobs' | 'embedded'>,
): Promise<() => Promise<void>> {
  const mailer = await openMailer(config.smtpUrl, config.mailFrom)
  const scratch = new Scratch(join(config.dataDir, 'scratch', 'scans'))
  await scratch.sweep()
  const frontends = new Map(config.tenants.map(({ tenantId, frontendUrl }) => [tenantId, frontendUrl]))
  const { checkpointStore: place, awsRegion: region, s3Endpoint: endpoint } = config
  const checkpoints = openCheckpointStore({ place, region, endpoint })
  const handlers = {
    'invitations.mail': invitationMail(mailer, (tenantId) => frontends.get(tenantId) ?? config.baseUrl),
    'connectors.verify': connectorVerify(services),
    'connectors.scan': connectorScan({ ...services, scratch }),
  }
  const worker = new Worker(system, handlers, {
    onError: (error, job) =>
      log.warn({ err: error, job: job?.name, attempt: job?.attempt }, 'a job failed and is tried again'),
  })
  await worker.start()
  const stopComputing = await startCompute(config, log, system, services, checkpoints)
  return async () => {
    await Promise.all([worker.stop(), stopComputing()])
    checkpoints.close()
    mailer?.close()
  }
}
