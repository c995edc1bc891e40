// A leader thread and its helpers: all run one task on shared memory, each its own share, and meet before the next.

/** Which member this is, of how many. */
export interface Membership {
  member: number
  members: number
}

export interface Share extends Membership {
  /** The number of the next piece of the task that no member has taken yet: a slow member then holds up no other. */
  next(): number
}

/** A task may write only to places no other share of it touches; its numbers come from the leader. */
export type Task = (share: Share, ...numbers: number[]) => void
export type Tasks = Readonly<Record<string, Task>>

export interface CrewControl {
  members: number
  signals: Int32Array
  numbers: Float64Array
}

const TURN = 0
const TASK = 1
const BUSY = 2
const TAKEN = 3
const NUMBERS_MAX = 8
// Waiting through the operating system costs more than most tasks' differences in length, so look again a while first.
const LOOKS = 4000

export function crewControl(members: number): CrewControl {
  return {
    members,
    signals: new Int32Array(new SharedArrayBuffer(16)),
    numbers: new Float64Array(new SharedArrayBuffer(NUMBERS_MAX * 8)),
  }
}

/** Runs the named task on all members and returns when the last has finished. */
export type RunTask<T extends Tasks> = (name: keyof T & string, ...numbers: number[]) => void

export function leadCrew<T extends Tasks>({ members, signals, numbers }: CrewControl, tasks: T): RunTask<T> {
  const names = Object.keys(tasks)
  const share = shareOf(signals, 0, members)
  return (name, ...given) => {
    Atomics.store(signals, TAKEN, 0)
    if (members > 1) {
      numbers.set(given)
      Atomics.store(signals, TASK, names.indexOf(name))
      Atomics.store(signals, BUSY, members - 1)
      Atomics.add(signals, TURN, 1)
      Atomics.notify(signals, TURN)
    }
    tasks[name]!(share, ...given)
    for (let busy = Atomics.load(signals, BUSY); busy > 0; busy = Atomics.load(signals, BUSY)) {
      waitFor(signals, BUSY, busy)
    }
  }
}

/** A helper's whole life; it ends when its thread is ended. */
export function serveCrew({ members, signals, numbers }: CrewControl, tasks: Tasks, member: number): never {
  const all = Object.values(tasks)
  const share = shareOf(signals, member, members)
  for (let turn = 0; ; turn++) {
    waitFor(signals, TURN, turn)
    all[Atomics.load(signals, TASK)]!(share, ...numbers)
    if (Atomics.sub(signals, BUSY, 1) === 1) Atomics.notify(signals, BUSY)
  }
}

const shareOf = (signals: Int32Array, member: number, members: number): Share => ({
  member,
  members,
  next: () => Atomics.add(signals, TAKEN, 1),
})

/** The share of one who does the whole task. */
export function wholeShare(): Share {
  let taken = 0
  return { member: 0, members: 1, next: () => taken++ }
}

function waitFor(signals: Int32Array, place: number, value: number): void {
  for (let look = 0; look < LOOKS; look++) if (Atomics.load(signals, place) !== value) return
  while (Atomics.load(signals, place) === value) Atomics.wait(signals, place, value)
}

/** The part of a range that falls to a member; the parts cover it without gap or overlap. */
export function partOf({ member, members }: Membership, start: number, end: number): [number, number] {
  const length = end - start
  return [start + Math.floor((length * member) / members), start + Math.floor((length * (member + 1)) / members)]
}
