/**
 * The port behind which pictures and videos are made: by this process, by a
 * server next to it or by a provider far away.
 *
 * A job goes `submit` → checkpoint → `poll`... → `collect`. What survives a crash
 * is the operation, and nothing else:
 *
 * | call      | repeating it                                                          |
 * | --------- | --------------------------------------------------------------------- |
 * | `submit`  | safe where `resubmit` is `safe`: the same id gives the same operation  |
 * | `poll`    | always safe, from any process                                         |
 * | `cancel`  | always safe; cancelling what is over changes nothing                  |
 * | `collect` | always safe until the provider deletes the result                     |
 *
 * A crash between `submit` and the stored checkpoint leaves work that nobody
 * knows. Where `resubmit` is `safe` the next worker submits again and meets the
 * same work. Where it is `unsafe` the caller notes that it is about to submit, and
 * a worker that finds this note without an operation fails the job as it does on
 * `UnknownOutcome`.
 *
 * A driver may lose work with a process or an engine, and says so with `Lost`: the
 * caller submits the request again. Input images are why one would: they are no
 * part of an operation, so work that needs them cannot go on from it elsewhere.
 */
import { Context, type Duration, type Effect, Schema, type Scope, type Stream } from "effect"
import type { GenerationRequest } from "./GenerationRequest.ts"
import type { GeneratorError, Permanent } from "./GeneratorError.ts"

/**
 * Names work that was submitted. JSON that only the driver reads, small, without
 * secrets and without what input images show, and enough for another process to go
 * on: it is stored as the job's checkpoint before the first poll.
 */
export const Operation = Schema.Json
/** See the schema of the same name. */
export type Operation = Schema.Json

/** What became of an operation so far. */
export type Status = Pending | Succeeded | Failed

/** The work is waiting or running. */
export interface Pending {
  readonly _tag: "Pending"
  /** When to ask again; zero where `poll` itself waits for news. */
  readonly after: Duration.Duration
  /** Share of the work that is done, from 0 to 1, where the driver knows it. */
  readonly progress?: number | undefined
}

/** The work is done and can be collected. */
export interface Succeeded {
  readonly _tag: "Succeeded"
}

/** The work failed for good. */
export interface Failed {
  readonly _tag: "Failed"
  readonly error: Permanent
}

/** A result on its way. Its bytes are never held in memory as a whole where that can be avoided. */
export interface Output {
  /** The media type as the driver knows it; who stores the bytes looks for himself. */
  readonly mime: string
  /** Pixels. */
  readonly width?: number | undefined
  /** Pixels. */
  readonly height?: number | undefined
  /** Of a video. */
  readonly duration?: Duration.Duration | undefined
  /**
   * An encoded image of a video's first frame, if the driver has one (D10): what
   * `poster` and `thumb` of the job are made of. Images have none.
   */
  readonly poster?: Uint8Array | undefined
  /** The bytes, to be read once. */
  readonly body: Stream.Stream<Uint8Array, GeneratorError>
}

/** Makes pictures and videos. Every driver provides this service; `Generators` knows them by name. */
export class Generator extends Context.Service<Generator, {
  /**
   * Whether `submit` with an id that was submitted before starts nothing new.
   * `unsafe` where the provider has no idempotency.
   */
  readonly resubmit: "safe" | "unsafe"

  /**
   * Hands the work over and answers as soon as it is taken, not when it is done.
   * Fails with `Transient` only when nothing was started. Input images are read
   * here, and fail it with what their bodies fail with.
   */
  readonly submit: (request: GenerationRequest) => Effect.Effect<Operation, GeneratorError>

  /**
   * What became of the work. May wait for news for about a second. Knows every
   * operation that `submit` ever returned, in whatever process, even if only to
   * fail with `Lost`; one that is not of this driver's making is answered with `Failed`.
   */
  readonly poll: (operation: Operation) => Effect.Effect<Status, GeneratorError>

  /** Stops the work, if it can still be stopped; it is not waited for. Callers that give up call this. */
  readonly cancel: (operation: Operation) => Effect.Effect<void, GeneratorError>

  /**
   * The result of an operation that succeeded. The body is read inside the scope;
   * closing the scope lets go of connections and memory.
   */
  readonly collect: (operation: Operation) => Effect.Effect<Output, GeneratorError, Scope.Scope>
}>()("@kinora/generator/Generator") {}

/** The work is waiting or running. */
export const pending = (after: Duration.Duration, progress?: number): Status => ({ _tag: "Pending", after, progress })

/** The work is done. */
export const succeeded: Status = { _tag: "Succeeded" }

/** The work failed for good. */
export const failed = (error: Permanent): Status => ({ _tag: "Failed", error })
