// From files to what a training starts with: columns in memory, labels, the division of rows, and the encoding.
import type { Architecture, Settings } from './configuration.ts'
import { categoriesOf } from './data/categories.ts'
import type { DataLimits } from './data/database.ts'
import { type Dataset, type DatasetColumn, withDataset } from './data/dataset.ts'
import type { DataFile } from './data/faults.ts'
import { readTable } from './data/read-table.ts'
import type { Format } from './data/source-file.ts'
import type { Column, ColumnPlan } from './data/table.ts'
import { DataProblem } from './data-problem.ts'
import { chosenColumns, type Encoding, type Feature, learnTarget, toLabels } from './encoding.ts'
import { type Split, splitRows } from './split.ts'

export interface Prepared {
  encoding: Encoding
  columns: Column[]
  labels: Uint8Array
  split: Split
}

export async function prepare(
  files: readonly DataFile[],
  format: Format,
  { architecture, configuration }: Settings,
  limits: DataLimits,
  memoryBytes: number,
): Promise<Prepared> {
  return withDataset(files, format, limits, async (dataset) => {
    const chosen = chosenColumns(dataset, configuration.target, configuration.features)
    assertFits(dataset, chosen, architecture, memoryBytes)
    const [target, ...features] = (await readTable(dataset, await planOf(dataset, chosen))).columns
    const learned = learnTarget(target!)
    const labels = toLabels(target!, learned)
    const split = splitRows(labels, configuration.test_fraction, configuration.seed)
    return {
      encoding: { version: 1, target: learned, features: features.map(toFeature) },
      columns: features,
      labels,
      split,
    }
  })
}

async function planOf(dataset: Dataset, chosen: readonly DatasetColumn[]): Promise<ColumnPlan[]> {
  const texts = chosen.filter(({ kind }) => kind === 'text').map(({ name }) => name)
  const categories = await categoriesOf(dataset, texts)
  return chosen.map(({ name, kind }) =>
    kind === 'text' ? { name, kind: 'category', categories: categories.get(name)! } : { name, kind: 'number' },
  )
}

function toFeature(column: Column): Feature {
  const { name, kind } = column
  return kind === 'number' ? { name, kind } : { name, kind, categories: [...column.categories] }
}

/** Bytes a row and a cell take besides the column itself while a model learns. */
const PER_ROW: Record<Architecture, number> = { 'gradient-boosted-trees': 48, 'logistic-regression': 16 }
const PER_CELL: Record<Architecture, number> = { 'gradient-boosted-trees': 2, 'logistic-regression': 8 }

function assertFits(
  { rows }: Dataset,
  chosen: readonly DatasetColumn[],
  architecture: Architecture,
  memoryBytes: number,
) {
  const columns = chosen.reduce((sum, { kind, single }) => sum + (kind === 'text' || single ? 4 : 8), 0)
  const needed = rows * (columns + PER_ROW[architecture] + chosen.length * PER_CELL[architecture])
  if (needed <= memoryBytes) return
  const [wanted, allowed] = [needed, memoryBytes].map((bytes) => `${(bytes / 2 ** 30).toFixed(1)} GiB`)
  throw new DataProblem(
    `${rows} rows of ${chosen.length} columns need about ${wanted} of memory, and ${allowed} are allowed: name fewer features.`,
  )
}
