// Runs a Postgres program so that it ends when this process ends, even by kill -9.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Binaries, Identity } from './embedded-postgres-binaries.ts'

export interface Task {
  readonly program: 'initdb' | 'postgres'
  readonly args: readonly string[]
  /** The data folder, which the program finds at DATA_FOLDER. */
  readonly folder: string
  /** Removed when the program ends. */
  readonly runFolder?: string
  readonly log?: (line: string) => void
}

export interface Supervised {
  /** Resolves to the exit code when the program and all its children are gone. */
  readonly ended: Promise<number>
  /** What it wrote last to its error output. */
  lastWords(): string
  /** Asks it to end, kindly at first and after ten seconds without mercy. Resolves when the supervisor has ended. */
  end(): Promise<void>
}

/** An open folder can be entered this way even where the folders above it are closed to whoever Postgres runs as. */
export const DATA_FOLDER = '/proc/self/fd/3'

// The input is a pipe that this process holds: it closes in end(), and by itself when this process dies. Signals to a
// whole service must not end the program before this process is done with it. A signal that comes before the program
// listens is lost, therefore it is repeated.
const SCRIPT = `
run_folder=$1; shift
trap '' HUP INT TERM
exec 4<&0 </dev/null
"$@" 4<&- & program=$!
{ read -r _
  tries=100
  while [ $tries -gt 0 ] && kill -INT $program; do sleep 0.1; tries=$((tries - 1)); done
  kill -QUIT $program
} <&4 >/dev/null 2>&1 & watch=$!
wait $program; code=$?
kill -KILL $watch
if [ -n "$run_folder" ]; then rm -rf "$run_folder"; fi
exit $code
`

const LAST_LINES = 20

export function supervise(identity: Identity, binaries: Binaries, task: Task): Supervised {
  const program = join(binaries.folder, task.program)
  const command = [...identity.prefix, 'sh', '-c', SCRIPT, 'sh', task.runFolder ?? '', program, ...task.args]
  const folder = openSync(task.folder, 'r')
  try {
    const child = spawn(command[0]!, command.slice(1), {
      ...identity.ids,
      env: { ...binaries.env },
      cwd: '/',
      // A session of its own: what is typed at the terminal is for this process alone.
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe', folder],
    })
    return watch(child, task.log)
  } finally {
    closeSync(folder)
  }
}

function watch(child: ChildProcess, log: Task['log']): Supervised {
  const last: string[] = []
  createInterface({ input: child.stderr! }).on('line', (line) => {
    last.push(line)
    if (last.length > LAST_LINES) last.shift()
    log?.(line)
  })
  child.on('error', (error) => last.push(error.message))
  child.stdin!.on('error', () => {})
  const exited = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<number>()
  child.on('exit', () => exited.resolve())
  child.on('close', (code) => ended.resolve(code ?? -1))
  return {
    ended: ended.promise,
    lastWords: () => last.join('\n'),
    end: () => {
      child.stdin!.destroy()
      return exited.promise
    },
  }
}
