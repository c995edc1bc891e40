// What an identity provider says about a person (contract 2.2), read with care: it decides what the person may do here.
import { lengthOf } from '../../base/words.ts'
import { LoginRefused, refused } from './failures.ts'

export type Claims = Readonly<Record<string, unknown>>

export interface ProvidedPerson {
  /** The provider's `sub`. */
  readonly userId: string
  readonly email: string | undefined
  readonly emailVerified: boolean
  readonly firstName: string | undefined
  readonly lastName: string | undefined
  readonly name: string | undefined
  /** The names in the group claim, each once. */
  readonly groups: readonly string[]
}

const GROUPS_MAX = 1000
const NAME_LENGTH_MAX = 200
const TEXT_LENGTH_MAX = 320
/** By these some providers say that there are too many groups to list. */
const OVERAGE_MARKERS = ['hasgroups', 'groups:src1'] as const

/** The ID token is signed, so it wins; userinfo is asked only for what it lacks. */
export const needsUserinfo = (idToken: Claims, groupsClaim: string): boolean =>
  !isOverage(idToken, groupsClaim) && (idToken[groupsClaim] === undefined || idToken['email'] === undefined)

export function toPerson(idToken: Claims, userinfo: Claims | undefined, groupsClaim: string): ProvidedPerson {
  for (const claims of [idToken, userinfo ?? {}]) if (isOverage(claims, groupsClaim)) throw overage(groupsClaim)
  const claims = { ...userinfo, ...idToken }
  const firstName = textOf(claims['given_name'])
  const lastName = textOf(claims['family_name'])
  const fullName = [firstName, lastName].filter((part) => part !== undefined).join(' ')
  const email = textOf(claims['email'])
  return {
    userId: subjectOf(claims['sub']),
    email,
    // The two belong together: a flag about one address says nothing about another.
    emailVerified:
      email !== undefined && isTrue((idToken['email'] === undefined ? userinfo : idToken)?.['email_verified']),
    firstName,
    lastName,
    name: textOf(claims['name']) ?? (fullName || textOf(claims['preferred_username'])),
    groups: groupsOf(claims[groupsClaim], groupsClaim),
  }
}

function groupsOf(claim: unknown, groupsClaim: string): string[] {
  if (claim === undefined || claim === null) return []
  const list = typeof claim === 'string' ? [claim] : claim
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) {
    const message = `The claim ${groupsClaim} of your identity provider must be a list of names`
    throw new LoginRefused(refused('malformed_groups', message))
  }
  if (list.length > GROUPS_MAX) {
    const message = `Your identity provider lists ${list.length} groups in ${groupsClaim}, and at most ${GROUPS_MAX} are read: let it send only those that are seats here`
    throw new LoginRefused(refused('too_many_groups', message))
  }
  return [...new Set(list)].filter(canNameSeat)
}

/** A name that no seat can bear grants nothing, now or later. */
const canNameSeat = (name: string) => name !== '' && lengthOf(name) <= NAME_LENGTH_MAX && isStorable(name)

function isOverage(claims: Claims, groupsClaim: string): boolean {
  if (claims[groupsClaim] !== undefined) return false
  const distributed = claims['_claim_names']
  if (typeof distributed === 'object' && distributed !== null)
    return groupsClaim in distributed || 'groups' in distributed
  return OVERAGE_MARKERS.some((marker) => claims[marker] !== undefined)
}

function overage(groupsClaim: string): LoginRefused {
  const message = `You are in so many groups that your identity provider left the list out: let it send only the groups assigned to this application, or application roles, in ${groupsClaim}`
  return new LoginRefused(refused('group_overage', message))
}

function subjectOf(claim: unknown): string {
  if (typeof claim === 'string' && claim.length > 0 && claim.length <= 255 && isStorable(claim)) return claim
  const message = 'The subject that your identity provider names cannot be used as a user identifier'
  throw new LoginRefused(refused('malformed_subject', message))
}

function textOf(claim: unknown): string | undefined {
  const isText = typeof claim === 'string' && claim.length > 0 && claim.length <= TEXT_LENGTH_MAX && isStorable(claim)
  return isText ? claim : undefined
}

const isTrue = (claim: unknown) => claim === true || claim === 'true'

/** Neither control characters nor halves of surrogate pairs: the database would refuse some of them. */
const isStorable = (text: string) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  text.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(text)
