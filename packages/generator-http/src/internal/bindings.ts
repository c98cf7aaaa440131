/** Bindings: how a model passes the prompt, parameters, seed and input images to its upstream. */
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import type { ParamValue, Problem, ServedModel, ServedParam } from "@kinora/generator/ServedModel"
import { Schema } from "effect"
import { createHash } from "node:crypto"

/** One or more sources. See `Binding`. */
const Sources = Schema.Union([Schema.NonEmptyString, Schema.NonEmptyArray(Schema.NonEmptyString)])

/**
 * Passes a value of the request to the upstream. A binding is skipped if one of its
 * sources is absent, and the upstream receives the value of the template.
 */
export const Binding = Schema.Struct({
  /** Name of the upstream's input. */
  to: Schema.NonEmptyString,
  /**
   * Source of the value: `prompt`, `seed`, `images` (all input images), `image_1`, `image_2`, ... or the
   * name of a parameter. Several sources need `values`.
   */
  from: Sources,
  /** Value of the upstream by value of the source. The values of several sources are joined by spaces. */
  values: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  /** Factor for a number. Default 1. */
  multiply: Schema.optionalKey(Schema.Finite),
  /** Summand for a number, added after `multiply`. Default 0. */
  add: Schema.optionalKey(Schema.Finite)
})
/** Type of `Binding`. */
export type Binding = typeof Binding.Type

/** Maximum number of bindings of a model. */
const bindingsMax = 64

/** The bindings of a model. */
export const Bindings = Schema.Array(Binding).check(Schema.isMaxLength(bindingsMax))

/** An input of the upstream and its value. */
export interface BoundInput {
  readonly to: string
  readonly value: Schema.Json
}

/**
 * Returns the inputs of the upstream for a request. `images` are the input images in the
 * form that the upstream accepts, for example URLs.
 */
export const bind = (
  bindings: ReadonlyArray<Binding>,
  request: GenerationRequest,
  images: ReadonlyArray<Schema.Json>
): ReadonlyArray<BoundInput> => {
  const values = valuesOf(request, images)
  return bindings.flatMap((binding) => {
    const value = valueOf(binding, values)
    return value === undefined ? [] : [{ to: binding.to, value }]
  })
}

/** Returns every reason why the bindings do not fit the model, with paths that start at the model. */
export const bindingProblems = (model: ServedModel, bindings: ReadonlyArray<Binding>): ReadonlyArray<Problem> => [
  ...bindings.flatMap((binding, index) =>
    problemsOf(model, binding).map(({ message, path }) => ({
      path: ["driver", "options", "bindings", index, ...path],
      message
    }))
  ),
  ...model.params_schema.flatMap(({ name }, index) =>
    isBound(bindings, name)
      ? []
      : [{ path: ["params_schema", index, "name"], message: "must be the source of a binding of the driver's options" }]
  )
]

/** Returns whether a binding has this source. */
export const isBound = (bindings: ReadonlyArray<Binding>, source: string): boolean =>
  bindings.some((binding) => sourcesOf(binding).includes(source))

/** Returns the sources of the bindings that are single input images, such as `image_1`. */
export const boundImages = (bindings: ReadonlyArray<Binding>): ReadonlySet<string> =>
  new Set(bindings.flatMap(sourcesOf).filter((source) => imageSource.test(source)))

/** Returns the bindings with one from the prompt to the input `input`, unless the prompt or this input is bound. */
export const withPrompt = (bindings: ReadonlyArray<Binding>, input = "prompt"): ReadonlyArray<Binding> =>
  isBound(bindings, "prompt") || bindings.some(({ to }) => to === input)
    ? bindings
    : [{ to: input, from: "prompt" }, ...bindings]

/** Returns the problems of bindings to inputs that the driver sends itself. */
export const ownInputProblems = (
  bindings: ReadonlyArray<Binding>,
  own: ReadonlyArray<string>
): ReadonlyArray<Problem> =>
  bindings.flatMap(({ to }, index) =>
    own.includes(to)
      ? [{
        path: ["driver", "options", "bindings", index, "to"],
        message: `must not be an input that the driver sends: ${own.join(", ")}`
      }]
      : []
  )

/** Returns every reason why the bindings of named inputs, which pass the input images too, cannot serve a model. */
export const inputProblems = (
  model: ServedModel,
  { bindings = [] }: { readonly bindings?: ReadonlyArray<Binding> }
): ReadonlyArray<Problem> => [...bindingProblems(model, bindings), ...imageBindingProblems(model, bindings)]

/**
 * Returns every reason why the bindings do not fit a form whose `ownFields` the driver sends itself, input images as
 * `imageField`.
 */
export const formBindingProblems = (
  bindings: ReadonlyArray<Binding>,
  ownFields: ReadonlyArray<string>,
  imageField: string
): ReadonlyArray<Problem> =>
  bindings.flatMap((binding, index) => {
    const path = ["driver", "options", "bindings", index]
    if (ownFields.includes(binding.to)) {
      return [{ path: [...path, "to"], message: `must not be a field that the driver sends: ${ownFields.join(", ")}` }]
    }
    return isBound([binding], "images") || boundImages([binding]).size > 0
      ? [{ path: [...path, "from"], message: `must not be an input image, which is sent as ${imageField}` }]
      : []
  })

