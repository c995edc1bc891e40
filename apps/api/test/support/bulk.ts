// Uploads by the million: the files, the requests, and what the service is like meanwhile.
import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import { FORM_TYPE, form } from './forms.ts'
import { call, type ServiceProcess } from './processes.ts'

const patient = new Agent({ headersTimeout: 600_000, bodyTimeout: 600_000 })

/** A form of one CSV file, with six columns and quotes here and there. */
export function personasForm(count: number): Buffer {
  const lines = ['name,notes,birthdate,city,segment,email']
  for (let n = 0; n < count; n++) {
    const day = `${1940 + (n % 70)}-${String(1 + (n % 12)).padStart(2, '0')}-${String(1 + (n % 28)).padStart(2, '0')}`
    const notes = n % 4 === 0 ? `"Client ${n}, likes tea"` : `Client ${n} likes coffee`
    lines.push(`Person ${(n * 7919) % count} of many,${notes},${day},Lisbon,gold,p${n}@example.org`)
  }
  return form({ name: 'people.csv', contents: `${lines.join('\n')}\n` })
}

export async function uploadForm(service: ServiceProcess, body: Buffer) {
  return send(service, '/upload', body, FORM_TYPE)
}

export async function finalizeUpload(service: ServiceProcess, token: string, resolution = 'skip') {
  const body = JSON.stringify({ upload_token: token, conflict_resolution: resolution })
  return send(service, '/upload/finalize', Buffer.from(body), 'application/json')
}

async function send(service: ServiceProcess, path: string, body: Buffer, type: string) {
  const response = await request(`${service.url}/v1/spaces/${service.space}/personas${path}`, {
    dispatcher: patient,
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': type },
    body,
  })
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came
  return { status: response.statusCode, body: (await response.body.json()) as any }
}

export async function countPersonas(service: ServiceProcess): Promise<number> {
  return (await call(service, 'GET', `/v1/spaces/${service.space}/personas?limit=1`)).body.count
}

/** The most memory that the process ever had. */
export function peakMiB({ child }: ServiceProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1024
}

/** Asks for a list again and again while something else goes on, and tells how long the answers took. */
export async function answersDuring<T>(service: ServiceProcess, work: Promise<T>) {
  const began = performance.now()
  let isOver = false
  const over = () => {
    isOver = true
  }
  work.then(over, over)
  const milliseconds: number[] = []
  while (!isOver) {
    const asked = performance.now()
    const { status } = await call(service, 'GET', `/v1/spaces/${service.space}/data-models`)
    if (status !== 200) throw new Error(`The service answered ${status} meanwhile`)
    milliseconds.push(performance.now() - asked)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const result = await work
  const seconds = (performance.now() - began) / 1000
  const sorted = milliseconds.sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return { result, seconds, median: at(0.5), p99: at(0.99), max: at(1) }
}
