/** Options of the contract suite. */
import type { Duration, Effect, Layer } from "effect"
import type { GenerationRequest, InputImage } from "../../GenerationRequest.ts"
import type { Generator } from "../../Generator.ts"
import type { FailureCode, Reason } from "../../GeneratorError.ts"

/** Options for `suite`. */
export interface ContractOptions<E> {
  /** The generator under test. Builds share only what processes share, such as an upstream. */
  readonly generator: Layer.Layer<Generator, E>
  /** Changes to the requests of the suite, which ask for a PNG of a lake. Default: none. */
  readonly request?: Partial<GenerationRequest> | undefined
  /** Changes that make work run until it is cancelled. If absent, running work is not tested. */
  readonly running?: Partial<GenerationRequest> | undefined
  /** Whether the provider can cancel running work. Default `true`. */
  readonly cancels?: boolean | undefined
  /** Input images for `image_to_image` or `image_to_video`. If absent, input images are not tested. */
  readonly images?: ImageOptions | undefined
  /** Failures that the driver can have. Each is a test. */
  readonly faults?: ReadonlyArray<Fault> | undefined
  /** Texts that no operation and no message contains, such as keys and addresses of the upstream. */
  readonly secrets?: ReadonlyArray<string> | undefined
  /**
   * `anywhere` if every process can continue from an operation. `process` if results are in the
   * memory of the process that submitted, because the provider returns them once. Default `anywhere`.
   */
  readonly continues?: "anywhere" | "process" | undefined
  /** `test`: the suite advances the `TestClock` between polls. `live`: it waits. Default `test`. */
  readonly time?: "test" | "live" | undefined
}

/** Requests with input images. */
export interface ImageOptions {
  readonly mode: "image_to_image" | "image_to_video"
  /** A complete image. */
  readonly file: Uint8Array
  readonly mime: InputImage["mime"]
  /** Pixels. */
  readonly width: number
  /** Pixels. */
  readonly height: number
}

/** A failure, and the request that causes it. */
export interface Fault {
  /** When it happens: `the provider returns 429`. Part of the name of the test. */
  readonly when: string
  /** The call that fails. */
  readonly call: "submit" | "poll" | "collect"
  /** Class of the failure. A `Transient` or `Lost` failure happens once per request. */
  readonly reason: Reason["_tag"]
  /** Code of a `Permanent` failure. Default: any. */
  readonly code?: FailureCode | undefined
  /** `retryAfter` of a `Transient` failure. Default: any. */
  readonly retryAfter?: Duration.Input | undefined
  /** Changes to the request. */
  readonly request?: Partial<GenerationRequest> | undefined
  /** Prepares the upstream, before the call that fails. */
  readonly arrange?: Effect.Effect<void> | undefined
}
