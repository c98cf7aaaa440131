/** The part of a configured model that concerns its driver, and its comparison with the capabilities of the driver. */
import type { Schema } from "effect"
import type { Kind, Mode } from "./GenerationRequest.ts"

/** A problem of a configuration. */
export interface Problem {
  /** Keys and indexes to the value, or to the place of a missing value. */
  readonly path: ReadonlyArray<string | number>
  /** Predicate of a sentence about the value: `must be …`. Never contains the value of a secret. */
  readonly message: string
}

/**
 * The part of a configured model that concerns its driver. Fields have the names of the
 * configuration, so the path of a field is the path of a problem.
 */
export interface ServedModel {
  readonly kind: Kind
  readonly capabilities: ReadonlyArray<Mode>
  /** Maximum number of input images of a request. */
  readonly max_reference_images: number
  /** Media types of results. The driver is asked for the first. */
  readonly output_formats: ReadonlyArray<string>
  readonly params_schema: ReadonlyArray<ServedParam>
  readonly driver: { readonly options: { readonly [name: string]: Schema.Json } }
}

/** A parameter of a model. An `int` without `values` has `min` and `max`. */
export interface ServedParam {
  readonly name: string
  readonly type: "string" | "int" | "boolean"
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly values?: ReadonlyArray<ParamValue> | undefined
}

/** Value of a parameter. */
export type ParamValue = string | number | boolean

/** Capabilities of a driver that do not depend on its options. */
export interface Supported {
  /** Default: all modes. */
  readonly modes?: ReadonlyArray<Mode> | undefined
  /** Maximum number of input images of a request. Default: as many as the model allows. */
  readonly imagesMax?: number | undefined
  /** Media types that the driver can be asked for. Default: all. */
  readonly outputFormats?: ReadonlyArray<string> | undefined
  /** Parameters by name, each with its values or `any`. Default: every parameter with every value. */
  readonly params?: Readonly<Record<string, ReadonlyArray<ParamValue> | "any">> | undefined
}

/**
 * Returns every reason why a driver that supports this cannot serve the model. `make` of
 * `Driver` calls it with `supports`. A driver whose options decide what it supports calls it in `check`.
 */
export const unsupported = (model: ServedModel, supported: Supported): ReadonlyArray<Problem> => [
  ...modeProblems(model, supported),
  ...imageProblems(model, supported),
  ...formatProblems(model, supported),
  ...model.params_schema.flatMap((param, index) => paramProblems(param, ["params_schema", index], supported))
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const list = (values: ReadonlyArray<ParamValue>) => values.join(", ")

const modeProblems = ({ capabilities }: ServedModel, { modes }: Supported): ReadonlyArray<Problem> =>
  capabilities.flatMap((mode, index) =>
    modes === undefined || modes.includes(mode)
      ? []
      : [{ path: ["capabilities", index], message: `must be one of the modes of the driver: ${list(modes)}` }]
  )

const imageProblems = (model: ServedModel, { imagesMax = Infinity }: Supported): ReadonlyArray<Problem> =>
  model.max_reference_images <= imagesMax
    ? []
    : [{ path: ["max_reference_images"], message: `must be at most ${imagesMax}, the maximum of the driver` }]

/** Compares the first format only, since a driver is not asked for the others. */
const formatProblems = ({ output_formats: [first] }: ServedModel, supported: Supported): ReadonlyArray<Problem> => {
  const { outputFormats } = supported
  return first === undefined || outputFormats === undefined || outputFormats.includes(first)
    ? []
    : [{ path: ["output_formats", 0], message: `must be one of the formats of the driver: ${list(outputFormats)}` }]
}

const paramProblems = (
  param: ServedParam,
  path: ReadonlyArray<string | number>,
  { params }: Supported
): ReadonlyArray<Problem> => {
  if (params === undefined) return []
  const accepted = Object.hasOwn(params, param.name) ? params[param.name] : undefined
  if (accepted === undefined) {
    return [{
      path: [...path, "name"],
      message: `must be one of the parameters of the driver: ${list(Object.keys(params))}`
    }]
  }
  if (accepted === "any") return []
  const values = param.type === "boolean" ? [true, false] : param.values
  const message = `must be one of the values of the driver: ${list(accepted)}`
  if (values === undefined) return [{ path: [...path, "values"], message: `must be given, and each ${message}` }]
  return values.flatMap((value, index) =>
    accepted.includes(value) ? [] : [{ path: [...path, "values", index], message }]
  )
}
