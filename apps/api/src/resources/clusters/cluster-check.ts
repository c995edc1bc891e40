// What must be so before a cluster is registered or changed: addresses that may be called, and Ray at the manager's.
import { Problem } from '../../base/problem.ts'
import { Secret } from '../../base/secret.ts'
import { probeRay } from '../../outside/compute/ray-probe.ts'
import type { Egress } from '../../outside/egress/egress.ts'

export interface ClusterAddresses {
  readonly ingress_url: string
  readonly manager_url: string
  readonly token: string | undefined
}

export async function assertUsable(egress: Egress, cluster: ClusterAddresses, signal: AbortSignal): Promise<void> {
  for (const param of ['ingress_url', 'manager_url'] as const) assertAddress(cluster[param], param)
  await egress.assertOpen(cluster.ingress_url).catch(unusable('ingress_url'))
  const token = cluster.token === undefined ? undefined : new Secret(cluster.token)
  await probeRay(egress, { managerUrl: cluster.manager_url, token }, signal).catch(unusable('manager_url'))
}

function assertAddress(text: string, param: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  if (!isPlain) {
    const message = `${param} must be an http:// or https:// address without a user, a query or a fragment`
    throw new Problem('invalid_request', message, { param })
  }
}

/** What will be no better at the next try is the fault of the request; a cluster that is away is not. */
const unusable = (param: string) => (error: unknown) => {
  if (error instanceof Problem && (error.code === 'upstream_invalid' || error.code === 'address_refused')) {
    throw new Problem('cluster_unusable', error.message, { param, cause: error })
  }
  if (error instanceof Problem) throw error
  throw new Problem('cluster_unusable', `The name in ${param} cannot be resolved`, { param, cause: error })
}
