/** Where the files of a generation are kept. */
import type { Lease } from "@kinora/scheduler/Job"
import type { File } from "../../Generation.ts"

/**
 * The epoch is part of the key, so that a worker whose lease was lost cannot
 * replace what its successor stored and recorded.
 */
export const keyOf = ({ epoch, job }: Lease, file: File): string => `generations/${job}/${epoch}/${file}`

/** All files that the holder of the lease may have left. */
export const keysOf = (lease: Lease): ReadonlyArray<string> => files.map((file) => keyOf(lease, file))

/** All files that the holders of the job up to this epoch may have left. */
export const keysUpTo = ({ epoch, job }: Lease): ReadonlyArray<string> =>
  Array.from({ length: epoch }, (_, before) => keysOf({ job, epoch: before + 1 })).flat()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const files: ReadonlyArray<File> = ["content", "preview", "thumb", "poster"]
