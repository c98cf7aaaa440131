/** Controls of parameters, chosen by the model's schema. */
import type { Model } from "../../api/types.ts"
import { Checkbox, Field, SelectField } from "../../components/Field.tsx"
import { Segmented } from "../../components/Segmented.tsx"
import type { Value } from "./request.ts"

/** A parameter that a model accepts. */
export type Parameter = NonNullable<Model["params_schema"]>[number]

/** The name of a parameter for people: `aspect_ratio` is `Aspect ratio`. */
const labelOf = (name: string) => name.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase())

/** The control of one parameter. A parameter with a single value has none. */
export const ParameterControl = ({ error, onChange, param, value }: {
  readonly param: Parameter
  readonly value: Value | undefined
  readonly error: string | undefined
  readonly onChange: (value: Value) => void
}) => {
  const label = labelOf(param.name)
  const values = (param.values ?? []) as ReadonlyArray<Value>
  if (param.type === "boolean") {
    return <Checkbox label={label} checked={value === true} onChange={(event) => onChange(event.target.checked)} />
  }
  if (values.length === 0) {
    return (
      <Range label={label} param={param} value={Number(value ?? param.min ?? 0)} error={error} onChange={onChange} />
    )
  }
  const isRatio = values.every((one) => /^\d+:\d+$/.test(String(one)))
  if (values.length > 4 && !isRatio) {
    return (
      <SelectField
        label={label}
        error={error}
        value={String(value)}
        options={values.map((one) => ({ value: String(one), label: String(one) }))}
        onChange={(text) => {
          const chosen = values.find((one) => String(one) === text)
          if (chosen !== undefined) onChange(chosen)
        }}
      />
    )
  }
  return (
    <div className="space-y-1.5">
      <Segmented
        label={label}
        value={value}
        onChange={onChange}
        options={values.map((one) => ({
          value: one,
          label: isRatio ? <Ratio text={String(one)} /> : String(one)
        }))}
      />
      {error !== undefined && <p className="text-xs text-danger">{error}</p>}
    </div>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Range = ({ error, label, onChange, param, value }: {
  readonly label: string
  readonly param: Parameter
  readonly value: number
  readonly error: string | undefined
  readonly onChange: (value: number) => void
}) => {
  const unit = param.name === "duration" ? " s" : ""
  const limits = { min: param.min, max: param.max }
  return (
    <Field
      label={label}
      aside={param.min === undefined || param.max === undefined ? undefined : `${param.min} to ${param.max}${unit}`}
      error={error}
    >
      {(ids) => (
        <div className="flex items-center gap-3">
          {param.min !== undefined && param.max !== undefined && (
            <input
              type="range"
              aria-label={`${label}, slider`}
              className="h-6 min-w-0 flex-1 accent-ink"
              {...limits}
              value={value}
              onChange={(event) => onChange(event.target.valueAsNumber)}
            />
          )}
          <input
            {...ids}
            {...limits}
            type="number"
            className="control !w-20 tabular-nums"
            value={value}
            onChange={(event) => {
              if (!Number.isNaN(event.target.valueAsNumber)) onChange(event.target.valueAsNumber)
            }}
          />
        </div>
      )}
    </Field>
  )
}

const Ratio = ({ text }: { readonly text: string }) => {
  const [width = 1, height = 1] = text.split(":").map(Number)
  const scale = 15 / Math.max(width, height)
  return (
    <span className="flex flex-col items-center gap-1.5 py-1">
      <span className="grid h-4 place-items-center">
        <span
          className="block rounded-[2px] border-[1.5px] border-current"
          style={{ width: width * scale, height: height * scale }}
        />
      </span>
      <span className="text-xs tabular-nums">{text}</span>
    </span>
  )
}
