/** Which groups may have how many jobs in the next claim of a worker. Pure. */
import type { GroupId } from "../ids.ts"

/** The jobs of a worker, and its limits. */
export interface Room {
  /** Groups of the jobs that it holds, once per job. */
  readonly held: ReadonlyArray<GroupId>
  /** Maximum number of jobs at the same time. */
  readonly concurrency: number
  /** Slots that the jobs of one group must leave to other groups. */
  readonly reserved: number
  /** Maximum number of jobs of a claim. */
  readonly claimMax: number
}

/** The limit of a claim, and the groups whose jobs it leaves out. */
export interface Selection {
  readonly limit: number
  readonly except: ReadonlyArray<GroupId>
}

/**
 * Returns the largest claim after which no group has more jobs than it may, whichever jobs are
 * claimed. Leaves out the groups that have as many as they may. A claim that is filled can be
 * followed by another one.
 */
export const selectionOf = ({ claimMax, concurrency, held, reserved }: Room): Selection => {
  const groupMax = Math.max(1, concurrency - reserved)
  const room = Math.min(claimMax, Math.max(0, concurrency - held.length))
  if (groupMax >= concurrency) return { limit: room, except: [] }
  const counts = Array.from(Map.groupBy(held, (group) => group), ([group, jobs]) => ({ group, count: jobs.length }))
  const [full, others] = [
    counts.filter(({ count }) => count >= groupMax),
    counts.filter(({ count }) => count < groupMax)
  ]
  const most = others.reduce((most, { count }) => Math.max(most, count), 0)
  return { limit: Math.min(room, groupMax - most), except: full.map(({ group }) => group) }
}
