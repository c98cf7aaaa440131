/** Blob store keys of result files. */
import type { Lease } from "@kinora/scheduler/Job"
import type { File, Output } from "../../Generation.ts"

/**
 * Returns the key of a file. The epoch is part of the key, so that a worker that lost
 * its lease cannot replace a file that its successor stored and recorded.
 */
export const keyOf = ({ epoch, job }: Lease, file: File): string => `generations/${job}/${epoch}/${file}`

/** Returns the keys of all files that the holder of the lease may have stored. */
export const keysOf = (lease: Lease): ReadonlyArray<string> => files.map((file) => keyOf(lease, file))

/** Returns the keys of all files that the holders of the job up to this epoch may have stored. */
export const keysUpTo = ({ epoch, job }: Lease): ReadonlyArray<string> =>
  Array.from({ length: epoch }, (_, before) => keysOf({ job, epoch: before + 1 })).flat()

/** Returns the keys of all files that may have been stored with this content. */
export const keysBeside = (content: string): ReadonlyArray<string> =>
  content.endsWith("/content") ? files.map((file) => content.replace(/content$/, file)) : [content]

/** Returns the keys of the files of an output. */
export const keysIn = ({ content, poster, preview, thumb }: Output): ReadonlyArray<string> =>
  [content, preview, thumb, poster].flatMap((file) => file?.key ?? [])

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const files: ReadonlyArray<File> = ["content", "preview", "thumb", "poster"]
