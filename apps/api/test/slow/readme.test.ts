// The README's tour does what it says when it is pasted into a shell.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startMain } from '../support/main-process.ts'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

test('the five-minute tour works when pasted', async () => {
  const readme = readFileSync(`${ROOT}README.md`, 'utf8')
  const tour = readme.split('## Five minutes')[1]?.match(/```sh\n([\s\S]*?)```/)?.[1]
  assert.ok(tour)
  const service = await startMain()
  try {
    const script = tour.replaceAll('http://127.0.0.1:8080', service.url)
    const { stdout } = await promisify(execFile)('bash', ['-eo', 'pipefail', '-c', script], {
      cwd: ROOT,
      env: { ...process.env, BASE_URL: service.url },
      timeout: 60_000,
    })
    const answers = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    const [me, bobsList, bobsRefusal, emptied, bobsNext, audit] = answers
    assert.equal(me.email, 'ana@example.org')
    assert.equal(bobsList.count, 0)
    assert.deepEqual(bobsRefusal.error.access.seats, ['analysts'])
    assert.deepEqual(emptied.permissions, [])
    assert.equal(bobsNext.error.type, 'permission_error')
    assert.ok(audit.data.some(({ action }: { action: string }) => action === 'seats.update'))
  } finally {
    await service.stop()
  }
})
