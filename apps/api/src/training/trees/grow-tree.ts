// Grows one tree leaf by leaf, always splitting the leaf whose best split gains most.
import { LeafHistograms } from './leaf-histograms.ts'
import { recordSplit } from './record-split.ts'
import { bestSplit, type Choice, type FeatureBins, HESSIAN_MIN, type Sums } from './split-search.ts'
import { emptyTree, type Tree } from './tree.ts'
import type { TreeCrew } from './tree-crew.ts'
import type { TreeSpace } from './tree-space.ts'

/** Positions in the list of rows, from the first to the one after the last. */
type Range = [number, number]

interface Leaf {
  train: Range
  test: Range
  sums: Sums
  histogram?: Float64Array
  choice?: Choice | undefined
  /** The pointer of the parent split that leads here. */
  parent?: { split: number; side: 'leftChild' | 'rightChild' }
}

export class TreeGrower {
  readonly #space: TreeSpace
  readonly #crew: TreeCrew
  readonly #histograms: LeafHistograms
  #hessianScale = 1

  constructor(space: TreeSpace, crew: TreeCrew, kinds: readonly FeatureBins['kind'][]) {
    this.#space = space
    this.#crew = crew
    this.#histograms = new LeafHistograms(space, crew, kinds)
  }

  /** Leaves each leaf's rows in the space's ranges and its value in the space's values. */
  grow(hessianScale: number): Tree {
    this.#hessianScale = hessianScale
    const { learning_rate, leaves: leavesMax } = this.#space.configuration
    const tree = emptyTree(learning_rate)
    const leaves = [this.#root()]
    while (leaves.length < leavesMax) {
      const next = leaves.reduce((one, other) => ((other.choice?.gain ?? 0) > (one.choice?.gain ?? 0) ? other : one))
      if (!next.choice) break
      this.#split(tree, leaves, next, next.choice)
    }
    this.#finish(tree, leaves)
    return tree
  }

  #root(): Leaf {
    const { memory, listAt, rows, trainRows } = this.#space
    const list = new Uint32Array(memory.buffer, listAt, rows)
    for (let place = 0; place < rows; place++) list[place] = place
    const histogram = this.#histograms.sum(0, trainRows, this.#hessianScale)
    const sums = this.#histograms.totalOf(histogram)
    return this.#withChoice({ train: [0, trainRows], test: [trainRows, rows], sums, histogram })
  }

  #withChoice(leaf: Leaf): Leaf {
    const rowsMin = this.#space.configuration.min_rows
    if (leaf.sums.count >= 2 * rowsMin) {
      leaf.choice = bestSplit(leaf.histogram!, this.#histograms.features, leaf.sums, rowsMin)
    }
    return leaf
  }

  #split(tree: Tree, leaves: Leaf[], leaf: Leaf, choice: Choice): void {
    const split = recordSplit(tree, this.#space, leaf.sums, choice)
    if (leaf.parent) tree[leaf.parent.side][leaf.parent.split] = split
    this.#markLeft(choice)
    const [train, test] = [this.#divide(leaf.train, choice.feature), this.#divide(leaf.test, choice.feature)]
    const left: Leaf = { train: train[0], test: test[0], sums: choice.left, parent: { split, side: 'leftChild' } }
    const rest = difference(leaf.sums, choice.left)
    const right: Leaf = { train: train[1], test: test[1], sums: rest, parent: { split, side: 'rightChild' } }
    leaves[leaves.indexOf(leaf)] = left
    leaves.push(right)
    if (leaves.length < this.#space.configuration.leaves) this.#prepare(leaf.histogram!, left, right)
    else this.#histograms.release(leaf.histogram)
  }

  #markLeft({ feature, kind, bin, bins, missingLeft }: Choice): void {
    const { leftBins } = this.#space
    leftBins.fill(0)
    if (kind === 'number') leftBins.fill(1, 0, bin + 1)
    else for (const chosen of bins) leftBins[chosen] = 1
    leftBins[this.#histograms.features[feature]!.count] = missingLeft ? 1 : 0
  }

  /** Only the smaller side is summed; the other is what remains of the parent. */
  #prepare(remaining: Float64Array, left: Leaf, right: Leaf): void {
    const [smaller, larger] = left.sums.count <= right.sums.count ? [left, right] : [right, left]
    const summed = this.#histograms.sum(...smaller.train, this.#hessianScale)
    for (let at = 0; at < remaining.length; at++) remaining[at]! -= summed[at]!
    smaller.histogram = summed
    larger.histogram = remaining
    this.#withChoice(smaller)
    this.#withChoice(larger)
  }

  #divide([start, end]: Range, feature: number): [Range, Range] {
    const members = this.#crew.run('divideRows', start, end, feature)
    this.#crew.run('gatherRows', start, end)
    let middle = start
    for (const count of this.#space.leftCounts.subarray(0, members)) middle += count
    return [
      [start, middle],
      [middle, end],
    ]
  }

  #finish(tree: Tree, leaves: Leaf[]): void {
    const { leafRanges, leafHessians, leafValues } = this.#space
    leaves.forEach(({ parent, train, test, histogram }, leaf) => {
      leafRanges.set([...train, ...test], leaf * 4)
      if (parent) tree[parent.side][parent.split] = ~leaf
      this.#histograms.release(histogram)
    })
    this.#crew.runAll('sumHessians', leaves.length)
    leaves.forEach(({ sums }, leaf) => {
      leafValues[leaf] = (-sums.gradient / Math.max(leafHessians[leaf]!, HESSIAN_MIN)) * tree.shrinkage
      tree.leafValue.push(leafValues[leaf]!)
      tree.leafWeight.push(leafHessians[leaf]!)
      tree.leafCount.push(sums.count)
    })
  }
}

function difference(whole: Sums, part: Sums): Sums {
  return {
    gradient: whole.gradient - part.gradient,
    hessian: whole.hessian - part.hessian,
    count: whole.count - part.count,
  }
}
