// Which model a call goes to (docs/contract.md, Inference): the space's cluster, else the server, else the embedded engine.
import { Problem } from '../../base/problem.ts'
import type { Engine } from './engine.ts'

export interface Backends {
  readonly server?: Engine | undefined
  readonly embedded?: Engine | undefined
}

export function chooseEngine(cluster: Engine | undefined, { server, embedded }: Backends): Engine {
  const engine = cluster ?? server ?? embedded
  if (engine) return engine
  throw new Problem(
    'no_inference_backend',
    'No model is connected. Give this space a cluster with an ingress_url, or start the service with INFERENCE_URL set to ' +
      'an OpenAI-compatible server, or with INFERENCE_MODEL_FILE set to a GGUF file',
  )
}
