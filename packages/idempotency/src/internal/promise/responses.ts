/** Responses for programs without Effect. */
import type { CallOptions, Runtime } from "@kinora/persistence/promise"
import { Effect, type Schema } from "effect"
import type { Digest } from "effect/crypto"
import * as Fingerprint from "../../Fingerprint.ts"
import * as IdempotencyKey from "../../IdempotencyKey.ts"
import * as Service from "../../Responses.ts"
import type { StoredResponse } from "../../StoredResponse.ts"
import { InvalidKeyError, LeaseLostError } from "./errors.ts"

/** A request whose response is stored. */
export interface ResponseRequest {
  /** Namespace of the keys, such as the account. At most 128 characters. */
  readonly scope: string
  /** The `Idempotency-Key` that the client sent. */
  readonly key: string
  /** The content of the request, such as its method, path and body. Repetitions have the same. */
  readonly body: Schema.Json
}

/** A response. */
export interface ProgramResponse {
  /** 100 to 599. */
  readonly status: number
  /** Default: none. */
  readonly headers?: StoredResponse["headers"] | undefined
  /** Default: empty. */
  readonly body?: Uint8Array | string | undefined
}

/** A request that the program has begun and that no other runs. */
export interface RunningRequest {
  /**
   * Stores the response. With `tx`, it is committed with the work of the transaction, or neither is. A second call changes
   * nothing. Throws `LeaseLostError` if a repetition has begun: roll the transaction back.
   */
  readonly complete: (response: ProgramResponse, options?: CallOptions & Service.CompleteOptions) => Promise<void>
  /** As `complete`, for a response that is too large to be stored. Repetitions are not run. */
  readonly completeWithoutBody: (status: number, options?: CallOptions & Service.CompleteOptions) => Promise<void>
  /** Frees the key, unless a response is stored, so that a repetition runs. */
  readonly release: (options?: CallOptions) => Promise<void>
}

/** Result of `begin`. */
export type Begun =
  | { readonly _tag: "First"; readonly request: RunningRequest }
  | { readonly _tag: "InProgress" }
  | { readonly _tag: "Replay"; readonly response: StoredResponse }
  | { readonly _tag: "Reused" }

/** Stores and replays responses. */
export interface Responses {
  /**
   * Begins a request: runs it (`First`), waits up to `wait` for one that is running (`InProgress`), or returns the response
   * of one that has ended (`Replay`). `Reused`: the key belongs to a request that asks for something else. While the
   * request runs, this process renews its lease; a request of a process that died may run again when its lease has expired.
   * Throws `InvalidKeyError`.
   */
  readonly begin: (
    request: Pick<CallOptions, "signal"> & ResponseRequest & Service.BeginOptions
  ) => Promise<Begun>
}

/** Makes the calls. */
export const makeResponses = ({ run }: Runtime<Service.Responses | Digest.Digest>): Responses => ({
  begin: async ({ signal, wait, ...request }) => {
    const begun = await run(
      Effect.flatMap(
        requestOf(request),
        (request) => Service.Responses.use(({ begin }) => Effect.map(begin(request, { wait }), (begun) => [begun]))
      ),
      { signal },
      (failure: InvalidKeyError) => failure
    )
    // The types of a plain value would rename the parts of bytes.
    const [result] = begun as ReadonlyArray<Service.Begun>
    if (result === undefined) throw new Error("A call returns a result")
    return result._tag === "First" ? { _tag: "First", request: runningOf(run, result.running) } : result
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const requestOf = Effect.fnUntraced(function*({ body, key, scope }: ResponseRequest) {
  if (IdempotencyKey.parse(key) === undefined) return yield* Effect.fail(new InvalidKeyError({ key }))
  return { scope, key, fingerprint: yield* Effect.orDie(Fingerprint.make(body)) }
})

const runningOf = (
  run: Runtime<Service.Responses>["run"],
  running: Service.RunningRequest
): RunningRequest => {
  const complete = (response: StoredResponse, options: CallOptions & Service.CompleteOptions = {}) =>
    run(
      Service.Responses.use(({ complete }) => complete(running, response, { window: options.window })),
      options,
      (failure: Service.LeaseLost) => new LeaseLostError(failure)
    )
  return {
    complete: ({ body = "", headers = [], status }, options) =>
      complete({ status, headers, body: typeof body === "string" ? new TextEncoder().encode(body) : body }, options),
    completeWithoutBody: (status, options) => complete({ status, headers: [], body: undefined }, options),
    release: (options = {}) =>
      run(Service.Responses.use(({ release }) => release(running)), options, (failure: never) => failure)
  }
}
