/** The checkpoint of a job: which upstream has it. */
import type { Operation } from "@kinora/generator/Generator"
import type { ClaimedJob } from "@kinora/scheduler/Job"
import { Option, Schema } from "effect"
import type { Upstream } from "./upstream.ts"
import type { Upstreams } from "./upstreams.ts"

/**
 * How far a job is. `failed` has the upstreams that refused it, or where it failed.
 *
 * | state        | meaning                                                                          |
 * | ------------ | -------------------------------------------------------------------------------- |
 * | `Unsent`     | No upstream has the job. It may be submitted to any that has not failed.          |
 * | `Sending`    | A worker was about to submit it. The upstream may have it, and no other gets it. |
 * | `Sent`       | The upstream accepted it. Every worker continues there, if it has the upstream. |
 */
export type Progress =
  | { readonly _tag: "Unsent"; readonly failed: ReadonlyArray<string> }
  | { readonly _tag: "Sending"; readonly upstream: string; readonly failed: ReadonlyArray<string> }
  | Sent

/** An operation at an upstream. */
export interface Sent {
  readonly _tag: "Sent"
  /** The name of the upstream. Never its credential. */
  readonly upstream: string
  readonly operation: Operation
  /** Whether the upstream got a URL to call when the operation ends. */
  readonly callsBack: boolean
  readonly failed: ReadonlyArray<string>
}

/** Returns the progress of a claimed job, whose model has `primary` as its first upstream. */
export const ofJob = (
  { checkpoint, epoch }: ClaimedJob,
  primary: Upstream,
  { successorOf }: Pick<Upstreams, "successorOf">
): Progress => {
  if (Option.isNone(checkpoint)) {
    // A submit that can be repeated is not announced, so an earlier worker may have sent it.
    return epoch > 1 && primary.generator.resubmit === "safe" ? sending(primary.name, []) : unsent([])
  }
  return Option.match(decode(checkpoint.value), {
    onNone: () => sending(primary.name, []),
    onSome: ({ callsBack = false, credential, failed, operation, upstream: taker }) => {
      const upstream = taker === undefined ? undefined : successorOf(taker, credential)
      if (operation !== undefined) {
        return sent({ upstream: upstream ?? primary.name, operation, callsBack, failed: failed ?? [] })
      }
      // Releases without fallbacks stored an empty record before a submit that cannot be repeated.
      if (upstream !== undefined || failed === undefined) return sending(upstream ?? primary.name, failed ?? [])
      return unsent(failed)
    }
  })
}

/** Returns the checkpoint of a progress at an upstream with this credential, which is a name of the operator. */
export const toCheckpoint = ({ _tag: _, ...progress }: Progress, credential: string | undefined): Schema.Json =>
  encode(credential === undefined ? progress : { ...progress, credential })

/** No upstream has the job. */
export const unsent = (failed: ReadonlyArray<string>): Progress => ({ _tag: "Unsent", failed })

/** The upstream may have the job. */
export const sending = (upstream: string, failed: ReadonlyArray<string>): Progress => ({
  _tag: "Sending",
  upstream,
  failed
})

/** The upstream has the job. */
export const sent = (sent: Omit<Sent, "_tag">): Sent => ({ _tag: "Sent", ...sent })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Checkpoint = Schema.Struct({
  upstream: Schema.optionalKey(Schema.String),
  credential: Schema.optionalKey(Schema.String),
  operation: Schema.optionalKey(Schema.Json),
  callsBack: Schema.optionalKey(Schema.Boolean),
  failed: Schema.optionalKey(Schema.Array(Schema.String))
})

const decode = Schema.decodeUnknownOption(Checkpoint)

const encode = Schema.encodeSync(Checkpoint)
