// Runs a tree training's tasks, with the helpers where the rows are many enough to be worth waking them.
import { type CrewControl, leadCrew, type RunTask, wholeShare } from '../crew.ts'
import type { TreeSpace } from './tree-space.ts'
import { type TreeTasks, treeTasks } from './tree-tasks.ts'

/** Below this many rows it takes longer to wake the helpers than to do their share. */
const ROWS_SHARED_MIN = 2048

export class TreeCrew {
  readonly #tasks: TreeTasks
  readonly #runShared: RunTask<TreeTasks>
  readonly #members: number

  constructor(space: TreeSpace, control: CrewControl) {
    this.#tasks = treeTasks(space)
    this.#members = control.members
    this.#runShared = leadCrew(control, this.#tasks)
  }

  runAll(name: keyof TreeTasks, ...numbers: number[]): void {
    this.#runShared(name, ...numbers)
  }

  /** For rows from one position of the list to another; returns how many members took part. */
  run(name: 'sumBins' | 'divideRows' | 'gatherRows', start: number, end: number, feature = 0): number {
    if (end - start >= ROWS_SHARED_MIN) {
      this.#runShared(name, start, end, feature)
      return this.#members
    }
    this.#tasks[name](wholeShare(), start, end, feature)
    return 1
  }
}
