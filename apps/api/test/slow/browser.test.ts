// The pages as a browser shows them: nothing is fetched from elsewhere.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import { startService } from '../support/service.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

test('the API page shows every operation and asks nobody else for anything', {
  skip: !CHROMIUM && 'there is no Chromium on this machine',
}, async () => {
  const service = await startService()
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  const own = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: QUIET })
  try {
    const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
    const elsewhere: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(own) && !/^(data|blob):/.test(request.url())) elsewhere.push(request.url())
    })
    await page.goto(`${own}/docs`)
    await page
      .getByRole('link', { name: 'seats', exact: true })
      .or(page.getByText('seats', { exact: true }))
      .first()
      .click({ timeout: 30_000 })
    await page.getByText('Create a seat').first().waitFor({ timeout: 30_000 })
    assert.deepEqual(elsewhere, [])
    const shot = process.env['SCREENSHOTS']
    if (shot) await page.screenshot({ path: `${shot}/docs.png` })
  } finally {
    await browser.close()
    await service.close()
  }
})
