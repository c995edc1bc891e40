// The pages as a browser shows them: nothing is fetched from elsewhere.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import { startMain } from '../support/main-process.ts'
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

test('a newcomer signs in as ana on the plain page, sees what she holds, takes a token that works, and signs out', {
  skip: !CHROMIUM && 'there is no Chromium on this machine',
}, async () => {
  const service = await startMain()
  const own = service.url
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: QUIET })
  try {
    const page = await browser.newPage({ viewport: { width: 900, height: 900 } })
    await page.goto(own)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: /^Ana / }).click({ timeout: 30_000 })
    await page.getByText('ana@example.org').first().waitFor({ timeout: 30_000 })
    assert.doesNotMatch(page.url(), /access_token/)
    const token = await page.evaluate(
      () =>
        Object.values({ ...sessionStorage })
          .join(' ')
          .match(/eyJ[\w-]+\.[\w-]+\.[\w-]+/)?.[0],
    )
    assert.ok(token, 'the page keeps the token for this tab only')
    const seats = () => fetch(`${own}/v1/seats`, { headers: { authorization: `Bearer ${token}` } })
    assert.equal((await seats()).status, 200)
    const folder = process.env['SCREENSHOTS']
    if (folder) await page.screenshot({ path: `${folder}/signed-in.png` })
    await page.getByRole('button', { name: /sign out/i }).click()
    await page.getByRole('button', { name: 'Continue' }).waitFor({ timeout: 10_000 })
    assert.equal((await seats()).status, 401)
  } finally {
    await browser.close()
    await service.stop()
  }
})
