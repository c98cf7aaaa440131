/** The form of the request. */
import type { ClipboardEvent, ReactNode } from "react"
import type { Account, Model, Plan } from "../../api/types.ts"
import { Badge } from "../../components/Badge.tsx"
import { Field } from "../../components/Field.tsx"
import { Segmented } from "../../components/Segmented.tsx"
import { count, plural } from "../../format/number.ts"
import { addReferences, changeDraft, chooseValue } from "./draft.ts"
import { ParameterControl } from "./ParameterControl.tsx"
import { lowestPrice } from "./price.ts"
import { References } from "./References.tsx"
import { type Draft, promptLength, type Value } from "./request.ts"

/** The form. `footer` has the price and the button. */
export const RequestForm = ({ account, draft, footer, issues, model, models, onSubmit, params, plan }: {
  readonly models: ReadonlyArray<Model>
  readonly model: Model
  readonly draft: Draft
  readonly params: Readonly<Record<string, Value>>
  readonly plan: Plan
  readonly account: Account | undefined
  readonly issues: ReadonlyMap<string, string>
  readonly footer: ReactNode
  readonly onSubmit: () => void
}) => (
  <form
    aria-label="Request"
    className="flex flex-col border-line bg-surface max-xl:border-b xl:sticky xl:top-0 xl:h-dvh xl:border-r"
    onSubmit={(event) => {
      event.preventDefault()
      onSubmit()
    }}
    onPaste={(event: ClipboardEvent) => addReferences([...event.clipboardData.files], model.max_reference_images)}
    onKeyDown={(event) => {
      if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) onSubmit()
    }}
  >
    <div className="flex-1 space-y-5 overflow-y-auto p-5">
      <h1 className="text-lg font-semibold tracking-tight">Playground</h1>
      <ModelField model={model} models={models} />
      <PromptField model={model} prompt={draft.prompt} error={issues.get("prompt")} />
      {model.max_reference_images > 0 && (
        <References max={model.max_reference_images} items={draft.references} error={issues.get("images")} />
      )}
      {(model.params_schema ?? []).filter(({ values }) => values?.length !== 1).map((param) => (
        <ParameterControl
          key={`${model.id} ${param.name}`}
          param={param}
          value={params[param.name]}
          error={issues.get(param.name)}
          onChange={(value) => chooseValue(param.name, value)}
        />
      ))}
      <ChargeTo model={model} plan={plan} account={account} />
    </div>
    <div className="space-y-3 border-t border-line bg-surface p-4 max-lg:fixed max-lg:inset-x-0 max-lg:bottom-0 max-lg:z-10 max-lg:shadow-pop lg:p-5">
      {footer}
    </div>
  </form>
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ModelField = ({ model, models }: { readonly model: Model; readonly models: ReadonlyArray<Model> }) => {
  const price = lowestPrice(model)
  return (
    <Field
      label="Model"
      aside={
        <span className="flex items-center gap-2">
          {model.status === "degraded" && <Badge tone="warning">Slower than usual</Badge>}
          {price !== undefined && `${price.varies ? "from " : ""}${plural(price.credits, "credit")} per ${model.kind}`}
        </span>
      }
    >
      {(ids) => (
        <select
          {...ids}
          className="control"
          value={model.id}
          onChange={(event) => changeDraft({ model: event.target.value })}
        >
          {models.map(({ id, name, status }) => (
            <option key={id} value={id} disabled={status === "paused"}>
              {name}
              {status === "paused" ? " (paused)" : ""}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

const PromptField = ({ error, model, prompt }: {
  readonly model: Model
  readonly prompt: string
  readonly error: string | undefined
}) => {
  const length = promptLength(prompt)
  const isTooLong = length > model.max_prompt_chars
  return (
    <Field
      label="Prompt"
      aside={
        <span className={isTooLong ? "font-medium text-danger" : undefined}>
          {count(length)} / {count(model.max_prompt_chars)}
        </span>
      }
      error={isTooLong ? `The prompt is ${plural(length - model.max_prompt_chars, "character")} too long.` : error}
    >
      {(ids) => (
        <textarea
          {...ids}
          rows={5}
          className="control resize-y leading-relaxed"
          placeholder={`Describe the ${model.kind}: subject, setting, light, style.`}
          value={prompt}
          onChange={(event) => changeDraft({ prompt: event.target.value })}
        />
      )}
    </Field>
  )
}

const ChargeTo = ({ account, model, plan }: {
  readonly model: Model
  readonly plan: Plan
  readonly account: Account | undefined
}) => {
  const hasStudio = account?.plans.studio.active !== false
  return (
    <div className="space-y-1.5">
      <Segmented
        label="Charge to"
        value={plan}
        onChange={(plan) => changeDraft({ plan })}
        options={[
          { value: "studio", label: "Studio", disabled: !model.studio_eligible || !hasStudio },
          { value: "credits", label: "Credits" }
        ]}
      />
      {(!model.studio_eligible || !hasStudio) && (
        <p className="text-xs text-muted">
          {hasStudio ? `${model.name} is not part of the Studio plan.` : "The account has no active Studio plan."}
        </p>
      )}
    </div>
  )
}
