/** The scripted generator as a driver: models of load tests and drills describe delays and failures in their options. */
import { Duration, Effect, Layer, Result, Schema } from "effect"
import * as Driver from "./Driver.ts"
import type { GenerationRequest } from "./GenerationRequest.ts"
import { FailureCode, Permanent } from "./GeneratorError.ts"
import * as ScriptedGenerator from "./ScriptedGenerator.ts"

/** Schema of the options of the driver. */
export const Options = Schema.Struct({
  /** Interval between polls. Default 100 milliseconds. */
  poll_interval: Schema.DurationFromString.pipe(Schema.withDecodingDefaultKey(Effect.succeed("100 millis"))),
  /** See `resubmit` of `Generator`. Default `safe`. */
  resubmit: Schema.Literals(["safe", "unsafe"]).pipe(Schema.withDecodingDefaultKey(Effect.succeed("safe" as const)))
})

/** Schema of the options of a model. */
export const ModelOptions = Schema.Struct({
  /** Time from the start to the outcome, such as `5 seconds`. Default: none. */
  delay: Schema.optionalKey(Schema.DurationFromString),
  /** Minimum of a random delay, instead of `delay`. Uniformly distributed. */
  delay_min: Schema.optionalKey(Schema.DurationFromString),
  /** Maximum of a random delay. */
  delay_max: Schema.optionalKey(Schema.DurationFromString),
  /** Failure code of failing jobs. Default: `generation_failed` if `failure_rate` is set; otherwise no job fails. */
  failure: Schema.optionalKey(FailureCode),
  /** Share of jobs that fail, from 0 to 1. Default 1 if `failure` is set. */
  failure_rate: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
  /** Length of the result in bytes. A valid file has a minimum length. Default 4096. */
  bytes: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
}).check(Schema.makeFilter(
  ({ delay, delay_max, delay_min }) =>
    delay_min === undefined && delay_max === undefined ||
    delay === undefined && delay_min !== undefined && delay_max !== undefined &&
      Duration.isLessThanOrEqualTo(delay_min, delay_max),
  { expected: "either delay, or delay_min and a delay_max of at least delay_min" }
))

/** Returns the script for a request from the options of its model. With invalid options, the job fails. */
export const scriptOf = ({ model }: GenerationRequest): ScriptedGenerator.Script =>
  Result.match(decodeModelOptions(model.options), {
    onFailure: () => ({ outcome: failureOf("invalid_input") }),
    onSuccess: ({ bytes, delay, delay_max, delay_min, failure, failure_rate }) => ({
      bytes,
      delay: delay ?? delay_min,
      delayMax: delay_max,
      outcome: failure === undefined && failure_rate === undefined
        ? "succeed"
        : failureOf(failure ?? "generation_failed"),
      failureRate: failure_rate
    })
  })

/** The driver. */
export default Driver.make({
  options: Options,
  modelOptions: ModelOptions,
  layer: ({ poll_interval: pollInterval, resubmit }) =>
    ScriptedGenerator.layer.pipe(
      // Each configuration of the driver has its own `Control`.
      Layer.provide(Layer.fresh(ScriptedGenerator.layerControl({ script: scriptOf, pollInterval, resubmit })))
    )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeModelOptions = Schema.decodeUnknownResult(ModelOptions, { errors: "all", onExcessProperty: "error" })

const failureOf = (code: FailureCode) =>
  new Permanent({ code, reason: null, message: "The script of this model makes the job fail." })
