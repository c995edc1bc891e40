// The cluster of a space (contract 2.11, 4.2.5): a record with a secret token, and a view of what goes on there.
import type { SpaceGrant } from '../../base/grant.ts'
import { newId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { Vault } from '../../base/vault.ts'
import type { Operation } from '../../contract/operation.ts'
import { resource } from '../../contract/resource.ts'
import { probeRay } from '../../outside/compute/ray-probe.ts'
import { assertUsable } from './cluster-check.ts'
import { type ClusterRow, clusterTable, findCluster, openToken, sealToken } from './clusters-store.ts'
import { Cluster, ClusterChanges, ClusterState, NewCluster } from './shapes.ts'

const MISSING = new Problem('not_found', 'This space has no cluster')

/** The record as create and update answer it; nothing else shows the token. */
const withToken = (vault: Vault, grant: SpaceGrant, row: ClusterRow): Cluster => {
  const token = openToken(vault, grant, row)
  return { ...row, ...(token && { token: token.reveal() }) }
}

const operationsAt = (name: string): Operation[] => {
  const cluster = resource(name, 'space')
  return [
    cluster.action(
      'get',
      'GET',
      '',
    )({
      summary: 'See the state of the cluster of the space, or of the embedded engine where it has none',
      permission: 'clusters:get',
      result: ClusterState,
      run: async ({ db, grant, vault, egress, embedded, signal }) => {
        const row = await db.as(grant, (sql) => findCluster(sql, grant))
        if (!row) return embedded.state(grant, signal)
        const token = openToken(vault, grant, row)
        const { version } = await probeRay(egress, { managerUrl: row.manager_url, token }, signal)
        return {
          service: { job_queue: 'ray', job_server: new URL(row.manager_url).host, node_set: { ray_version: version } },
          ingress: { host: new URL(row.ingress_url).host },
          nodes: [],
        }
      },
    }),

    cluster.create({
      summary: 'Register the cluster of the space',
      permission: 'clusters:create',
      body: NewCluster,
      result: Cluster,
      run: async ({ db, grant, vault, egress, signal }, { body: { token, ...values } }) => {
        const known = await db.as(grant, (sql) => findCluster(sql, grant))
        if (known) throw new Problem('conflict', 'This space has a cluster already')
        await assertUsable(egress, { ...values, token }, signal)
        const id = newId()
        const sealed_token = token === undefined ? undefined : sealToken(vault, grant, id, token)
        const row = await db.begin(grant, (sql) => clusterTable.insertIn(sql, grant, { ...values, sealed_token }, id))
        return withToken(vault, grant, row)
      },
    }),

    cluster.action(
      'update',
      'PUT',
      '',
    )({
      summary: 'Update the cluster of the space; a new address without a new token clears the token',
      permission: 'clusters:update',
      body: ClusterChanges,
      result: Cluster,
      run: async ({ db, grant, vault, egress, signal }, { body }) => {
        const before = await db.as(grant, (sql) => findCluster(sql, grant))
        if (!before) throw MISSING
        const after = { ...before, ...body }
        const moves = after.ingress_url !== before.ingress_url || after.manager_url !== before.manager_url
        const { token, ...urls } = body
        if (moves || token !== undefined) await assertUsable(egress, { ...after, token }, signal)
        const sealed =
          token !== undefined
            ? { sealed_token: sealToken(vault, grant, before.id, token) }
            : moves && { sealed_token: undefined }
        return withToken(vault, grant, await clusterTable.update(db, grant, before.id, { ...urls, ...sealed }))
      },
    }),

    cluster.action(
      'delete',
      'DELETE',
      '',
      204,
    )({
      summary: 'Forget the cluster of the space',
      permission: 'clusters:delete',
      run: async ({ db, grant }) => {
        const row = await db.as(grant, (sql) => findCluster(sql, grant))
        if (!row) throw MISSING
        await clusterTable.remove(db, grant, row.id)
      },
    }),
  ]
}

export default ['cluster', 'clusters'].flatMap(operationsAt)
