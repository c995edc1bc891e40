// Leaderboards (contract 2.18, 4.2.10): checkpoints in the order of what they achieved.
import { resource } from '../../contract/resource.ts'
import { pageOf } from '../../contract/shapes.ts'
import { listLeaderboard } from './leaderboards-store.ts'
import { LeaderboardEntry, LeaderboardQuery } from './shapes.ts'

const leaderboards = resource('leaderboards', 'space')

export default [
  leaderboards.list({
    summary: 'List checkpoints, best first by a metric of one benchmark or averaged over all',
    query: LeaderboardQuery,
    result: pageOf(LeaderboardEntry),
    run: ({ db, grant }, { query }) => db.as(grant, (sql) => listLeaderboard(sql, grant, query)),
  }),
]
