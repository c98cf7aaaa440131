/** A `BlobStore` that fails as the `Faults` of a host define. The files are those of the surrounding store. */
import { BlobError, BlobStore } from "@kinora/storage"
import * as Faults from "@kinora/testkit/Faults"
import { Effect, Layer, Stream } from "effect"

/** The surrounding store, with faults. The database's kinds have the codes of a file system. */
export const layer = (faults: Faults.Faults): Layer.Layer<BlobStore.BlobStore, never, BlobStore.BlobStore> =>
  Layer.effect(
    BlobStore.BlobStore,
    Effect.map(BlobStore.BlobStore, (blobs) => {
      const around = <A, E, R>(
        call: Faults.Call,
        effect: (fault: Faults.Fault | undefined) => Effect.Effect<A, E, R>
      ) =>
        Effect.suspend(() => {
          const fault = faults.next(call)
          return Faults.around(fault, effect(fault), { failureOf: (kind) => failureOf(call.place, kind) })
        })
      return BlobStore.BlobStore.of({
        put: (key, stream, options) =>
          around(
            { place: "put", isWrite: true, hasBytes: true },
            (fault) => blobs.put(key, broken(fault, "put", stream), options)
          ),
        get: (key, range) =>
          Stream.unwrap(around(
            { place: "get", isWrite: false, hasBytes: true },
            (fault) =>
              Effect.succeed(
                fault?.kind === "truncate"
                  ? truncated(fault, blobs, key, range)
                  : broken(fault, "get", blobs.get(key, range))
              )
          )),
        head: (key) => around({ place: "get", isWrite: false }, () => blobs.head(key)),
        delete: (keys) => around({ place: "delete", isWrite: true }, () => blobs.delete(keys))
      })
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A stream that fails or pauses at the position of its fault. A store that reads it to its end has not committed it. */
const broken = <E, R>(
  fault: Faults.Fault | undefined,
  place: Faults.Place,
  stream: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<Uint8Array, E | BlobError.BlobError, R> => {
  if (fault === undefined || !Faults.isOfStream(fault.kind) || fault.kind === "truncate") return stream
  const event = fault.kind === "stall"
    ? Stream.fromEffectDrain(Effect.sleep(fault.millis))
    : Stream.suspend(() => Stream.fail(failureOf(place, "lostBefore")))
  switch (fault.position) {
    case "start":
      return Stream.concat(event, stream)
    case "end":
      return Stream.concat(stream, event)
    default:
      return inFirstChunk(stream, event)
  }
}

/** A stream with an event between the halves of its first chunk. */
const inFirstChunk = <E, E2, R>(stream: Stream.Stream<Uint8Array, E, R>, event: Stream.Stream<never, E2>) =>
  Stream.suspend(() => {
    let isFirst = true
    return Stream.flatMap(stream, (chunk): Stream.Stream<Uint8Array, E2> => {
      if (!isFirst) return Stream.succeed(chunk)
      isFirst = false
      const half = Math.ceil(chunk.length / 2)
      const rest = Stream.succeed(chunk.subarray(half))
      return Stream.concat(Stream.succeed(chunk.subarray(0, half)), Stream.concat(event, rest))
    })
  })

/** Reads a blob that has lost its bytes after the position of the fault. */
const truncated = (
  { position }: Faults.Fault,
  blobs: BlobStore.BlobStore["Service"],
  key: string,
  range: BlobStore.ByteRange | undefined
): Stream.Stream<Uint8Array, BlobError.BlobError> =>
  Stream.unwrap(Effect.map(blobs.head(key), ({ bytes: total }) => {
    const bytes = position === "start" ? 0 : position === "end" ? total : Math.floor(total / 2)
    if (range === undefined) return bytes === 0 ? Stream.empty : blobs.get(key, { start: 0, end: bytes - 1 })
    return range.end < bytes
      ? blobs.get(key, range)
      : Stream.fail(new BlobError.BlobError({ reason: new BlobError.OutOfRange({ key, bytes }) }))
  }))

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
  full: "ENOSPC"
}
