// The state view of the embedded engine (contract 2.11): this machine, with the jobs the viewer's space runs on it.
import { arch, availableParallelism, freemem, hostname, loadavg, networkInterfaces, platform, totalmem } from 'node:os'
import type { ClusterState, NodeJob, Viewer } from './driver.ts'

export type RunningJobs = (viewer: Viewer) => Promise<NodeJob[]>

/** The machine is shared by all tenants: nobody sees the jobs of another space. */
export async function embeddedState(
  viewer: Viewer,
  ingressHost: string,
  runningJobs: RunningJobs,
): Promise<ClusterState> {
  const name = hostname()
  return {
    service: { job_queue: 'postgres', job_server: 'embedded', node_set: { [name]: { cores: availableParallelism() } } },
    ingress: { host: ingressHost },
    resources: { gpus: { memory_used: 0, total: 0, utilization: 0 } },
    nodes: [
      {
        id: name,
        hostname: name,
        local_ip: localAddress(),
        status: 'ready',
        is_leader: true,
        config: {
          platform: platform(),
          architecture: arch(),
          cores: availableParallelism(),
          memory_bytes: totalmem(),
          memory_free_bytes: freemem(),
          load_average: loadavg(),
        },
        imex: {},
        jobs: await runningJobs(viewer),
        orphan_containers: [],
        usage: { gpus: [] },
      },
    ],
  }
}

function localAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1'
}
