// What the service asks of a compute engine, whichever it is: this machine, or the cluster that a space registered.

export interface ComputeDriver {
  /** Safe to repeat: a job that is there already is not started twice. */
  submit(job: ComputeJob): Promise<{ ref: string }>
  status(ref: string): Promise<ComputeStatus>
  logs(ref: string, from: { offset: number; maxBytes: number }): AsyncIterable<{ offset: number; text: string }>
  /** Asks it to stop; `status` tells when it has. */
  stop(ref: string): Promise<void>
  /** What the viewer's space may see of the engine. */
  state(viewer: Viewer, signal: AbortSignal): Promise<ClusterState>
}

/** One try at a training or an evaluation. The id and the attempt together name it. */
export interface ComputeJob {
  readonly id: string
  readonly attempt: number
  readonly kind: 'training' | 'evaluation'
  readonly gpuCount: number
  /** With it the job fetches what it is to do and reports how it goes. */
  readonly token: string
}

export interface ComputeStatus {
  /** `unknown` when the engine cannot be asked: no reason yet to call the job failed. */
  readonly phase: 'pending' | 'running' | 'succeeded' | 'failed' | 'stopped' | 'unknown'
  readonly reason?: string
}

export interface Viewer {
  readonly tenantId: string
  readonly spaceId: string
}

/** The state view (contract 2.11). What an engine cannot tell is left out. */
export interface ClusterState {
  service: { job_queue: string; job_server: string; node_set: Record<string, unknown> }
  ingress: { host: string }
  resources?: { gpus: { memory_used: number; total: number; utilization: number } }
  nodes: ClusterNode[]
}

export interface ClusterNode {
  id: string
  hostname: string
  local_ip: string
  status: 'ready' | 'down'
  is_leader: boolean
  config: Record<string, unknown>
  imex: Record<string, string>
  jobs: NodeJob[]
  orphan_containers: OrphanContainer[]
  usage: { gpus: NodeGpu[] }
}

interface Memory {
  memory_limit: number
  memory_usage: number
  memory_utilization: number
}

/** What a job takes up is left out where nobody measures it. */
export interface NodeJob extends Partial<Memory> {
  cpu_usage?: number
  job_generation: number
  job_type: number
  job_hash: string
  job_id: string
}

export interface OrphanContainer extends Memory {
  id: string
  image: string
  name: string
  created: string
  created_by: string
  cpu_usage: number
}

export interface NodeGpu extends Memory {
  cluster_uuid: string
  name: string
  uuid: string
  index: number
  utilization: number
  usage: GpuUse[]
}

export interface GpuUse extends Memory {
  container_id: string
  job_id: string
  lease_id: number
  pid: number
  utilization: number
}
