// The rows of a new tenant: itself, its first space and its administrators' seat.
import { newId } from '../base/ids.ts'
import type { Sql } from '../storage/sql.ts'
import { announceEpoch, openEpoch, recordChange } from './snapshot-store.ts'

export interface Founding {
  readonly tenantId: string
  readonly name: string
  readonly adminSeat: string
}

const FOUNDER = 'amphi'

export async function foundTenant(sql: Sql, { tenantId, name, adminSeat }: Founding): Promise<void> {
  const seatId = newId()
  const spaceId = newId()
  const founded = await sql`
    insert into tenants (tenant_id, name, admin_seat_id) values (${tenantId}, ${name}, ${seatId})
    on conflict do nothing returning tenant_id`
  if (founded.length === 0) {
    await sql`update tenants set name = ${name} where tenant_id = ${tenantId} and name <> ${name}`
    return
  }
  const epoch = await openEpoch(sql)
  await sql`
    insert into spaces (tenant_id, id, name, description, created_by)
    values (${tenantId}, ${spaceId}, ${name}, ${`The first space of ${name}`}, ${FOUNDER})`
  await sql`
    insert into seats (tenant_id, id, name, permissions, created_by)
    values (${tenantId}, ${seatId}, ${adminSeat}, ${['*']}, ${FOUNDER})`
  await sql`
    insert into seat_spaces (tenant_id, seat_id, space_id, position) values (${tenantId}, ${seatId}, ${spaceId}, 1)`
  await recordChange(sql, epoch, tenantId, 'seat', seatId)
  await announceEpoch(sql, epoch)
}
