/** Checks the parameters of a job against its model, and fills in defaults. */
import { Result } from "effect"
import type { Issue } from "./Issue.ts"
import * as Model from "./Model.ts"

/** The parameters of a job with defaults filled in. */
export interface Resolved {
  readonly kind: Model.Kind
  readonly mode: Model.Mode
  readonly prompt: string
  /** Values of the parameters of the model, without prompt, mode and images. */
  readonly params: Model.ParamValues
}

/** Names that every job has. A model cannot define parameters with these names. */
export const reservedNames: ReadonlyArray<string> = ["prompt", "mode", "images"]

/** Maximum number of issues in a result. The last one then states how many more exist. */
export const issuesMax = 100

/**
 * Checks the `params` of a request, which can be any JSON. Fails with all problems, with
 * paths that start at `params`. Of images it checks only the number.
 */
export const resolve = (model: Model.Model, params: unknown): Result.Result<Resolved, ReadonlyArray<Issue>> => {
  if (!isRecord(params)) return failure([], "must be an object")
  const checked = {
    names: checkNames(model, params),
    prompt: checkPrompt(model, own(params, "prompt")),
    images: checkImages(model, own(params, "images")),
    mode: checkMode(model, own(params, "mode"), countImages(own(params, "images"))),
    params: checkValues(model, params)
  }
  const issues = Object.values(checked).flatMap((result: Checked<unknown>) =>
    Result.isFailure(result) ? result.failure : []
  )
  return issues.length > 0
    ? Result.fail(capped(issues))
    : Result.map(Result.all(checked), ({ mode, params, prompt }) => ({ kind: model.kind, mode, prompt, params }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Checked<A> = Result.Result<A, ReadonlyArray<Issue>>

type Params = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Params =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns an own property, since names such as `constructor` are inherited. */
const own = (params: Params, name: string): unknown => Object.hasOwn(params, name) ? params[name] : undefined

const failure = (path: Issue["path"], message: string): Checked<never> => Result.fail([{ path, message }])

const checkNames = (model: Model.Model, params: Params): Checked<void> => {
  const known = new Set([...reservedNames, ...model.params_schema.map(({ name }) => name)])
  const unknown = Object.keys(params).filter((name) => !known.has(name))
  return unknown.length === 0
    ? Result.void
    : Result.fail(
      unknown.map((name) => ({ path: [name], message: `is unknown; this model accepts ${list([...known])}` }))
    )
}

const checkPrompt = (model: Model.Model, prompt: unknown): Checked<string> => {
  if (typeof prompt !== "string") return failure(["prompt"], "must be a string")
  if (prompt.trim() === "") return failure(["prompt"], "must not be empty")
  if (!prompt.isWellFormed() || prompt.includes("\0")) {
    return failure(["prompt"], "must be Unicode text without the character U+0000")
  }
  return isLongerThan(prompt, model.max_prompt_chars)
    ? failure(["prompt"], `must have at most ${model.max_prompt_chars} characters`)
    : Result.succeed(prompt)
}

/** Counts code points only if the number of code units does not decide. */
const isLongerThan = (text: string, codePointsMax: number): boolean =>
  text.length > codePointsMax && (text.length > 2 * codePointsMax || Array.from(text).length > codePointsMax)

const countImages = (images: unknown): number => Array.isArray(images) ? images.length : 0

const checkImages = (model: Model.Model, images: unknown): Checked<void> => {
  if (images !== undefined && images !== null && !Array.isArray(images)) return failure(["images"], "must be a list")
  if (countImages(images) <= model.max_reference_images) return Result.void
  return model.max_reference_images === 0
    ? failure(["images"], "must be absent: this model accepts no images")
    : failure(["images"], `must have at most ${model.max_reference_images} images`)
}

const checkMode = (model: Model.Model, mode: unknown, count: number): Checked<Model.Mode> => {
  // `checkImages` reports the images of a model that accepts none.
  const images = model.max_reference_images === 0 ? 0 : count
  const isImplied = mode === undefined
  const asked = isImplied ? Model.modeOf(model.kind, images > 0) : mode
  const found = model.capabilities.find((capability) => capability === asked)
  if (found === undefined) {
    return isImplied
      ? failure(["images"], "must have an image")
      : failure(["mode"], `must be one of ${list(model.capabilities)}`)
  }
  const { takesImages } = Model.modes[found]
  if (takesImages && images === 0) return failure(["images"], `must have an image in mode ${found}`)
  if (!takesImages && images > 0) return failure(["images"], `must be absent in mode ${found}`)
  return Result.succeed(found)
}

const checkValues = (model: Model.Model, params: Params): Checked<Model.ParamValues> => {
  const issues: Array<Issue> = []
  const values: Array<readonly [name: string, value: Model.ParamValue]> = []
  for (const param of model.params_schema) {
    const given = own(params, param.name)
    const value = given === undefined ? param.default : given
    if (value === undefined) continue
    const checked = Model.checkValue(param, value)
    if (Result.isSuccess(checked)) values.push([param.name, checked.success])
    else issues.push({ path: [param.name], message: checked.failure })
  }
  return issues.length > 0 ? Result.fail(issues) : Result.succeed(Object.fromEntries(values))
}

const list = (names: ReadonlyArray<string>): string => names.join(", ")

const capped = (issues: ReadonlyArray<Issue>): ReadonlyArray<Issue> =>
  issues.length <= issuesMax
    ? issues
    : [...issues.slice(0, issuesMax - 1), { path: [], message: `has ${issues.length - issuesMax + 1} more problems` }]
