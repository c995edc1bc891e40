// The tasks the threads of a logistic regression share out among themselves.
import { partOf, type Share } from '../crew.ts'
import { NO_CATEGORY } from '../data/table.ts'
import { LossSum } from '../loss-sum.ts'
import { sortTestRows } from '../round.ts'
import { CHUNK, type LinearSpace, PARTS } from './linear-space.ts'
import { addErrors, scoreRows } from './row-sums.ts'
import { standardOf } from './standard.ts'

export function linearTasks(space: LinearSpace) {
  return {
    learnScales: (share: Share) => learnScales(space, share),
    fillRows(share: Share) {
      fillRows(space, share)
      space.numbers.length = 0
      space.categories.length = 0
    },
    sumGradients: (share: Share, start: number, end: number) => sumGradients(space, share, start, end),
    sortTestRows: (share: Share) => sortTestRows(space, share),
    computeLosses: (share: Share) => computeLosses(space, share),
  }
}

export type LinearTasks = ReturnType<typeof linearTasks>

/** Mean and spread of the training rows, column by column, each by one member. */
function learnScales({ numbers, tableRows, trainRows, means, scales }: LinearSpace, { next }: Share): void {
  const rows = tableRows.subarray(0, trainRows)
  for (let at = next(); at < numbers.length; at = next()) {
    const { mean, scale } = standardOf(numbers[at]!.values, rows)
    means[at] = mean
    scales[at] = scale
  }
}

function fillRows(space: LinearSpace, share: Share): void {
  const { numbers, categories, marked, means, scales, dense, width, slots, tableRows, firstSlots } = space
  const [from, to] = partOf(share, 0, space.rows)
  numbers.forEach(({ values }, at) => {
    const mean = means[at]!
    const scale = scales[at]!
    const mark = numbers.length + marked.indexOf(at)
    for (let place = from; place < to; place++) {
      const value = values[tableRows[place]!]!
      if (Number.isNaN(value)) dense[place * width + mark] = 1
      else dense[place * width + at] = (value - mean) * scale
    }
  })
  categories.forEach((column, at) => {
    const missing = firstSlots[at]! + column.categories.length
    for (let place = from; place < to; place++) {
      const code = column.codes[tableRows[place]!]!
      slots[place * categories.length + at] = code === NO_CATEGORY ? missing : firstSlots[at]! + code
    }
  })
}

/** A batch's parts are summed apart and put together by the leader in one order always. */
function sumGradients(space: LinearSpace, { next }: Share, start: number, end: number): void {
  const { weights, labels, partSums } = space
  const errors = new Float64Array(Math.ceil((end - start) / PARTS))
  for (let part = next(); part < PARTS; part = next()) {
    const [from, to] = partOf({ member: part, members: PARTS }, start, end)
    scoreRows(space, from, to, errors)
    for (let at = 0; at < to - from; at++) errors[at] = 1 / (1 + Math.exp(-errors[at]!)) - labels[from + at]!
    const sums = partSums.subarray(part * weights.length, (part + 1) * weights.length).fill(0)
    addErrors(space, from, to, errors, sums)
  }
}

function computeLosses(space: LinearSpace, { next }: Share): void {
  const { trainRows, rows, labels, testProbabilities, chunkLosses } = space
  const scores = new Float64Array(CHUNK)
  const trainChunks = Math.ceil(trainRows / CHUNK)
  for (let chunk = next(); chunk < chunkLosses.length; chunk = next()) {
    const isTrain = chunk < trainChunks
    const from = isTrain ? chunk * CHUNK : trainRows + (chunk - trainChunks) * CHUNK
    const to = Math.min(from + CHUNK, isTrain ? trainRows : rows)
    scoreRows(space, from, to, scores)
    const losses = new LossSum()
    for (let place = from; place < to; place++) {
      const probability = 1 / (1 + Math.exp(-scores[place - from]!))
      losses.add(labels[place] === 1 ? probability : 1 - probability)
      if (!isTrain) testProbabilities[place - trainRows] = probability
    }
    chunkLosses[chunk] = losses.total()
  }
}