/** Returns the seed of a request: its own, or one from 0 to 2^32 - 1 that depends only on its id. */
export const seedOf = ({ id, seed }: GenerationRequest): number =>
  seed ?? createHash("sha256").update(id).digest().readUInt32BE(0)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns a problem if the model allows more input images than the bindings pass. */
const imageBindingProblems = (model: ServedModel, bindings: ReadonlyArray<Binding>): ReadonlyArray<Problem> => {
  const bound = boundImages(bindings).size
  return model.max_reference_images <= bound || isBound(bindings, "images") ? [] : [{
    path: ["max_reference_images"],
    message: `must be at most ${bound}, the number of input images that have a binding`
  }]
}

const imageSource = /^image_[1-9]\d?$/

const sourcesOf = ({ from }: Binding): ReadonlyArray<string> => typeof from === "string" ? [from] : from

const valuesOf = (request: GenerationRequest, images: ReadonlyArray<Schema.Json>): ReadonlyMap<string, Schema.Json> =>
  new Map<string, Schema.Json>([
    ...Object.entries(request.params),
    ...images.map((image, index): [string, Schema.Json] => [`image_${index + 1}`, image]),
    ...(images.length > 0 ? [["images", images] as const] : []),
    ["prompt", request.prompt],
    ["seed", seedOf(request)]
  ])

const valueOf = (binding: Binding, values: ReadonlyMap<string, Schema.Json>): Schema.Json | undefined => {
  const sources = sourcesOf(binding).map((source) => values.get(source) ?? undefined)
  if (sources.includes(undefined)) return undefined
  if (binding.values !== undefined) return own(binding.values, sources.map(String).join(" "))
  const [value] = sources
  return typeof value === "number" ? value * (binding.multiply ?? 1) + (binding.add ?? 0) : value
}

const own = (record: Readonly<Record<string, Schema.Json>>, key: string) =>
  Object.hasOwn(record, key) ? record[key] : undefined

const problemsOf = (model: ServedModel, binding: Binding): ReadonlyArray<Problem> => {
  const sources = sourcesOf(binding)
  const unknown = sources.filter((source) => !isSource(model, source))
  if (unknown.length > 0) {
    return [{
      path: ["from"],
      message: `must be of ${sourceNames(model).join(", ")}; the model has no ${unknown.join(", ")}`
    }]
  }
  return binding.values === undefined ? plainProblems(model, binding) : tableProblems(model, binding, binding.values)
}

const isSource = (model: ServedModel, source: string): boolean => sourceNames(model).includes(source)

const sourceNames = ({ max_reference_images, params_schema }: ServedModel): ReadonlyArray<string> => [
  "prompt",
  "seed",
  ...(max_reference_images > 0 ? ["images"] : []),
  ...Array.from({ length: max_reference_images }, (_, index) => `image_${index + 1}`),
  ...params_schema.map(({ name }) => name)
]

const plainProblems = (model: ServedModel, binding: Binding): ReadonlyArray<Problem> => {
  const [source = "", ...others] = sourcesOf(binding)
  if (others.length > 0) return [{ path: ["values"], message: "must be given if there are several sources" }]
  const isScaled = binding.multiply !== undefined || binding.add !== undefined
  const isNumber = source === "seed" || paramOf(model, source)?.type === "int"
  return isScaled && !isNumber
    ? [{ path: ["from"], message: "must be an int parameter or seed if there is multiply or add" }]
    : []
}

const tableProblems = (
  model: ServedModel,
  binding: Binding,
  table: Readonly<Record<string, Schema.Json>>
): ReadonlyArray<Problem> => {
  if (binding.multiply !== undefined || binding.add !== undefined) {
    return [{ path: ["values"], message: "must be absent if there is multiply or add" }]
  }
  const params = sourcesOf(binding).map((source) => allowedOf(paramOf(model, source)))
  if (!params.every((values) => values !== undefined)) {
    return [{ path: ["from"], message: "must be parameters with a list or range of values if there is values" }]
  }
  if (params.reduce((count, values) => count * values.length, 1) > combinationsMax) {
    return [{ path: ["from"], message: `must have at most ${combinationsMax} combinations of values` }]
  }
  const missing = combinations(params).filter((key) => !Object.hasOwn(table, key))
  return missing.length === 0 ? [] : [{ path: ["values"], message: `must have the keys ${missing.join(", ")}` }]
}

/** Combinations of parameter values that one binding may translate. */
const combinationsMax = 1024

const paramOf = ({ params_schema }: ServedModel, source: string): ServedParam | undefined =>
  params_schema.find(({ name }) => name === source)

/** Returns every value of a parameter, or `undefined` if there is no list or range of them. */
const allowedOf = (param: ServedParam | undefined): ReadonlyArray<ParamValue> | undefined => {
  if (param?.type === "boolean") return [false, true]
  if (param?.values !== undefined) return param.values
  const { max = Infinity, min = 0 } = param ?? {}
  return max - min < combinationsMax ? Array.from({ length: max - min + 1 }, (_, index) => min + index) : undefined
}

const combinations = (params: ReadonlyArray<ReadonlyArray<ParamValue>>): ReadonlyArray<string> =>
  params.reduce<ReadonlyArray<string>>(
    (keys, values, index) =>
      keys.flatMap((key) => values.map((value) => index === 0 ? String(value) : `${key} ${value}`)),
    [""]
  )
