/** Calls of the file system. */
import { Effect } from "effect"
import type { FileHandle } from "node:fs/promises"
import { BlobError, NotFound, Unavailable } from "../BlobError.ts"

/** Runs a file system call. A missing file is `NotFound` if `key` is given, and `Unavailable` otherwise. */
export const attempt = <A>(operation: string, call: () => Promise<A>, key?: string): Effect.Effect<A, BlobError> =>
  Effect.tryPromise({
    try: call,
    catch: (cause) =>
      new BlobError({
        reason: key !== undefined && isMissing(cause)
          ? new NotFound({ key })
          : new Unavailable({ operation: `BlobStore.${operation}`, cause })
      })
  })

/** Closes a file that was read or synced before, so failures are ignored. */
export const close = (handle: FileHandle) => Effect.ignore(attempt("close", () => handle.close()))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isMissing = (cause: unknown) => cause instanceof Error && "code" in cause && cause.code === "ENOENT"
