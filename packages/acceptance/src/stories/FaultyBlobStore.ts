/** A `BlobStore` that fails as the `Faults` of a host say. The files are those of the surrounding store. */
import { BlobError, BlobStore } from "@kinora/storage"
import * as Faults from "@kinora/testkit/Faults"
import { Effect, Layer, Stream } from "effect"

/** The surrounding store, with faults. The database's kinds have the codes of a file system. */
export const layer = (faults: Faults.Faults): Layer.Layer<BlobStore.BlobStore, never, BlobStore.BlobStore> =>
  Layer.effect(
    BlobStore.BlobStore,
    Effect.map(BlobStore.BlobStore, (blobs) => {
      const around = <A, E, R>(call: Faults.Call, effect: Effect.Effect<A, E, R>) =>
        Effect.suspend(() =>
          Faults.around(faults.next(call), effect, { failureOf: (kind) => failureOf(call.place, kind) })
        )
      return BlobStore.BlobStore.of({
        put: (key, stream, options) => around({ place: "put", isWrite: true }, blobs.put(key, stream, options)),
        get: (key, range) =>
          Stream.unwrap(Effect.suspend(() => {
            const fault = faults.next({ place: "get", isWrite: false })
            const stream = fault?.kind === "truncate" ? Stream.take(blobs.get(key, range), 0) : blobs.get(key, range)
            return Faults.around(fault, Effect.succeed(stream), { failureOf: (kind) => failureOf("get", kind) })
          })),
        head: (key) => around({ place: "get", isWrite: false }, blobs.head(key)),
        delete: (keys) => around({ place: "delete", isWrite: true }, blobs.delete(keys))
      })
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const failureOf = (place: Faults.Place, kind: Faults.Failure) =>
  new BlobError.BlobError({
    reason: new BlobError.Unavailable({
      operation: `BlobStore.${place}`,
      cause: Object.assign(new Error(`A planned fault: ${kind}`), { code: codes[kind] })
    })
  })

const codes: Readonly<Record<Faults.Failure, string>> = {
  hang: "ETIMEDOUT",
  lostBefore: "EIO",
  lostAfter: "EIO",
  conflict: "EIO",
  readOnly: "EROFS",
  full: "ENOSPC",
  truncate: "EIO"
}
