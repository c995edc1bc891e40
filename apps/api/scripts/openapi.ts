// Writes openapi.json, the committed description of the API; a test fails while it is stale.
import { writeFileSync } from 'node:fs'
import { catalogue } from '../src/catalogue.ts'
import { openapi } from '../src/http/openapi.ts'
import { VERSION } from '../src/version.ts'

const file = new URL('../../../openapi.json', import.meta.url)
writeFileSync(file, `${JSON.stringify(openapi(catalogue, VERSION), null, 2)}\n`)
