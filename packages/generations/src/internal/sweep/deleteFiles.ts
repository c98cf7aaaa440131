/** Deletes the files of many, one by one where they cannot be deleted together. */
import { BlobStore } from "@kinora/storage/BlobStore"
import { Effect, Result } from "effect"

/** Whose files there are. */
interface Owner {
  readonly id: string
}

/** Files of different owners that are deleted at the same time, once they cannot be deleted together. */
const deletesMax = 8

/**
 * Builds a function that answers those whose files are deleted. `keysOf` says
 * `undefined` of who cannot be read. Who is not answered is in the log.
 */
export const makeDeleteEach = Effect.map(BlobStore, (blobs) =>
  Effect.fnUntraced(
    function*<A extends Owner>(owners: ReadonlyArray<A>, keysOf: (owner: A) => ReadonlyArray<string> | undefined) {
      const readable = owners.flatMap((owner) => {
        const keys = keysOf(owner)
        return keys === undefined ? [] : [{ owner, keys }]
      })
      const unreadable = owners.filter((owner) => keysOf(owner) === undefined)
      if (unreadable.length > 0) {
        yield* Effect.logError("Files cannot be found, since what is stored of them cannot be read", unreadable)
      }
      if (readable.length === 0) return []
      const together = yield* Effect.result(blobs.delete(readable.flatMap(({ keys }) => keys)))
      if (Result.isSuccess(together)) return readable.map(({ owner }) => owner)

      const each = yield* Effect.forEach(
        readable,
        ({ keys, owner }) => Effect.result(Effect.as(blobs.delete(keys), owner)),
        { concurrency: deletesMax }
      )
      const deleted = each.filter(Result.isSuccess).map(({ success }) => success)
      const left = readable.filter(({ owner }) => !deleted.includes(owner)).map(({ owner: { id } }) => id)
      yield* Effect.logWarning("Files were not deleted; they will be tried again", left, together.failure)
      return deleted
    }
  ))
