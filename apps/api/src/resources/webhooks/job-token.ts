// The token a training or evaluation is started with (contract 6.1): for that one job, kept only as a digest, short-lived.
import { hash, randomBytes } from 'node:crypto'

const MARK = 'amphi_job_'
/** No job reports for longer; and a job that ends takes its token with it. */
const LIFE_SECONDS = 24 * 3600

export function newJobToken(): { token: string; hash: string; lifeSeconds: number } {
  const token = MARK + randomBytes(32).toString('base64url')
  return { token, hash: jobTokenHash(token), lifeSeconds: LIFE_SECONDS }
}

export const isJobToken = (bearer: string): boolean => bearer.startsWith(MARK)

export const jobTokenHash = (token: string): string => hash('sha256', token, 'base64url')
