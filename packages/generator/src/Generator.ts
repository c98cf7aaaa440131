/**
 * The port of drivers that generate images and videos: in this process, on a server of
 * the operator, or at a provider.
 *
 * A worker runs a job as `submit` → checkpoint → `poll`... → `collect`. Only the
 * operation survives a crash:
 *
 * | call      | repeating it                                                          |
 * | --------- | --------------------------------------------------------------------- |
 * | `submit`  | safe where `resubmit` is `safe`: the same id gives the same operation  |
 * | `poll`    | always safe, from any process                                         |
 * | `cancel`  | always safe; has no effect on finished work                           |
 * | `collect` | always safe until the provider deletes the result                     |
 *
 * A crash between `submit` and the stored checkpoint leaves work without an operation.
 * If `resubmit` is `safe`, the next worker submits again and gets the same work. If it
 * is `unsafe`, the caller records before `submit` that it is about to submit, and a
 * worker that finds this record without an operation fails the job like on
 * `UnknownOutcome`.
 *
 * A driver fails with `Lost` if work was lost with a process or an engine; the caller
 * then submits the request again. This can happen to work with input images, since they
 * are not part of an operation and another process cannot continue without them.
 */
import { Context, type Duration, type Effect, Schema, type Scope, type Stream } from "effect"
import type { GenerationRequest } from "./GenerationRequest.ts"
import type { GeneratorError, Permanent } from "./GeneratorError.ts"

/**
 * Identifies submitted work, so the operations of two requests differ: small JSON that only the driver reads, without secrets and
 * without the content of input images. It is stored as the checkpoint of the job before
 * the first poll, and another process must be able to continue from it.
 */
export const Operation = Schema.Json
/** Type of `Operation`. */
export type Operation = Schema.Json

/** State of an operation. */
export type Status = Pending | Succeeded | Failed

/** The work waits or runs. */
export interface Pending {
  readonly _tag: "Pending"
  /** Time until the next poll. Zero if `poll` itself waits for changes. See `spacesPolls`. */
  readonly after: Duration.Duration
  /** Progress from 0 to 1, if the driver can measure it. */
  readonly progress?: number | undefined
}

/** The work has succeeded, and its result can be collected. */
export interface Succeeded {
  readonly _tag: "Succeeded"
}

/** The work has failed permanently. */
export interface Failed {
  readonly _tag: "Failed"
  readonly error: Permanent
}

/** A result. Its bytes are a stream, so that it is not whole in memory. */
export interface Output {
  /** Media type according to the driver: a hint, such as `application/octet-stream`. The service detects the type by content. */
  readonly mime: string
  /** Pixels. */
  readonly width?: number | undefined
  /** Pixels. */
  readonly height?: number | undefined
  /** Duration of a video. */
  readonly duration?: Duration.Duration | undefined
  /**
   * Encoded image of the first frame of a video, if the driver has one. `poster` and
   * `thumb` of the job are made from it. Images have none.
   */
  readonly poster?: Uint8Array | undefined
  /** The bytes. Can be read once. */
  readonly body: Stream.Stream<Uint8Array, GeneratorError>
}

/** Generates images and videos. Every driver provides this service; `Generators` finds drivers by name. */
export class Generator extends Context.Service<Generator, {
  /**
   * `safe` if `submit` with the id of an earlier request starts no new work. `unsafe` if
   * the provider has no idempotency.
   */
  readonly resubmit: "safe" | "unsafe"

  /**
   * Whether the driver passes `callbackUrl` of a request to a provider that calls it when the
   * work ends. Such work is polled less and less often. Default `false`.
   */
  readonly callsBack?: boolean | undefined

  /**
   * Whether polls cost a provider's capacity. The pause between two polls is then longer than
   * the driver returns: a little at random, and the more the longer the work takes, unless the
   * driver returns less than a second. Default `false`: each pause is as the driver returns it.
   */
  readonly spacesPolls?: boolean | undefined

  /**
   * Submits the work and returns when it is accepted, not when it is finished. Fails
   * with `Transient` only if nothing was started. Reads the input images, and fails with
   * the failures of their bodies.
   */
  readonly submit: (request: GenerationRequest) => Effect.Effect<Operation, GeneratorError>

  /**
   * Returns the state of the work. May wait up to about a second for a change. Accepts
   * every operation that `submit` returned in any process, and fails with `Lost` if its
   * work is lost. Returns `Failed` for an operation of another driver.
   */
  readonly poll: (operation: Operation) => Effect.Effect<Status, GeneratorError>

  /** Cancels the work if it has not finished. Does not wait for it. Callers that give up a job call it. */
  readonly cancel: (operation: Operation) => Effect.Effect<void, GeneratorError>

  /**
   * Returns the result of an operation that succeeded. The body is read inside the
   * scope; closing the scope releases connections and memory.
   */
  readonly collect: (operation: Operation) => Effect.Effect<Output, GeneratorError, Scope.Scope>
}>()("@kinora/generator/Generator") {}

/** Creates the status of work that waits or runs. */
export const pending = (after: Duration.Duration, progress?: number): Status => ({ _tag: "Pending", after, progress })

/** The status of work that succeeded. */
export const succeeded: Status = { _tag: "Succeeded" }

/** Creates the status of work that failed permanently. */
export const failed = (error: Permanent): Status => ({ _tag: "Failed", error })
