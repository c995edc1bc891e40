// The epochs of a logistic regression: small batches, each weight with a pace of its own (Adam), slowing to the end.
import type { RunTask } from '../crew.ts'
import { seededRandom, shuffle } from '../random.ts'
import { type Round, startingScore, testRoc, trainAndTestLoss } from '../round.ts'
import type { Input, LinearModel } from './linear-model.ts'
import { CHUNK, type LinearSpace, PARTS } from './linear-space.ts'
import type { LinearTasks } from './linear-tasks.ts'

const MEAN_DECAY = 0.9
const SQUARE_DECAY = 0.999
const TINY = 1e-8

/** Tells each epoch with the model as it is then, and whether the test loss is the best so far. */
export type OnEpoch = (round: Round, model: LinearModel, improved: boolean) => void

export function descend(space: LinearSpace, kinds: Input['kind'][], run: RunTask<LinearTasks>, onEpoch: OnEpoch): void {
  const { epochs, seed } = space.configuration
  const categories = space.categories.map((column) => column.categories.length)
  run('learnScales')
  run('fillRows')
  const batches = Uint32Array.from({ length: Math.ceil(space.trainRows / space.batch) }, (_, at) => at)
  const steps = epochs * batches.length
  space.weights[space.weights.length - 1] = startingScore(space)
  const optimiser = new Optimiser(space)
  const random = seededRandom(seed)
  let best = Infinity
  for (let epoch = 1; epoch <= epochs; epoch++) {
    shuffle(batches, random)
    for (const batch of batches) {
      const start = batch * space.batch
      const end = Math.min(start + space.batch, space.trainRows)
      run('sumGradients', start, end)
      optimiser.step(end - start, steps)
    }
    run('computeLosses')
    run('sortTestRows')
    const losses = trainAndTestLoss(space, CHUNK)
    const improved = losses.test_log_loss < best
    if (improved) best = losses.test_log_loss
    onEpoch(
      { step: epoch, total_steps: epochs, ...losses, test_roc_auc: testRoc(space) },
      toModel(space, kinds, categories),
      improved,
    )
  }
}

class Optimiser {
  readonly #space: LinearSpace
  readonly #means: Float64Array
  readonly #squares: Float64Array
  #done = 0

  constructor(space: LinearSpace) {
    this.#space = space
    this.#means = new Float64Array(space.weights.length)
    this.#squares = new Float64Array(space.weights.length)
  }

  step(rows: number, stepsInAll: number): void {
    const { weights, partSums, configuration } = this.#space
    const rate = configuration.learning_rate * (1 - this.#done / stepsInAll)
    this.#done++
    const meanPart = 1 - MEAN_DECAY ** this.#done
    const squarePart = 1 - SQUARE_DECAY ** this.#done
    for (let at = 0; at < weights.length; at++) {
      let sum = 0
      for (let part = 0; part < PARTS; part++) sum += partSums[part * weights.length + at]!
      const isIntercept = at === weights.length - 1
      const slope = sum / rows + (isIntercept ? 0 : configuration.l2 * weights[at]!)
      const mean = MEAN_DECAY * this.#means[at]! + (1 - MEAN_DECAY) * slope
      const square = SQUARE_DECAY * this.#squares[at]! + (1 - SQUARE_DECAY) * slope * slope
      this.#means[at] = mean
      this.#squares[at] = square
      weights[at]! -= (rate * (mean / meanPart)) / (Math.sqrt(square / squarePart) + TINY)
    }
  }
}

/** The inputs in the order of the features, numbers and categories mixed as they came. */
function toModel(space: LinearSpace, kinds: Input['kind'][], categories: number[]): LinearModel {
  const { weights, means, scales, marked, firstSlots } = space
  const numbers = means.length
  let number = 0
  let category = 0
  const inputs = kinds.map((kind): Input => {
    if (kind === 'number') {
      const at = number++
      const mark = marked.indexOf(at)
      const missing = mark === -1 ? 0 : weights[numbers + mark]!
      return { kind, mean: means[at]!, scale: scales[at]!, weight: weights[at]!, missing }
    }
    const at = category++
    const first = firstSlots[at]!
    const last = first + categories[at]!
    return { kind, weights: [...weights.subarray(first, last)], missing: weights[last]! }
  })
  return { model: 'logistic-regression', version: 1, intercept: weights[weights.length - 1]!, inputs }
}
