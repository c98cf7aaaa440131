/** What `generate` answers with: a completed job, and ways to its bytes. */
import type { CallOptions } from "./Options.ts"
import type { CompletedGeneration } from "./Wire.ts"

/** Nothing is downloaded before it is asked for, and each call downloads anew. */
export interface Result {
  /** The job; `output.url` is a link that needs no key. */
  readonly generation: CompletedGeneration
  /** The result as a stream that begins when it is read and goes on by itself where a connection broke off. */
  readonly stream: () => ReadableStream<Uint8Array>
  /** The whole result. */
  readonly bytes: (options?: CallOptions) => Promise<Uint8Array>
  /** The whole result, with its media type. */
  readonly blob: (options?: CallOptions) => Promise<Blob>
}
