/** Limits of the calls to an upstream: a configured driver with its address and its credential. */
import { Effect, type Result, Schema } from "effect"
import { decoder } from "./internal/optionsDecoder.ts"
import type { Problem } from "./ServedModel.ts"

const Count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))

const duration = (text: string) => Schema.DurationFromString.pipe(Schema.withDecodingDefaultKey(Effect.succeed(text)))

/**
 * Schema of the limits, as fields of a driver in a configuration. `concurrency` and
 * `requests_per_minute` count the jobs of all worker processes, the others the calls of
 * each process. Times are text, such as `30 seconds`.
 */
export const UpstreamLimits = Schema.Struct({
  /**
   * Name of the account at the upstream. Drivers with the same name share `concurrency` and `requests_per_minute`.
   * Default: the name of the driver.
   */
  credential: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,63}$/, {
        expected: "a name of at most 64 lower-case letters, digits, '.', '_' and '-'"
      })
    )
  ),
  /** Whether each worker process has an upstream of its own, such as its GPU, with these limits each. Default `false`. */
  per_worker: Schema.optionalKey(Schema.Boolean),
  /** Jobs that may be at the upstream at the same time. Default: as many as the workers run. */
  concurrency: Schema.optionalKey(Count),
  /** Jobs that may be submitted within any minute. Default: no limit besides `concurrency`. */
  requests_per_minute: Schema.optionalKey(Count),
  /**
   * Successive failures after which the upstream is not called for `open_time`: no response, an
   * overload, or a rejected credential. Submits and polls are counted separately.
   */
  failures_max: Count.pipe(Schema.withDecodingDefaultKey(Effect.succeed(5))),
  /** Time until one job tests whether the upstream works again. Doubles with each failed test, up to 8 times. */
  open_time: duration("15 seconds"),
  /** How long the upstream fails before the models that have no other one are paused. Default 1 minute. */
  pause_after: duration("1 minute"),
  /**
   * Longest time between two polls of a job whose upstream calls back when it ends. The first
   * poll is after the interval of the driver, and each further one after twice the time. Default 1 minute.
   */
  callback_poll_max: duration("1 minute")
})
/** Type of `UpstreamLimits`. */
export type UpstreamLimits = typeof UpstreamLimits.Type

/** The limits of an upstream without configuration. */
export const defaults: UpstreamLimits = Schema.decodeUnknownSync(UpstreamLimits)({})

/** Decodes the limits in a configuration, or returns every problem, with paths that start at the limits. */
export const decode: (input: unknown) => Result.Result<UpstreamLimits, ReadonlyArray<Problem>> = decoder(UpstreamLimits)
