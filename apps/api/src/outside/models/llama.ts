// The embedded engine: llama.cpp inside this process, through its Node binding, on one GGUF file.
import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename } from 'node:path'
import type { Llama, LlamaContext, LlamaContextSequence } from 'node-llama-cpp'
import { Problem } from '../../base/problem.ts'
import type { Engine, ModelCard } from './engine.ts'
import { generate, type Loaded } from './llama-generation.ts'
import { Slots } from './slots.ts'
import { defaultTimings } from './timings.ts'

export interface LlamaOptions {
  readonly modelFile: string
  /** Answers written at the same time. Each takes memory for a context of its own. */
  readonly parallel?: number
  /** Requests that may wait beyond those. */
  readonly waitingMax?: number
  readonly contextTokensMax?: number
  readonly totalMs?: number
}

export interface LlamaEngine extends Engine {
  close(): Promise<void>
}

export async function openLlama(options: LlamaOptions): Promise<LlamaEngine> {
  const {
    modelFile,
    parallel = 2,
    waitingMax = 64,
    contextTokensMax = 8_192,
    totalMs = defaultTimings.totalMs,
  } = options
  const file = await stat(modelFile).catch((cause) => {
    throw unusable(`${modelFile} cannot be read`, cause)
  })
  const binding = await import('node-llama-cpp').catch((cause) => {
    throw unusable('the optional package node-llama-cpp is not installed', cause)
  })
  const llama = await start(binding)
  const name = basename(modelFile, '.gguf')
  let loaded: Loaded
  let context: LlamaContext
  try {
    const model = await llama.loadModel({ modelPath: modelFile })
    const hasTemplate = model.fileInfo.metadata.tokenizer?.chat_template !== undefined
    const wrapper = hasTemplate ? binding.resolveChatWrapper(model) : new binding.GeneralChatWrapper()
    context = await model.createContext({ sequences: parallel, contextSize: { max: contextTokensMax } })
    loaded = { binding, llama, model, wrapper, name }
  } catch (cause) {
    await llama.dispose()
    throw unusable(`${modelFile} cannot be loaded`, cause)
  }
  const sequences = Array.from({ length: parallel }, () => context.getSequence())
  const slots = new Slots<LlamaContextSequence>(sequences, waitingMax)
  const card: ModelCard = { id: name, object: 'model', created: Math.floor(file.mtimeMs / 1000), owned_by: 'embedded' }
  return {
    upstream: `embedded:${name}`,
    ask: (request, signal, onDelta) => generate(loaded, slots, request, totalMs, signal, onDelta),
    models: async () => [card],
    close: () => llama.dispose(),
  }
}

/**
 * Nothing is downloaded or compiled. llama.cpp's threads wait for each other by spinning, so more of them than free cores
 * slows it a hundredfold on a busy machine; one core is left to the service itself.
 */
async function start({ getLlama, LlamaLogLevel }: typeof import('node-llama-cpp')): Promise<Llama> {
  try {
    return await getLlama({
      build: 'never',
      skipDownload: true,
      progressLogs: false,
      logLevel: LlamaLogLevel.error,
      maxThreads: Math.max(1, availableParallelism() - 1),
    })
  } catch (cause) {
    throw unusable('llama.cpp does not run on this machine', cause)
  }
}

const unusable = (because: string, cause: unknown): Problem =>
  new Problem('no_inference_backend', `The embedded model cannot be used: ${because}`, { cause })
