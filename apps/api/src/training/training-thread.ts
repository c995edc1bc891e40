// One thread of a training. The first leads: it decides what is computed next and tells the outcome of each round.
import { parentPort, workerData } from 'node:worker_threads'
import { type CrewControl, leadCrew, serveCrew } from './crew.ts'
import { descend } from './linear/descend.ts'
import type { Input, LinearModel } from './linear/linear-model.ts'
import type { LinearSpace } from './linear/linear-space.ts'
import { linearTasks } from './linear/linear-tasks.ts'
import type { Round } from './round.ts'
import { boost } from './trees/boost.ts'
import type { Tree } from './trees/tree.ts'
import { TreeCrew } from './trees/tree-crew.ts'
import type { TreeSpace } from './trees/tree-space.ts'
import { treeTasks } from './trees/tree-tasks.ts'

export type Work = { kinds: Input['kind'][] } & (
  | { architecture: 'gradient-boosted-trees'; space: TreeSpace }
  | { architecture: 'logistic-regression'; space: LinearSpace }
)

export interface ThreadData {
  work: Work
  control: CrewControl
  member: number
}

export type ThreadMessage =
  | { type: 'round'; round: Round; improved: boolean; learned: { tree: Tree } | { linear: LinearModel } }
  | { type: 'finished' }

const { work, control, member } = workerData as ThreadData
const tell = (message: ThreadMessage) => parentPort!.postMessage(message)

function lead(): void {
  if (work.architecture === 'gradient-boosted-trees') {
    boost(work.space, new TreeCrew(work.space, control), (round, tree, improved) =>
      tell({ type: 'round', round, improved, learned: { tree } }),
    )
  } else {
    descend(work.space, work.kinds, leadCrew(control, linearTasks(work.space)), (round, linear, improved) =>
      tell({ type: 'round', round, improved, learned: { linear } }),
    )
  }
  tell({ type: 'finished' })
}

if (member === 0) lead()
else {
  const tasks = work.architecture === 'gradient-boosted-trees' ? treeTasks(work.space) : linearTasks(work.space)
  serveCrew(control, tasks, member)
}
