/** Operations of the drivers of this package. */
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { GeneratorError, type Permanent } from "@kinora/generator/GeneratorError"
import { permanent } from "@kinora/generator/ProviderFailure"
import { type Duration, Effect, Option, Schema, type Scope } from "effect"
import type { Download } from "./download.ts"
import { transient } from "./failures.ts"

/** The calls of a driver, with decoded operations. See `Generator`. */
export interface Calls<Operation extends Schema.Json> {
  /** Prefix of the names of spans. */
  readonly name: string
  /** See `Generator`. Default `unsafe`: the upstream has no idempotency. */
  readonly resubmit?: "safe" | undefined
  /** See `Generator`. Default `false`. */
  readonly callsBack?: boolean | undefined
  /** Schema of the operation. */
  readonly operation: Schema.ConstraintDecoder<Operation>
  readonly submit: (request: GenerationRequest) => Effect.Effect<Operation, GeneratorError>
  readonly poll: (operation: Operation) => Effect.Effect<Generator.Status, GeneratorError>
  readonly cancel: (operation: Operation) => Effect.Effect<void, GeneratorError>
  readonly collect: (operation: Operation) => Effect.Effect<Generator.Output, GeneratorError, Scope.Scope>
}

/**
 * Creates a generator. Operations of other drivers have failed, and cannot be cancelled or
 * collected. A result that is absent because its work has not ended can be collected later.
 */
export const toGenerator = <Operation extends Schema.Json>(calls: Calls<Operation>): Generator.Generator["Service"] => {
  const decode = Schema.decodeUnknownOption(calls.operation)
  return Generator.Generator.of({
    resubmit: calls.resubmit ?? "unsafe",
    callsBack: calls.callsBack,
    spacesPolls: true,
    submit: Effect.fn(`${calls.name}.submit`)((request: GenerationRequest) =>
      calls.submit(calls.callsBack === true ? request : { ...request, callbackUrl: undefined })
    ),
    poll: Effect.fn(`${calls.name}.poll`)((operation: Generator.Operation) =>
      Option.match(decode(operation), {
        onNone: () => Effect.succeed(Generator.failed(foreign)),
        onSome: calls.poll
      })
    ),
    cancel: Effect.fn(`${calls.name}.cancel`)((operation: Generator.Operation) =>
      Option.match(decode(operation), { onNone: () => Effect.void, onSome: calls.cancel })
    ),
    collect: Effect.fn(`${calls.name}.collect`)((operation: Generator.Operation) =>
      Option.match(decode(operation), {
        onNone: () => Effect.fail(new GeneratorError({ reason: foreign })),
        onSome: (operation) =>
          Effect.catchIf(
            calls.collect(operation),
            ({ reason }) => reason._tag === "Permanent",
            (error) =>
              Effect.flatMap(
                calls.poll(operation),
                ({ _tag }) => Effect.fail(_tag === "Pending" ? new GeneratorError({ reason: transient() }) : error)
              )
          )
      })
    )
  })
}

/** The states of a job of an upstream. A job in a state that is not named here has not ended. */
export interface States<Job> {
  readonly succeeded: string
  readonly failed: ReadonlyArray<string>
  /** Returns why a job failed. */
  readonly failureOf: (job: Job) => Permanent
  /** Returns the progress of a job that has not ended. 0 is none, 1 is all. */
  readonly progressOf?: (job: Job) => number | null | undefined
}

/** Makes a function that maps the state of a job to a status. A job that has not ended is polled again `after` this time. */
export const makeStatusOf =
  <Job extends { readonly status: string }>({ failed, failureOf, progressOf, succeeded }: States<Job>) =>
  (job: Job, after: Duration.Duration): Generator.Status => {
    if (job.status === succeeded) return Generator.succeeded
    if (failed.includes(job.status)) return Generator.failed(failureOf(job))
    const progress = progressOf?.(job)
    return Generator.pending(after, progress == null ? undefined : Math.min(Math.max(progress, 0), 1))
  }

/** Returns the result of a download. `otherwise` is its media type if the server does not name one. */
export const toOutput = ({ body, mime }: Download, otherwise = "application/octet-stream"): Generator.Output => ({
  mime: mime ?? otherwise,
  body
})

/**
 * Downloads the result of a job from the URL in its response. Fails with `Permanent` if there is none. `otherwise` is the
 * media type if the server does not name one.
 */
export const collectFrom = (
  download: (url: string) => Effect.Effect<Download, GeneratorError, Scope.Scope>,
  url: string | undefined,
  otherwise?: string
): Effect.Effect<Generator.Output, GeneratorError, Scope.Scope> =>
  url === undefined
    ? Effect.fail(new GeneratorError({ reason: permanent("unusable") }))
    : Effect.map(download(url), (result) => toOutput(result, otherwise))

/** Completes a call that cancels a job. The upstream rejects it if the job has ended or does not exist. */
export const ignoreRejection = (call: Effect.Effect<void, GeneratorError>): Effect.Effect<void, GeneratorError> =>
  Effect.catchIf(call, ({ reason }) => reason._tag === "Permanent", () => Effect.void)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const foreign = permanent("failed")
