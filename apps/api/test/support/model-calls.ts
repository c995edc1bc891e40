// What tests of model calls share: an engine connected to a script, its answer collected, its failure caught.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Agent } from 'undici'
import { Problem } from '../../src/base/problem.ts'
import { type MeteredCalls, withMeter } from '../../src/inference/calls.ts'
import { FormatMemory } from '../../src/inference/formats.ts'
import type { Delta, Engine, ModelRequest, Reply } from '../../src/outside/models/engine.ts'
import { type OpenAiServerOptions, openAiServer } from '../../src/outside/models/openai-server.ts'
import { type Play, type ScriptedUpstream, scriptedUpstream } from './scripted-upstream.ts'

/** Waits short enough for a test, in the same order as the real ones. */
const timings = { backoffMinMs: 1, backoffMaxMs: 4, firstTokenMs: 5_000, idleMs: 2_000, tailMs: 300, totalMs: 10_000 }

/** A small GGUF model for the embedded engine. */
export const testModelFile =
  process.env['AMPHI_TEST_MODEL'] ??
  fileURLToPath(new URL('../../../../../shared/models/stories260K.gguf', import.meta.url))

/** Why tests of the embedded engine are skipped here, or false where they run. */
export const noEmbeddedModel: string | false = !existsSync(testModelFile)
  ? 'no model file: set AMPHI_TEST_MODEL to a GGUF file'
  : !isInstalled('node-llama-cpp') && 'the optional package node-llama-cpp is not installed'

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

export interface Connected {
  readonly engine: Engine
  readonly upstream: ScriptedUpstream
}

export async function connectTo(
  t: TestContext,
  options: Partial<OpenAiServerOptions>,
  ...script: [Play, ...Play[]]
): Promise<Connected> {
  const upstream = await scriptedUpstream(...script)
  const dispatcher = new Agent({ keepAliveTimeout: 3_500 })
  t.after(async () => {
    await dispatcher.destroy()
    await upstream.close()
  })
  const engine = openAiServer({
    baseUrl: upstream.url,
    dispatcher,
    ...options,
    timings: { ...timings, ...options.timings },
  })
  return { engine, upstream }
}

export const never = (): AbortSignal => new AbortController().signal

export const request = (change: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Hello there' }],
  ...change,
})

/** Reads along unless told not to. */
export async function collect(
  engine: Engine,
  { deltas: isReadAlong = true, ...change }: Partial<ModelRequest> & { deltas?: boolean } = {},
  signal = never(),
): Promise<{ deltas: Delta[]; reply: Reply }> {
  const deltas: Delta[] = []
  const listen = (delta: Delta) => void deltas.push(delta)
  const reply = await engine.ask(request(change), signal, isReadAlong ? listen : undefined)
  return { deltas, reply }
}

/** The Problem a call ends in; anything else fails the test. */
export async function problemOf(call: Promise<unknown>): Promise<Problem> {
  const error = await call.then(
    () => assert.fail('The call succeeded'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof Problem, String(error))
  return error
}

/** Everything a step of inference needs, on a clock that stands still unless a test moves it. */
export const callsOn = (engine: Engine, signal = never()): MeteredCalls =>
  withMeter({ engine, signal, formats: new FormatMemory(), now: () => 0 })
