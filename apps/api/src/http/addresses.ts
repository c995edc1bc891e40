// Where an operation answers (contract 4.0, 9): operations of a space have a second, deprecated address.
import { Problem } from '../base/problem.ts'
import type { Scope } from '../contract/context.ts'
import type { Operation } from '../contract/operation.ts'

export interface Address {
  readonly url: string
  readonly deprecated: boolean
  /** A second name for the operation, kept for clients that expect it there. */
  readonly alias: boolean
}

export const addressesOf = (operation: Operation): Address[] => [
  ...addressesAt(operation.scope, operation.path, false),
  ...operation.aliases.flatMap((path) => addressesAt(operation.scope, path, true)),
]

function addressesAt(scope: Scope, path: string, alias: boolean): Address[] {
  switch (scope) {
    case 'space':
      return [
        { url: `/v1/spaces/:spaceId${path}`, deprecated: false, alias },
        { url: `/v1${path}`, deprecated: true, alias },
      ]
    case 'own-space':
      return [{ url: `/v1/spaces/:spaceId${path}`, deprecated: false, alias }]
    default:
      return [{ url: `/v1${path}`, deprecated: false, alias }]
  }
}

/** The space a request names: in its path, or in the deprecated header; both may be given as long as they agree. */
export function spaceNamed(inPath: string | undefined, inHeader: string | undefined): string | undefined {
  if (inPath !== undefined && inHeader !== undefined && inPath !== inHeader) {
    throw new Problem('space_mismatch', 'The path and the Space header name different spaces', { param: 'Space' })
  }
  return inPath ?? inHeader
}
