// Asks an address whether it is the dashboard of a Ray cluster.
import { Problem } from '../../base/problem.ts'
import type { Secret } from '../../base/secret.ts'
import type { Egress } from '../egress/egress.ts'

export interface RayCluster {
  readonly managerUrl: string
  readonly token: Secret | undefined
}

export async function probeRay(
  egress: Egress,
  { managerUrl, token }: RayCluster,
  signal: AbortSignal,
): Promise<{ version: string }> {
  const url = `${managerUrl.replace(/\/+$/, '')}/api/version`
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token.reveal()}` } : {}
  const answer = await egress.fetch(url, { headers, signal }).catch((error) => {
    signal.throwIfAborted()
    throw unreachable(error, managerUrl)
  })
  if (answer.status === 401 || answer.status === 403) {
    const given = token ? 'the token it was given' : 'to answer without a token'
    throw new Problem('upstream_invalid', `The cluster at ${managerUrl} refuses ${given}`)
  }
  if (answer.status >= 500) {
    throw new Problem('upstream_error', `The cluster at ${managerUrl} answered with ${answer.status}`)
  }
  const version = await versionIn(answer)
  if (version === undefined) {
    const message = `What answers at ${managerUrl} is not a Ray cluster: manager_url must be its dashboard`
    throw new Problem('upstream_invalid', message)
  }
  return { version }
}

async function versionIn(answer: Response): Promise<string | undefined> {
  if (answer.status !== 200) return undefined
  const body: unknown = await answer.json().catch(() => undefined)
  const version = (body as { ray_version?: unknown } | null | undefined)?.ray_version
  return typeof version === 'string' ? version : undefined
}

function unreachable(error: unknown, managerUrl: string): Problem {
  if (error instanceof Problem) return error
  if ((error as Error).name === 'TimeoutError') {
    return new Problem('upstream_timeout', `The cluster at ${managerUrl} did not answer in time`, { cause: error })
  }
  return new Problem('upstream_unreachable', `The cluster at ${managerUrl} cannot be reached`, { cause: error })
}
