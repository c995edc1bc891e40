// Every operation of the service: the table of contents of the API.
import type { Operation } from './contract/operation.ts'
import access from './resources/access.ts'
import actionGroups from './resources/action-groups.ts'
import actions from './resources/actions.ts'
import apiKeys from './resources/api-keys/api-keys.ts'
import args from './resources/arguments/arguments.ts'
import audit from './resources/audit.ts'
import benchmarks from './resources/benchmarks/benchmarks.ts'
import chats from './resources/chats/chats.ts'
import checkpoints from './resources/checkpoints/checkpoints.ts'
import clusters from './resources/clusters/clusters.ts'
import connectors from './resources/connectors/connectors.ts'
import dataModels from './resources/data-models.ts'
import evaluations from './resources/evaluations/evaluations.ts'
import experts from './resources/experts.ts'
import insights from './resources/insights/insights.ts'
import leaderboards from './resources/leaderboards/leaderboards.ts'
import login from './resources/login/login.ts'
import logs from './resources/logs/logs.ts'
import models from './resources/models.ts'
import personas from './resources/personas/personas.ts'
import seats from './resources/seats/seats.ts'
import spaceSettings from './resources/spaces/settings.ts'
import spaces from './resources/spaces/spaces.ts'
import trainings from './resources/trainings/trainings.ts'
import users from './resources/users.ts'
import webhooks from './resources/webhooks/webhooks.ts'

export const catalogue: readonly Operation[] = [
  ...login,
  ...apiKeys,
  ...seats,
  ...spaces,
  ...spaceSettings,
  ...users,
  ...access,
  ...audit,
  ...dataModels,
  ...connectors,
  ...clusters,
  ...trainings,
  ...checkpoints,
  ...benchmarks,
  ...evaluations,
  ...leaderboards,
  ...webhooks,
  ...actionGroups,
  ...actions,
  ...experts,
  ...personas,
  ...insights,
  ...args,
  ...chats,
  ...models,
  ...logs,
]
