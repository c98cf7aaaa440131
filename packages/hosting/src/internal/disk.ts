/** The space on a disk. */
import { Effect } from "effect"
import { statfs } from "node:fs/promises"

/** Returns the space on the disk of a directory, or `undefined` if it cannot be read. */
export const spaceOf = (directory: string) =>
  Effect.tryPromise(() => statfs(directory)).pipe(
    Effect.map(({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, totalBytes: blocks * bsize })),
    Effect.catch((error) => Effect.as(Effect.logWarning("Failed to read the space on the disk", error), undefined))
  )
