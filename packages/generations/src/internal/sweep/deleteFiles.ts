/** Deletion of the files of many owners. */
import { BlobStore } from "@kinora/storage/BlobStore"
import { Effect, Result } from "effect"

/** A row that refers to files. */
interface Owner {
  readonly id: string
}

/** Owners whose files are deleted at the same time after the joint deletion failed. */
const deletesMax = 8

/**
 * Makes a function that deletes the files of owners and returns the owners whose files
 * are deleted. `keysOf` returns `undefined` for an owner that cannot be decoded.
 *
 * All files are deleted in one call. If it fails, the files of each owner are deleted
 * separately, so that one file does not block the others. Remaining owners are logged.
 */
export const makeDeleteFiles = Effect.map(BlobStore, (blobs) => {
  const deleteEach = Effect.fnUntraced(function*<A extends Owner>(owned: ReadonlyArray<Owned<A>>, cause: unknown) {
    const results = yield* Effect.forEach(
      owned,
      ({ keys, owner }) => Effect.result(Effect.as(blobs.delete(keys), owner)),
      { concurrency: deletesMax }
    )
    const deleted = results.filter(Result.isSuccess).map(({ success }) => success)
    const left = owned.filter(({ owner }) => !deleted.includes(owner)).map(({ owner: { id } }) => id)
    yield* Effect.logWarning("Files could not be deleted; the sweep retries", left, cause)
    return deleted
  })

  return Effect.fnUntraced(
    function*<A extends Owner>(owners: ReadonlyArray<A>, keysOf: (owner: A) => ReadonlyArray<string> | undefined) {
      const owned = owners.flatMap((owner): ReadonlyArray<Owned<A>> => {
        const keys = keysOf(owner)
        return keys === undefined ? [] : [{ owner, keys }]
      })
      const unreadable = owners.filter((owner) => keysOf(owner) === undefined)
      if (unreadable.length > 0) {
        yield* Effect.logError("Rows cannot be decoded, so their files are not deleted", unreadable)
      }
      if (owned.length === 0) return []
      const joint = yield* Effect.result(blobs.delete(owned.flatMap(({ keys }) => keys)))
      return Result.isSuccess(joint) ? owned.map(({ owner }) => owner) : yield* deleteEach(owned, joint.failure)
    }
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Owned<A> {
  readonly owner: A
  readonly keys: ReadonlyArray<string>
}
