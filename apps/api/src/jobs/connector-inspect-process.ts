// The process that looks through one file: takes it as a message, answers with what is in it, and ends.
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { Database, type DataLimits, literal } from '../training/data/database.ts'
import { readFault } from '../training/data/faults.ts'
import { scanFile } from '../training/data/scan.ts'
import { DataProblem } from '../training/data-problem.ts'
import type { Findings, Inspection, Outcome } from './connector-inspect.ts'

const MEMORY_BYTES_MAX = 512 << 20

process.once('message', async (inspection: Inspection) => {
  const outcome = await look(inspection).then(
    (findings): Outcome => ({ findings }),
    (error): Outcome => (error instanceof DataProblem ? { fault: error.message } : { bug: String(error?.stack) }),
  )
  process.send!(outcome, () => process.exit())
})
// Whoever asked is gone.
process.once('disconnect', () => process.exit())

function look(inspection: Inspection): Promise<Findings> {
  const limits = {
    threads: availableParallelism(),
    memoryBytes: MEMORY_BYTES_MAX,
    scratchFolder: `${dirname(inspection.path)}/scratch`,
  }
  if (inspection.format === 'parquet') return readFooter(inspection, limits)
  return scanFile(inspection, inspection.format, limits)
}

async function readFooter(file: Inspection, limits: DataLimits): Promise<Findings> {
  const database = await Database.open(limits)
  const path = literal(file.path)
  try {
    const described = await database.rows(`DESCRIBE SELECT * FROM read_parquet(${path})`)
    const [[rows] = []] = await database.rows(`SELECT sum(num_rows) FROM parquet_file_metadata(${path})`)
    // Statistics are optional, and a sum over some of the row groups would be wrong.
    const counted = await database.rows(`
      SELECT path_in_schema, sum(stats_null_count) FROM parquet_metadata(${path})
      GROUP BY path_in_schema HAVING count(stats_null_count) = count(*)`)
    const nulls = new Map(counted.map(([name, count]) => [String(name), Number(count)]))
    const columns = described.map(([name, type]) => {
      const known = nulls.get(String(name))
      return { name: String(name), type: String(type), ...(known !== undefined && { nulls: known }) }
    })
    return { rows: Number(rows), columns }
  } catch (error) {
    throw readFault(file, error)
  } finally {
    database.close()
  }
}
