// Clusters on the wire (contract 2.11, 4.2.5).
import { type Static, Type } from 'typebox'
import { changes, choice, formed, freeForm, input, named, recordOf, text, timestamp } from '../../contract/shapes.ts'

const Url = Type.String({ minLength: 1, maxLength: 2048, description: 'An http:// or https:// address' })
const Token = formed('printable ASCII characters without spaces', /^[\x21-\x7e]+$/, { minLength: 1, maxLength: 8192 })

const urls = { ingress_url: Url, manager_url: Url }

export const NewCluster = named(
  'NewCluster',
  input({ ...urls, name: Type.Optional(text), token: Type.Optional(Token) }),
)
export const ClusterChanges = named('ClusterChanges', changes(input({ ...urls, token: Token })))

export const Cluster = named(
  'Cluster',
  Type.Object({
    id: text,
    name: Type.Optional(text),
    ingress_url: text,
    manager_url: text,
    token: Type.Optional(text),
    created_at: timestamp,
    updated_at: Type.Optional(timestamp),
  }),
)
export type Cluster = Static<typeof Cluster>

const number = Type.Number()
const integer = Type.Integer()
const memory = { memory_limit: number, memory_usage: number, memory_utilization: number }

const NodeJob = Type.Object({
  cpu_usage: Type.Optional(number),
  job_generation: number,
  job_type: number,
  ...Type.Partial(Type.Object(memory)).properties,
  job_hash: text,
  job_id: text,
})

const OrphanContainer = Type.Object({
  id: text,
  image: text,
  name: text,
  created: text,
  created_by: text,
  cpu_usage: number,
  ...memory,
})

const GpuUse = Type.Object({
  container_id: text,
  job_id: text,
  lease_id: integer,
  pid: integer,
  ...memory,
  utilization: number,
})

const NodeGpu = Type.Object({
  cluster_uuid: text,
  name: text,
  uuid: text,
  index: integer,
  ...memory,
  utilization: number,
  usage: Type.Array(GpuUse),
})

const ClusterNode = named(
  'ClusterNode',
  Type.Object({
    id: text,
    hostname: text,
    local_ip: text,
    status: choice('ready', 'down'),
    is_leader: Type.Boolean(),
    config: freeForm,
    imex: recordOf(text),
    jobs: Type.Array(NodeJob),
    orphan_containers: Type.Array(OrphanContainer),
    usage: Type.Object({ gpus: Type.Array(NodeGpu) }),
  }),
)

export const ClusterState = named(
  'ClusterState',
  Type.Object({
    service: Type.Object({ job_queue: text, job_server: text, node_set: freeForm }),
    ingress: Type.Object({ host: text }),
    resources: Type.Optional(
      Type.Object({ gpus: Type.Object({ memory_used: number, total: number, utilization: number }) }),
    ),
    nodes: Type.Array(ClusterNode),
  }),
)
