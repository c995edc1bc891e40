// The numbers of all processes that serve an address together, whichever of them is asked.
//
// Each keeps its own series, told apart by the label `process`: sums are for whoever looks, and one that starts anew does
// not make the others' counts go down.
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client'
import type { Siblings } from '../processes/siblings.ts'

type Metrics = MetricObjectWithValues<MetricValue<string>>[]

interface Answer {
  readonly from: number
  readonly metrics: Metrics
}

/** A sibling that is busy or being started again is left out. */
const WAIT_MS_MAX = 500

export function gatherMetrics(registry: Registry, siblings: Siblings): () => Promise<string> {
  registry.setDefaultLabels({ process: String(siblings.number) })
  let answers = new Map<number, Metrics>()
  let isComplete = () => {}
  siblings.hear('metrics wanted', async () => {
    const answer: Answer = { from: siblings.number, metrics: (await registry.getMetricsAsJSON()) as Metrics }
    siblings.tell('metrics', answer)
  })
  siblings.hear('metrics', ({ from, metrics }: Answer) => {
    answers.set(from, metrics)
    if (answers.size === siblings.count - 1) isComplete()
  })

  const gather = async (): Promise<string> => {
    if (siblings.count > 1) {
      answers = new Map()
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, WAIT_MS_MAX)
        isComplete = () => {
          clearTimeout(timer)
          resolve()
        }
        siblings.tell('metrics wanted', undefined)
      })
    }
    const own = (await registry.getMetricsAsJSON()) as Metrics
    return AggregatorRegistry.aggregate([own, ...answers.values()].map(sideBySide)).metrics()
  }
  let gathering: Promise<string> | undefined
  return () =>
    (gathering ??= gather().finally(() => {
      gathering = undefined
    }))
}

/** No two series share their labels, so the first of each is the only one. */
const sideBySide = (metrics: Metrics): Metrics => metrics.map((metric) => ({ ...metric, aggregator: 'first' }))
