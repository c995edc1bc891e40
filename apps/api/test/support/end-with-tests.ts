// A test that fails may not come to stop what it started; left running, that would hold back every test after it.
import type { ChildProcess } from 'node:child_process'

const running = new Set<ChildProcess>()

/** Ends a program with the process that runs the tests, unless it ended before. */
export function endWithTests<Child extends ChildProcess>(child: Child): Child {
  if (running.size === 0) process.once('exit', endAll)
  running.add(child)
  child.once('exit', () => {
    running.delete(child)
    if (running.size === 0) process.off('exit', endAll)
  })
  return child
}

function endAll(): void {
  for (const child of running) child.kill('SIGKILL')
}
