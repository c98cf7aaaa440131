/**
 * Unique keys. A job holds its key in its group while it lives: delayed, pending, queued or running. The key is a column of the
 * job's row, so that whatever ends the job frees it. All jobs of a group are decided under the lock of the group.
 */
import type { GroupId, JobId } from "./ids.ts"
import type { Unique } from "./requests.ts"

/** A unique key of a group. */
export interface UniqueKey {
  readonly group: GroupId
  readonly key: string
}

/** A unique key, and the job that holds it. */
export interface HeldKey extends UniqueKey {
  readonly job: JobId | undefined
}

/** Maximum number of characters of a key. */
const lengthMax = 255

/** Returns the key of a command, or `undefined` if it has none. Throws if the key is empty or too long. */
export const keyOf = ({ unique }: Unique): string | undefined => {
  if (unique === undefined) return undefined
  const { length } = unique.key
  if (length >= 1 && length <= lengthMax) return unique.key
  throw new Error(`A unique key has 1 to ${lengthMax} characters, got ${length}`)
}

/** A text that identifies a key over all groups. */
export const idOf = ({ group, key }: UniqueKey): string => JSON.stringify([group, key])
