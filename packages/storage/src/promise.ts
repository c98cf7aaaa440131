/**
 * Blobs and signed links for programs without Effect.
 *
 *     const blobs = await createBlobStore({ directory: "./blobs" })
 *     await blobs.put("results/1.mp4", response.body, { bytesMax: 512 * 1024 ** 2, contentType: "video/mp4" })
 *     return new Response(await blobs.get("results/1.mp4"))
 *
 * Every call has the rules of the services `BlobStore` and `UrlSigner`. A call that fails throws a `BlobError` with a
 * `code`.
 */
import { checkInputs, runPromise, type TelemetryOptions, withTelemetry } from "@kinora/persistence/PromiseApi"
import { Context, Data, DateTime, Effect, Layer, ManagedRuntime, Redacted, Stream } from "effect"
import { BlobError as Failure, OutOfRange } from "./BlobError.ts"
import * as Service from "./BlobStore.ts"
import * as FileBlobStore from "./FileBlobStore.ts"
import { errorOf } from "./internal/promise/errors.ts"
import { inputs } from "./internal/promise/inputs.ts"
import * as ResponsiveBlobStore from "./ResponsiveBlobStore.ts"
import * as Signer from "./UrlSigner.ts"

export {
  BlobError,
  BlobNotFoundError,
  InvalidKeyError,
  OutOfRangeError,
  TooLargeError,
  UnavailableError
} from "./internal/promise/errors.ts"

/** Options of `createBlobStore`: a directory, or the memory of the process, for tests. */
export type CreateBlobStoreOptions =
  & (FileBlobStore.FileBlobStoreOptions | { readonly memory: true })
  & ResponsiveBlobStore.ResponsiveOptions
  & TelemetryOptions

/** Bytes to store: all at once, or as they arrive, such as the body of a `Response` or a stream of Node. */
export type Source = Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** Options of every call. */
interface CallOptions {
  /** Ends the call when it aborts: the call rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

/** A store. Its calls are those of the service `BlobStore`, whose documentation describes them. */
export interface BlobStore extends AsyncDisposable {
  /**
   * Reads the source to its end and publishes it under `key`. If the source fails, the call rejects with the same; then,
   * after an abort, and if the source is too long, the key is unchanged. Throws `TooLargeError` or `InvalidKeyError`.
   */
  readonly put: (key: string, source: Source, options: CallOptions & Service.PutOptions) => Promise<Service.Blob>
  /**
   * Returns the bytes of a blob, or of a range of it, which are read as the stream is. A stream that is cancelled, or was
   * never read, holds no file. Throws `BlobNotFoundError`, or `OutOfRangeError` if the blob is shorter than the range; the
   * stream fails with one if the blob is deleted before its first bytes are read.
   */
  readonly get: (
    key: string,
    options?: CallOptions & { readonly range?: Service.ByteRange | undefined }
  ) => Promise<ReadableStream<Uint8Array>>
  /** Returns the size of a blob. Throws `BlobNotFoundError`. */
  readonly head: (key: string, options?: CallOptions) => Promise<Service.BlobHead>
  /** Deletes the blobs of these keys. Keys without a blob are ignored. */
  readonly delete: (keys: ReadonlyArray<string>, options?: CallOptions) => Promise<void>
  /** Ends the background work. Streams that are read continue. */
  readonly close: () => Promise<void>
}

/** Creates a store. Creates its directory, and removes partial files of crashes while it is open. */
export const createBlobStore = async (options: CreateBlobStoreOptions): Promise<BlobStore> => {
  const store = "memory" in options ? Service.layerMemory : FileBlobStore.layer(options)
  const runtime = ManagedRuntime.make(withTelemetry(Layer.provide(ResponsiveBlobStore.layer(options), store), options))
  const context = await runPromise(runtime.contextEffect, undefined, errorOf)
  const blobs = Context.get(context, Service.BlobStore)
  const run = <A, E>(effect: Effect.Effect<A, E>, signal: AbortSignal | undefined, errorOf: (failure: E) => unknown) =>
    runPromise(Effect.provideContext(effect, context), signal, errorOf)
  const close = () => runtime.dispose()
  return checkInputs<BlobStore>({
    put: (key, source, { bytesMax, contentType, signal }) =>
      run(blobs.put(key, streamOf(source), { bytesMax, contentType }), signal, thrown),
    get: (key, { range, signal } = {}) => {
      const found = Effect.flatMap(blobs.head(key), ({ bytes }) =>
        range === undefined || range.end < bytes
          ? Effect.succeed(readableOf(blobs.get(key, range), context))
          : Effect.fail(new Failure({ reason: new OutOfRange({ key, bytes }) })))
      return run(found, signal, errorOf)
    },
    head: (key, { signal } = {}) => run(blobs.head(key), signal, errorOf),
    delete: (keys, { signal } = {}) => run(blobs.delete(keys), signal, errorOf),
    close,
    [Symbol.asyncDispose]: close
  }, inputs)
}

/** Signs and verifies links, like the service `UrlSigner`. */
export interface UrlSigner {
  /** Returns the query parameters that grant access to `path` until `expiresAt`. */
  readonly sign: (path: string, expiresAt: Date) => Signer.SignedPair
  /** Verifies the query parameters of a link, at the time `now`. */
  readonly verify: (path: string, pair: Signer.SignedPair, now: Date) => Signer.Verdict
}

/** Creates a signer. The first key signs, all verify. Each key needs at least 32 bytes of UTF-8. */
export const createUrlSigner = (
  { keys: [first, ...others] }: { readonly keys: readonly [string, ...ReadonlyArray<string>] }
): UrlSigner => {
  const { sign, verify } = Signer.make({ keys: [Redacted.make(first), ...others.map((key) => Redacted.make(key))] })
  return {
    sign: (path, expiresAt) => sign(path, DateTime.fromDateUnsafe(expiresAt)),
    verify: (path, pair, now) => verify(path, pair, DateTime.fromDateUnsafe(now))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The source of a put rejected. */
class SourceFailed extends Data.TaggedError("SourceFailed")<{ readonly reason: unknown }> {}

const streamOf = (source: Source): Stream.Stream<Uint8Array, SourceFailed> => {
  const onError = (reason: unknown) => new SourceFailed({ reason })
  if (source instanceof Uint8Array) return Stream.succeed(source)
  // Cancels the source of an aborted put, also while it waits for a chunk.
  if (source instanceof ReadableStream) return Stream.fromReadableStream({ evaluate: () => source, onError })
  return Stream.fromAsyncIterable(source, onError)
}

/** Not by `Stream.toReadableStream`, which opens the file before the reader reads. */
const readableOf = (
  stream: Stream.Stream<Uint8Array, Failure>,
  context: Context.Context<never>
): ReadableStream<Uint8Array> =>
  ReadableStream.from(Stream.toAsyncIterableWith(Stream.mapError(stream, errorOf), context))

const thrown = (failure: Failure | SourceFailed): unknown =>
  failure instanceof SourceFailed ? failure.reason : errorOf(failure)
