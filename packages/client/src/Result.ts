/** Result of `Kinora.generate`. */
import type { CallOptions } from "./Options.ts"
import type { CompletedGeneration } from "./Wire.ts"

/** A completed job and ways to its bytes. Each call downloads them again. */
export interface Result {
  /** The job. `output.url` is a link that needs no key. */
  readonly generation: CompletedGeneration
  /** Streams the result. The download starts with the first read, and continues on a new connection if one breaks. */
  readonly stream: () => ReadableStream<Uint8Array>
  /** Downloads the whole result. */
  readonly bytes: (options?: CallOptions) => Promise<Uint8Array>
  /** Downloads the whole result, with its media type. */
  readonly blob: (options?: CallOptions) => Promise<Blob>
}
