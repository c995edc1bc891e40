// This process's part in keeping access exact everywhere at once (decision 0004).
//
// A replica decides from memory while its lease runs. A writer commits, then waits until every replica has taken the
// change in or its lease has run out, and only then answers. No clock is compared with another machine's.
import { randomUUID } from 'node:crypto'
import type { Grant } from '../base/grant.ts'
import { Problem } from '../base/problem.ts'
import type { Database } from '../storage/database.ts'
import type { Client, Sql } from '../storage/sql.ts'
import { type Changes, Snapshot } from './snapshot.ts'
import * as store from './snapshot-store.ts'

const LEASE_MS = 3000
const RENEW_EVERY_MS = 1000
/** The replica gives up a little early and the writer waits a little long: clocks may run at different speeds. */
const OWN_LEASE_MS = LEASE_MS * 0.9
const WRITER_WAIT_MS = LEASE_MS * 1.1
const ACK_POLL_MS = 20

export type ChangeKind = 'seat' | 'login' | 'key' | 'member'
export type Touch = (kind: ChangeKind, subject: string) => void

export interface ReplicaOptions {
  /** False only in the test that proves the barrier is needed. */
  readonly barrier?: boolean
  readonly onError?: (error: unknown) => void
}

export class Replica {
  readonly id = randomUUID()
  readonly snapshot = new Snapshot()
  readonly #system: Client
  readonly #db: Database
  readonly #options: ReplicaOptions
  #leaseUntil = 0
  #leaseWallUntil = 0
  #reading: Promise<void> | undefined
  #readingNext: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  #ackWaiters = new Set<() => void>()
  readonly #listeners = new Set<() => void>()

  constructor(system: Client, db: Database, options: ReplicaOptions = {}) {
    this.#system = system
    this.#db = db
    this.#options = options
  }

  async start(): Promise<void> {
    await this.#system.listen('amphi_authz', () => void this.#onAnnouncement())
    await this.#system.listen('amphi_authz_ack', () => {
      for (const wake of this.#ackWaiters) wake()
    })
    await this.#catchUp()
    await this.#renew()
    this.#schedule()
  }

  /** Leaves the round, so that writers need not wait for this replica any more. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#leaseUntil = 0
    await store.withdraw(this.#system, this.id).catch(() => {})
  }

  /** Calls back, without a pause in between, whenever the snapshot has taken in a change. Returns what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** While true, the snapshot may be decided from. The wall clock is asked too: a suspended machine stops the other. */
  get isCurrent(): boolean {
    return performance.now() < this.#leaseUntil && Date.now() < this.#leaseWallUntil
  }

  /** Makes the snapshot fit to decide from when the lease has lapsed: one read, begun now. Never fails open. */
  async makeCurrent(): Promise<void> {
    if (this.isCurrent) return
    try {
      await this.#catchUp()
    } catch (error) {
      const message = 'Access cannot be decided while the database is away'
      throw new Problem('database_unavailable', message, { cause: error, retryAfterSeconds: 1 })
    }
  }

  /**
   * Runs a change of access. Inside, the snapshot is exactly what the database holds, and no other change happens;
   * when this returns, or throws what `work` threw, no replica decides from anything older.
   */
  async change<T>(grant: Grant, work: (sql: Sql, snapshot: Snapshot, touch: Touch) => Promise<T>): Promise<T> {
    let epoch = 0
    let committed = false
    try {
      const result = await this.#db.begin(grant, async (sql) => {
        epoch = await store.openEpoch(sql)
        if (this.snapshot.epoch !== epoch - 1) await this.#catchUp()
        const touched: [ChangeKind, string][] = []
        const value = await work(sql, this.snapshot, (kind, subject) => touched.push([kind, subject]))
        for (const [kind, subject] of touched) await store.recordChange(sql, epoch, grant.tenantId, kind, subject)
        await store.announceEpoch(sql, epoch)
        return value
      })
      committed = true
      return result
    } finally {
      // A repeat that finds nothing left to do must not be answered before the change it repeats has arrived everywhere.
      if (epoch > 0) await this.#settle(committed ? epoch : epoch - 1)
    }
  }

  async #settle(epoch: number): Promise<void> {
    await this.#catchUp()
    if (this.#options.barrier === false) return
    const deadline = performance.now() + WRITER_WAIT_MS
    for (;;) {
      const acked = this.#nextAck()
      const behind = await store.laggards(this.#system, this.id, epoch)
      if (behind.length === 0) return acked.cancel()
      if (performance.now() > deadline) {
        acked.cancel()
        return store.dismiss(this.#system, behind, epoch)
      }
      await acked.promise
    }
  }

  #nextAck(): { promise: Promise<void>; cancel: () => void } {
    let cancel = () => {}
    const promise = new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#ackWaiters.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ACK_POLL_MS)
      this.#ackWaiters.add(done)
      cancel = done
    })
    return { promise, cancel }
  }

  /** Takes in first, acknowledges second: the order is what the writer relies on. */
  async #onAnnouncement(): Promise<void> {
    try {
      await this.#catchUp()
      await store.acknowledge(this.#system, this.id, this.snapshot.epoch)
    } catch (error) {
      // Nothing is lost: the writer waits for the lease instead, and the next renewal takes the change in.
      this.#options.onError?.(error)
    }
  }

  /** Resolves after a read that began no earlier than this call; calls that wait together share one. */
  #catchUp(): Promise<void> {
    if (!this.#reading) return this.#read()
    this.#readingNext ??= this.#reading
      .catch(() => {})
      .then(() => {
        this.#readingNext = undefined
        return this.#read()
      })
    return this.#readingNext
  }

  #read(): Promise<void> {
    this.#reading = store
      .readChanges(this.#system, this.snapshot.epoch)
      .then((changes) => this.#apply(changes))
      .finally(() => {
        this.#reading = undefined
      })
    return this.#reading
  }

  #apply(changes: Changes): void {
    const before = this.snapshot.epoch
    this.snapshot.apply(changes)
    if (this.snapshot.epoch !== before) for (const listener of this.#listeners) listener()
  }

  async #renew(): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt++) {
      const have = this.snapshot.epoch
      // Counted from before the request was sent: the answer may have been under way for long.
      const sentAt = performance.now()
      const sentAtWall = Date.now()
      const epoch = await store.renewLease(this.#system, this.id, have)
      if (epoch === have) {
        this.#leaseUntil = sentAt + OWN_LEASE_MS
        this.#leaseWallUntil = sentAtWall + OWN_LEASE_MS
        return
      }
      await this.#catchUp()
    }
  }

  #schedule(): void {
    this.#timer = setTimeout(async () => {
      try {
        await this.#renew()
        this.snapshot.sweep(Date.now() / 1000)
      } catch (error) {
        this.#options.onError?.(error)
      }
      if (!this.#stopped) this.#schedule()
    }, RENEW_EVERY_MS)
    this.#timer.unref()
  }
}
