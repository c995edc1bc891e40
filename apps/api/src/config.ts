// The only file that reads the environment: once, whole, with every fault named before anything starts (README, Configuration).
import { availableParallelism, totalmem } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import type { BudgetLimits } from './access/budgets/budgets.ts'
import { Secret } from './base/secret.ts'
import { EnvironmentReader, Misconfigured } from './config/environment.ts'
import { type InferenceConfig, readBudgets, readInference } from './config/models.ts'
import { readTenants, type TenantConfig } from './config/tenants.ts'
import { readTls, type TlsConfig } from './config/tls.ts'

export { Misconfigured, type TenantConfig }

/** Processes, where nobody says how many. */
const UNASKED_MAX = 4

export interface Config {
  readonly production: boolean
  readonly host: string
  readonly port: number
  readonly baseUrl: string
  readonly dataDir: string
  readonly logLevel: string
  readonly role: 'api' | 'worker' | 'both'
  /** How many of them serve the address together. */
  readonly processes: number
  readonly secretsKey: Secret | undefined
  readonly tokenLifetimeSeconds: number
  readonly database: { readonly url: string | undefined; readonly connections: number }
  readonly tls: TlsConfig | undefined
  /** Whose word about a client's address is taken (X-Forwarded-For). */
  readonly trustedProxies: readonly string[]
  /** Another S3 store than AWS. */
  readonly s3Endpoint: string | undefined
  /** Address ranges that users' addresses may lie in besides the public ones. */
  readonly egressAllow: readonly string[]
  /** A folder, or `s3://bucket/prefix`. */
  readonly checkpointStore: string
  readonly awsRegion: string
  readonly training: { readonly threads: number; readonly concurrency: number; readonly memoryBytes: number }
  readonly webhookSecret: Secret | undefined
  readonly smtpUrl: Secret | undefined
  readonly mailFrom: string
  readonly inference: InferenceConfig
  readonly budgets: BudgetLimits
  readonly limits: {
    readonly bodyBytes: number
    readonly uploadBytes: number
    readonly userPerSecond: number
    readonly tenantPerSecond: number
    readonly loginPerMinute: number
  }
  readonly tenants: readonly TenantConfig[]
}

export function readConfig(env: NodeJS.ProcessEnv, folder = process.cwd()): Config {
  const read = new EnvironmentReader(env)
  const production = env['NODE_ENV'] === 'production'
  const host = read.text('HOST', '127.0.0.1')
  const port = read.integer('PORT', 8080, 0, 65_535)
  const dataDir = read.text('DATA_DIR', '.amphi')
  const tls = readTls(read)
  const scheme = tls ? 'https' : 'http'
  const baseUrl = read.url('BASE_URL', `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`)
  const secretsKey = read.optional('SECRETS_KEY')
  if (production) {
    if (!secretsKey) read.fault('SECRETS_KEY is required in production')
    if (!env['BASE_URL']?.startsWith('https://')) read.fault('BASE_URL must be an https:// address in production')
  }
  if (secretsKey !== undefined && secretsKey.length < 32) read.fault('SECRETS_KEY must have at least 32 characters')
  const smtpUrl = read.secretUrl('SMTP_URL', ['smtp', 'smtps'], 'smtps://user:password@host:465')
  const webhookSecret = read.optional('WEBHOOK_SECRET')
  if (webhookSecret !== undefined && !/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(webhookSecret)) {
    read.fault('WEBHOOK_SECRET must be whsec_ and at least 24 bytes in base64')
  }
  const dataFolder = isAbsolute(dataDir) ? dataDir : resolve(folder, dataDir)

  const role = read.oneOf('ROLE', ['api', 'worker', 'both'], 'both')
  const inference = readInference(read)

  const config: Config = {
    production,
    host,
    port,
    baseUrl,
    dataDir: dataFolder,
    logLevel: read.oneOf('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    role,
    processes: readProcesses(read, port, role, inference),
    secretsKey: secretsKey === undefined ? undefined : new Secret(secretsKey),
    tokenLifetimeSeconds: read.integer('TOKEN_LIFETIME_SECONDS', 3600, 60, 86_400),
    database: {
      url: read.secretUrl('DATABASE_URL', ['postgres', 'postgresql'], 'postgres://user:password@host:5432/name'),
      connections: read.integer('DATABASE_CONNECTIONS', 10, 2, 500),
    },
    tls,
    trustedProxies: read.ranges('TRUSTED_PROXIES'),
    s3Endpoint: read.url('AWS_ENDPOINT_URL_S3', '') || undefined,
    egressAllow: read.ranges('EGRESS_ALLOW'),
    checkpointStore: readPlace(read, 'CHECKPOINT_STORE', resolve(dataFolder, 'checkpoints'), folder),
    awsRegion: read.text('AWS_REGION', 'us-east-1'),
    training: {
      threads: read.integer('TRAINING_THREADS', Math.max(1, availableParallelism() - 1), 1, 1024),
      concurrency: read.integer('TRAINING_CONCURRENCY', 1, 1, 1024),
      memoryBytes: read.integer('TRAINING_MEMORY_BYTES', Math.floor(totalmem() / 2), 1 << 26, 2 ** 50),
    },
    webhookSecret: webhookSecret === undefined ? undefined : new Secret(webhookSecret),
    smtpUrl: smtpUrl === undefined ? undefined : new Secret(smtpUrl),
    mailFrom: read.text('MAIL_FROM', 'Amphi <amphi@localhost>'),
    inference,
    budgets: readBudgets(read),
    limits: {
      bodyBytes: read.integer('BODY_LIMIT_BYTES', 1_048_576, 1024, 1_073_741_824),
      uploadBytes: read.integer('UPLOAD_LIMIT_BYTES', 268_435_456, 1024, 17_179_869_184),
      userPerSecond: read.integer('RATE_LIMIT_USER_PER_SECOND', 100, 0, 1_000_000),
      tenantPerSecond: read.integer('RATE_LIMIT_TENANT_PER_SECOND', 1000, 0, 10_000_000),
      loginPerMinute: read.integer('RATE_LIMIT_LOGIN_PER_MINUTE', 120, 0, 1_000_000),
    },
    tenants: readTenants(read, production),
  }
  read.finish()
  return Object.freeze(config)
}

/**
 * One for each core, as long as they are few: memory and connections grow with them. A model of our own is loaded once and
 * takes all cores by itself, background work is bounded for the machine, and a port that is not known cannot be shared.
 */
function readProcesses(
  read: EnvironmentReader,
  port: number,
  role: Config['role'],
  { url, modelFile }: InferenceConfig,
) {
  const hasOwnModel = modelFile !== undefined && url === undefined
  const isOneEnough = role === 'worker' || hasOwnModel || port === 0
  const processes = read.integer('PROCESSES', isOneEnough ? 1 : Math.min(availableParallelism(), UNASKED_MAX), 1, 256)
  if (port === 0 && processes > 1) read.fault('PROCESSES must be 1 where PORT is 0')
  return processes
}

/** A path is taken from the folder the service was started in, an address of a bucket as it is. */
function readPlace(read: EnvironmentReader, name: string, fallback: string, folder: string): string {
  const given = read.text(name, fallback)
  if (!given.includes('://')) return resolve(folder, given)
  if (!/^s3:\/\/[A-Za-z0-9][A-Za-z0-9._-]+(\/|$)/.test(given)) {
    read.fault(`${name} must be a folder or s3://bucket/prefix, not "${given}"`)
  }
  return given
}
