/** Calls of the file system. */
import { Effect } from "effect"
import * as fs from "node:fs"
import type { FileHandle } from "node:fs/promises"
import { BlobError, NotFound, Unavailable } from "../BlobError.ts"

/** Runs a file system call. A missing file is `NotFound` if `key` is given, and `Unavailable` otherwise. */
export const attempt = <A>(operation: string, call: () => Promise<A>, key?: string): Effect.Effect<A, BlobError> =>
  Effect.tryPromise({ try: call, catch: (cause) => errorOf(operation, cause, key) })

/** Closes a file that was read or synced before, so failures are ignored. */
export const close = (handle: FileHandle) => Effect.ignore(attempt("close", () => handle.close()))

/** Opens a file to read it and returns its descriptor. */
export const openDescriptor = (path: string, key: string): Effect.Effect<number, BlobError> =>
  called((done) => fs.open(path, "r", done), (cause) => errorOf("get", cause, key))

/** Closes a file that was only read, so failures are ignored. */
export const closeDescriptor = (descriptor: number): Effect.Effect<void> =>
  Effect.ignore(called<void>((done) => fs.close(descriptor, done), (cause) => errorOf("close", cause)))

/** Returns the size of an open file. */
export const sizeOf = (descriptor: number): Effect.Effect<number, BlobError> =>
  called<number>(
    (done) => fs.fstat(descriptor, (cause, stats) => done(cause, cause === null ? stats.size : 0)),
    (cause) => errorOf("get", cause)
  )

/**
 * Reads into a buffer. Returns the number of bytes: 0 at the end of the file, and sometimes fewer than fit. When it is
 * interrupted, it waits for the system, which still writes into the buffer.
 */
export const readInto = (descriptor: number, buffer: Uint8Array, position: number): Effect.Effect<number, BlobError> =>
  called<number>(
    (done) => fs.read(descriptor, buffer, 0, buffer.length, position, done),
    (cause) => errorOf("get", cause)
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const errorOf = (operation: string, cause: unknown, key?: string) =>
  new BlobError({
    reason: key !== undefined && isMissing(cause)
      ? new NotFound({ key })
      : new Unavailable({ operation: `BlobStore.${operation}`, cause })
  })

const isMissing = (cause: unknown) => cause instanceof Error && "code" in cause && cause.code === "ENOENT"

/** Calls with a callback, which takes less time than a promise. The system cannot stop, so an interrupted call waits for it. */
const called = <A>(
  call: (done: (cause: Error | null, value: A) => void) => void,
  toError: (cause: Error) => BlobError
): Effect.Effect<A, BlobError> =>
  Effect.callback<A, BlobError>((resume) => {
    let isDone = false
    let onDone = () => {}
    call((cause, value) => {
      isDone = true
      resume(cause === null ? Effect.succeed(value) : Effect.fail(toError(cause)))
      onDone()
    })
    return Effect.callback<void>((stop) => {
      if (isDone) return stop(Effect.void)
      onDone = () => stop(Effect.void)
    })
  })
