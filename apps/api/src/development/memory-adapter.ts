// Where the development identity provider keeps its sessions and codes: in memory, until they expire.
import type { Adapter, AdapterPayload } from 'oidc-provider'

interface Kept {
  readonly payload: AdapterPayload
  readonly until: number
}

const SWEEP_ABOVE = 1000

/** Makes the adapters of one provider; they share nothing with another one's. */
export function memoryAdapters(): (model: string) => Adapter {
  const kept = new Map<string, Kept>()
  const read = (key: string): AdapterPayload | undefined => {
    const entry = kept.get(key)
    return entry && entry.until > Date.now() ? entry.payload : undefined
  }
  const findBy = (model: string, fits: (payload: AdapterPayload) => boolean): AdapterPayload | undefined => {
    for (const key of kept.keys()) {
      const payload = key.startsWith(`${model}:`) ? read(key) : undefined
      if (payload && fits(payload)) return payload
    }
    return undefined
  }

  return (model) => ({
    async upsert(id, payload, expiresIn) {
      if (kept.size > SWEEP_ABOVE) for (const [key, { until }] of kept) if (until <= Date.now()) kept.delete(key)
      kept.set(`${model}:${id}`, { payload, until: Date.now() + (expiresIn || 3600) * 1000 })
    },
    find: async (id) => read(`${model}:${id}`),
    findByUid: async (uid) => findBy(model, (payload) => payload.uid === uid),
    findByUserCode: async (userCode) => findBy(model, (payload) => payload.userCode === userCode),
    async consume(id) {
      const payload = read(`${model}:${id}`)
      if (payload) payload['consumed'] = Math.floor(Date.now() / 1000)
    },
    async destroy(id) {
      kept.delete(`${model}:${id}`)
    },
    async revokeByGrantId(grantId) {
      for (const [key, { payload }] of kept) if (payload.grantId === grantId) kept.delete(key)
    },
  })
}
