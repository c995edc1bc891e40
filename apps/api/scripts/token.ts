// Prints a token for a user of the development identity provider, by walking the real login of a running service.
import { parseArgs } from 'node:util'
import { readConfig } from '../src/config.ts'
import { signInByName } from '../src/development/sign-in-by-name.ts'

const USAGE = 'Usage: npm run token -- [--user ana] [--tenant default]'

try {
  const { user, tenant } = readArguments()
  // The same variables lead to the service as tell it where to listen.
  const { baseUrl, tenants } = readConfig(process.env)
  const fragment = await signInByName({ baseUrl, tenantId: tenant ?? tenants[0]!.tenantId, user })
  const token = fragment.get('access_token')
  if (!token) throw new Error(`${fragment.get('error')}: ${fragment.get('error_description')}`)
  console.log(token)
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

function readArguments() {
  try {
    return parseArgs({ options: { user: { type: 'string', default: 'ana' }, tenant: { type: 'string' } } }).values
  } catch (cause) {
    throw new Error(`${(cause as Error).message}\n${USAGE}`, { cause })
  }
}
