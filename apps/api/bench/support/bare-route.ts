// The peer: a bare Fastify route that runs the SQL of an authorised GET of a seat, with no access control at all.
import Fastify from 'fastify'
import type { Grant, TenantGrant } from '../../src/base/grant.ts'
import { getSeat } from '../../src/resources/seats/seats-store.ts'
import { connect } from '../../src/storage/sql.ts'

const [url, seatId, space] = process.argv.slice(2) as [string, string, string]
const sql = connect(url, { max: 10 })
const grant = { tenantId: 'acme', userId: '', requestId: '', spaceIds: [space] } as unknown as Grant as TenantGrant
const app = Fastify()
app.get('/', () => getSeat(sql, grant, seatId))
await app.listen({ host: '127.0.0.1', port: 0 })
console.log((app.server.address() as { port: number }).port)
