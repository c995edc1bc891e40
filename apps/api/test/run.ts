// Runs tests on one shared Postgres and closes with a line of counts. Arguments name suites; without any, the quick ones run.
import { globSync } from 'node:fs'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { startTestPostgres } from './support/databases.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The quick suites are for every change; the slow ones take minutes or outside programs, and have a command of their own. */
const SUITES: Record<string, string[]> = {
  quick: ['src/**/*.test.ts', 'test/*.test.ts', 'test/api/**/*.test.ts'],
  slow: ['test/slow/**/*.test.ts'],
}

const names = process.argv.slice(2)
const patterns = (names.length === 0 ? ['quick'] : names).flatMap((name) => SUITES[name] ?? [name])
const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).map((file) => `${ROOT}${file}`)
if (files.length === 0) {
  console.error(`No test file matches ${patterns.join(', ')}`)
  process.exit(1)
}

const postgres = await startTestPostgres()
process.env['AMPHI_TEST_POSTGRES'] = postgres.url
const counts = { passed: 0, failed: 0, skipped: 0 }
const isSlow = names.includes('slow')
const stream = run({
  files: [...new Set(files)].sort(),
  concurrency: isSlow ? 1 : 2,
  timeout: isSlow ? 900_000 : 120_000,
  // A file ends with its last test, whatever a failed one left open.
  execArgv: ['--test-force-exit'],
})
stream.on('test:summary', ({ file, counts: summary }) => {
  if (file !== undefined) return
  counts.passed = summary.passed
  counts.failed = summary.tests - summary.passed - summary.skipped - summary.todo
  counts.skipped = summary.skipped
})
stream.on('end', async () => {
  await postgres.stop()
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
  console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`)
  process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0)
})
stream.compose(new spec()).pipe(process.stdout)
