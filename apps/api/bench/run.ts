// Runs every benchmark, one after the other, each in a process of its own. Arguments name some of them.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const all = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.ts') && name !== 'run.ts')
  .map((name) => name.slice(0, -3))
const names = process.argv.slice(2).length > 0 ? process.argv.slice(2) : all

let failures = 0
for (const name of names) {
  console.log(`\n# ${name}`)
  const { status } = spawnSync(process.execPath, [`${FOLDER}${name}.ts`], { stdio: 'inherit' })
  if (status !== 0) failures++
}
process.exit(failures > 0 ? 1 : 0)
