// Puts what an S3 store or the way to it did wrong into one sentence that can be shown.
import { type Code, Problem } from '../../base/problem.ts'
import type { Bucket } from './bucket.ts'

interface StoreError {
  readonly name?: string
  readonly code?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
}

type Telling = [Code, (bucket: Bucket, key: string) => string]

const REFUSED_KEYS: Telling = ['upstream_error', () => 'The store does not accept these keys']
const WRONG_REGION: Telling = ['upstream_error', ({ name, region }) => `The bucket ${name} is not in region ${region}`]
const NO_FILE: Telling = ['not_found', (_, key) => `There is no file ${key}`]
const CHANGED: Telling = ['conflict', (_, key) => `The file ${key} changed while it was being read`]

const BY_NAME: Record<string, Telling> = {
  InvalidAccessKeyId: REFUSED_KEYS,
  SignatureDoesNotMatch: REFUSED_KEYS,
  AccessDenied: ['upstream_error', ({ name }) => `These keys may not read the bucket ${name}`],
  RequestTimeTooSkewed: ['upstream_error', () => 'The clocks of this service and of the store disagree'],
  NoSuchBucket: ['upstream_error', ({ name }) => `There is no bucket ${name}`],
  PermanentRedirect: WRONG_REGION,
  AuthorizationHeaderMalformed: WRONG_REGION,
  NoSuchKey: NO_FILE,
  NotFound: NO_FILE,
  PreconditionFailed: CHANGED,
  InvalidRange: CHANGED,
  TimeoutError: ['upstream_timeout', ({ name }) => `The store of the bucket ${name} did not answer in time`],
}

const BY_STATUS: Record<number, Telling> = { 301: WRONG_REGION, 403: BY_NAME['AccessDenied']! }

export function storeProblem(error: unknown, bucket: Bucket, key = ''): Problem {
  if (error instanceof Problem) return error
  const { name = 'Error', code, $metadata } = (error ?? {}) as StoreError
  const status = $metadata?.httpStatusCode
  // The error itself goes no further: it carries the access key id and what was signed.
  const cause = new Error([name, code, status].filter(Boolean).join(' '))
  // The client calls a connection that broke off a timeout as well; silence is what has no code.
  const [told, words] = (code ? undefined : BY_NAME[name]) ?? BY_STATUS[status ?? 0] ?? unknown(name, status)
  return new Problem(told, words(bucket, key), { cause })
}

function unknown(name: string, status: number | undefined): Telling {
  if (status === undefined)
    return ['upstream_unreachable', (bucket) => `The store of the bucket ${bucket.name} cannot be reached`]
  return ['upstream_error', () => `The store answered with ${status} ${name}`]
}

/** Whether another try may help: the store was away, slow, or broke off. */
export const isPassing = (problem: Problem): boolean =>
  problem.code === 'upstream_unreachable' || problem.code === 'upstream_timeout'
