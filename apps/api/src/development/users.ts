// Whom the development identity provider knows.

export interface DevelopmentUser {
  readonly id: string
  readonly firstName: string
  readonly lastName: string
  readonly email: string
  readonly emailVerified?: boolean
  readonly groups: readonly string[]
}

/** One who may do everything, one whose group is no seat until somebody makes it one, and one without a group. */
export function usersFor(tenants: readonly { readonly adminSeat: string }[]): DevelopmentUser[] {
  const adminSeats = [...new Set(tenants.map(({ adminSeat }) => adminSeat))]
  return [
    { id: 'ana', firstName: 'Ana', lastName: 'Alvarez', email: 'ana@example.org', groups: adminSeats },
    { id: 'bob', firstName: 'Bob', lastName: 'Berger', email: 'bob@example.org', groups: ['analysts'] },
    { id: 'carol', firstName: 'Carol', lastName: 'Chen', email: 'carol@example.org', groups: [] },
  ]
}
