// Names a resource once; each verb turns what an author wrote into an operation by filling in the conventional parts.
import type { TSchema } from 'typebox'
import type { Scope } from './context.ts'
import type { SentFile } from './files.ts'
import type { Method, Operation, Spec } from './operation.ts'

type None = Record<never, never>
type WithId = { id: string }
type WithFiles = { files: AsyncIterable<SentFile> }
/** The id is in the path; for operations on a space it is the space's own. */
type IdIn<S extends Scope, Suffix extends string> = S extends 'own-space'
  ? WithId
  : Suffix extends `/:id${string}`
    ? WithId
    : None

export function resource<S extends Scope>(name: string, scope: S) {
  const define =
    <Input>(verb: string, method: Method, suffix: string, status = 200) =>
    <Q extends TSchema, B extends TSchema, R extends TSchema>(spec: Spec<S, Input, Q, B, R>): Operation => ({
      id: `${name}.${verb}`,
      resource: name,
      summary: spec.summary,
      method,
      path: scope === 'own-space' ? suffix : `/${name}${suffix}`,
      aliases: spec.aliases ?? [],
      scope,
      permission: needsPermission(scope) ? (spec.permission ?? `${name}:${verb}`) : undefined,
      status,
      query: spec.query,
      body: spec.body,
      result: spec.result,
      takesFiles: false,
      run: spec.run as unknown as Operation['run'],
    })

  return {
    list: define<None>('list', 'GET', ''),
    create: define<None>('create', 'POST', ''),
    get: define<WithId>('get', 'GET', scope === 'own-space' ? '' : '/:id'),
    update: define<WithId>('update', 'PUT', scope === 'own-space' ? '' : '/:id'),
    remove: define<WithId>('delete', 'DELETE', scope === 'own-space' ? '' : '/:id', 204),
    action: <P extends string>(verb: string, method: Method, suffix: P, status = 200) =>
      define<IdIn<S, P>>(verb, method, suffix, status),
    upload:
      (verb: string, suffix: string) =>
      <R extends TSchema>(spec: Spec<S, WithFiles, TSchema, TSchema, R>): Operation => ({
        ...define<WithFiles>(verb, 'POST', suffix)(spec),
        takesFiles: true,
      }),
  }
}

const needsPermission = (scope: Scope) => scope !== 'person' && scope !== 'public'
