/** The request that the form makes. */
import type { Account, CreateGenerationRequest, Model, Plan } from "../../api/types.ts"

/** A value of a parameter. */
export type Value = string | number | boolean

/** An image that a job starts from. */
export interface Reference {
  readonly key: number
  /** An object URL of the file. */
  readonly preview: string
  /** The id of the upload; `null` until it is complete. */
  readonly id: string | null
  /** Why the upload failed. */
  readonly problem: string | null
}

/** The state of the form. */
export interface Draft {
  readonly model: string | null
  readonly prompt: string
  readonly plan: Plan
  readonly chosen: Readonly<Record<string, Value>>
  readonly references: ReadonlyArray<Reference>
  /** The job whose settings the form has, or that it created. */
  readonly job: string | null
}

/** The parameters with the defaults of the model. Values that the model does not accept are replaced by its default. */
export const paramsOf = (
  { params_schema }: Pick<Model, "params_schema">,
  chosen: Draft["chosen"]
): Readonly<Record<string, Value>> =>
  Object.fromEntries((params_schema ?? []).flatMap(({ default: preset, max, min, name, values }) => {
    const value = chosen[name]
    const fits = value !== undefined && (values == null || values.includes(value)) &&
      (typeof value !== "number" || (value >= (min ?? -Infinity) && value <= (max ?? Infinity)))
    const used = fits ? value : preset
    return typeof used === "string" || typeof used === "number" || typeof used === "boolean" ? [[name, used]] : []
  }))

/** The plan group that pays. Models outside of the Studio plan, and accounts without one, pay with credits. */
export const planOf = (model: Model, wanted: Plan, account: Account | undefined): Plan =>
  model.studio_eligible && account?.plans.studio.active !== false ? wanted : "credits"

/** The request, and the parameters that determine its price. */
export const requestOf = (
  model: Model,
  draft: Draft,
  plan: Plan
): { readonly request: CreateGenerationRequest; readonly priced: Readonly<Record<string, Value>> } => {
  const params = paramsOf(model, draft.chosen)
  const images = draft.references.slice(0, model.max_reference_images)
    .flatMap(({ id }) => id === null ? [] : [{ upload_id: id }])
  return {
    request: {
      plan,
      model: model.id,
      params: { prompt: draft.prompt, ...params, ...(images.length > 0 ? { images } : {}) }
    },
    priced: { ...params, mode: `${images.length > 0 ? "image" : "text"}_to_${model.kind}` }
  }
}

/** The length of a prompt as the service counts it, in code points. */
export const promptLength = (prompt: string): number => Array.from(prompt).length
