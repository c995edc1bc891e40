// Prints a token for a user of the development identity provider, by walking the real login of a running service.
import { parseArgs } from 'node:util'
import { signInByName } from '../src/development/sign-in-by-name.ts'

const { values } = parseArgs({
  options: {
    user: { type: 'string', default: 'ana' },
    tenant: { type: 'string', default: process.env['TENANT_ID'] || 'default' },
  },
})
const baseUrl = (process.env['BASE_URL'] || 'http://127.0.0.1:8080').replace(/\/+$/, '')

try {
  const fragment = await signInByName({ baseUrl, tenantId: values.tenant, user: values.user })
  const token = fragment.get('access_token')
  if (!token) throw new Error(`${fragment.get('error')}: ${fragment.get('error_description')}`)
  console.log(token)
} catch (error) {
  const { message, cause } = error as Error
  console.error(cause instanceof Error ? `Is the service running at ${baseUrl}? (${cause.message})` : message)
  process.exitCode = 1
}
