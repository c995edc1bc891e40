// Whether somebody who was let in may still stay: asked again whenever access changes, for answers that take long.

import { Problem } from '../base/problem.ts'
import { isAllowed, refusal, spacesAllowing } from './authorize.ts'
import type { Caller } from './caller.ts'
import type { Snapshot } from './snapshot.ts'

/** Why the caller may no longer do this, or undefined. */
export function findObjection(
  snapshot: Snapshot,
  caller: Caller,
  permission: string | undefined,
  spaceId: string | undefined,
): Problem | undefined {
  if (caller.loginId !== undefined && snapshot.hasEnded(caller.loginId)) {
    return new Problem('unauthenticated', 'This login was ended')
  }
  // A key may lose seats when its maker does, so what it is now is looked up.
  const now = caller.keyId === undefined ? caller : snapshot.keys.findById(caller.keyId)
  if (!now) return new Problem('unauthenticated', 'This API key was deleted')
  if (permission === undefined) return undefined
  const allowed =
    spaceId === undefined
      ? spacesAllowing(snapshot, now, permission).length > 0
      : isAllowed(snapshot, now, spaceId, permission)
  return allowed ? undefined : refusal(snapshot, now, spaceId, permission)
}
