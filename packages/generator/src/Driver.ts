/**
 * A driver as a host loads it: a generator with the schemas of its options. The options
 * of a driver and of its models are checked when the host starts.
 *
 *     export default Driver.make({
 *       options: Schema.Struct({ api_key: Driver.Secret }),
 *       modelOptions: Schema.Struct({ model: Schema.NonEmptyString }),
 *       supports: { modes: ["text_to_image"] },
 *       layer: ({ api_key }) => Layer.effect(Generator.Generator, make(api_key))
 *     })
 */
import { Effect, Layer, Predicate, Result, Schema } from "effect"
import type { GenerationRequest } from "./GenerationRequest.ts"
import type { Generator } from "./Generator.ts"
import { GeneratorError, Permanent } from "./GeneratorError.ts"
import { decoder } from "./internal/optionsDecoder.ts"
import { type Problem, type ServedModel, type Supported, unsupported } from "./ServedModel.ts"

const TypeId = "~@kinora/generator/Driver"

/** A driver that a host can configure. The default export of a driver module. Create it with `make`. */
export interface Driver {
  readonly [TypeId]: typeof TypeId
  /**
   * Returns the layer of a generator with these options, or every problem of the
   * options, with paths that start at the options. A driver can be configured more than
   * once.
   */
  readonly generator: (
    options: unknown
  ) => Result.Result<Layer.Layer<Generator, DriverError>, ReadonlyArray<Problem>>
  /** Returns every reason why the driver cannot serve the model, with paths that start at the model. */
  readonly check: (model: ServedModel) => ReadonlyArray<Problem>
}

/** Options for `make`. */
export interface DriverOptions<O, M, E> {
  /** Schema of the options of the driver. Default: the driver has no options. */
  readonly options?: Schema.ConstraintDecoder<O> | undefined
  /** Schema of `driver.options` of a model. Default: models have no options. See `optionsOf`. */
  readonly modelOptions?: Schema.ConstraintDecoder<M> | undefined
  /** Models that the driver can serve. Default: all. */
  readonly supports?: Supported | undefined
  /** Further rules of a model with valid options. */
  readonly check?: ((model: ServedModel, options: M) => ReadonlyArray<Problem>) | undefined
  /** Builds the generator. A failure stops the start of the host, and its message is shown to the operator. */
  readonly layer: (options: O) => Layer.Layer<Generator, E>
}

/** A driver that has valid options could not start, for example because a file is missing. */
export class DriverError extends Schema.TaggedError<DriverError>("@kinora/generator/DriverError")("DriverError", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return this.cause instanceof Error && this.cause.message !== "" ? this.cause.message : String(this.cause)
  }
}

/** A secret option: 1 to 4,096 characters without line breaks and surrounding spaces. Decodes to `Redacted`. */
export const Secret = Schema.RedactedFromValue(
  Schema.String.check(Schema.makeFilter(
    (text) => text.length > 0 && text.length <= 4096 && text.trim() === text && !/\p{Cc}/u.test(text),
    { expected: "a secret of 1 to 4096 characters without line breaks and surrounding spaces" }
  )),
  { disallowEncode: true }
)

/** Creates a driver. */
export const make = <O = {}, M = {}, E = never>(options: DriverOptions<O, M, E>): Driver => {
  const { check, layer, supports = {} } = options
  // The default schemas decode to an empty record, which is the default of `O` and `M`.
  const decode = decoder(options.options ?? (NoOptions as Schema.ConstraintDecoder<O>))
  const decodeModel = decoder(options.modelOptions ?? (NoOptions as Schema.ConstraintDecoder<M>))
  return {
    [TypeId]: TypeId,
    generator: (input) =>
      Result.map(
        decode(input),
        (decoded) =>
          Layer.catch(layer(decoded), (cause) => Layer.effectContext(Effect.fail(new DriverError({ cause }))))
      ),
    check: (model) => [
      ...unsupported(model, supports),
      ...Result.match(decodeModel(model.driver.options), {
        onFailure: (problems) =>
          problems.map(({ message, path }) => ({ path: ["driver", "options", ...path], message })),
        onSuccess: (decoded) => check?.(model, decoded) ?? []
      })
    ]
  }
}

/** Returns whether the value is a driver, also one of another copy of this package. */
export const isDriver = (value: unknown): value is Driver => Predicate.hasProperty(value, TypeId)

/**
 * Makes the function that decodes the options of a request's model, with the schema that
 * the driver has as `modelOptions`. It fails only for options that the host did not
 * check at start.
 */
export const optionsOf = <M>(
  schema: Schema.ConstraintDecoder<M>
): (request: GenerationRequest) => Effect.Effect<M, GeneratorError> => {
  const decode = decoder(schema)
  return ({ model }) => Effect.mapError(Effect.fromResult(decode(model.options)), () => unconfigured)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const NoOptions = Schema.Record(
  Schema.String,
  Schema.Never.annotate({ message: "must be absent: there are no options" })
)

const unconfigured = new GeneratorError({
  reason: new Permanent({
    code: "generation_failed",
    reason: "internal",
    message: "The model is not configured correctly."
  })
})
