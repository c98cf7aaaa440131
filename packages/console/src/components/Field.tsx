/** Labels, hints and errors of controls. */
import { type ComponentProps, type ReactNode, useId } from "react"
import { names } from "./names.ts"

/** Attributes that connect a control with its label, hint and error. */
export interface ControlIds {
  readonly id: string
  readonly "aria-describedby": string | undefined
  readonly "aria-invalid": boolean
}

/** A labelled control. `aside` stands at the right end of the label, `help` below the control. */
export const Field = ({ aside, children, error, help, label }: {
  readonly label: string
  readonly aside?: ReactNode
  readonly help?: ReactNode
  readonly error?: string | undefined
  readonly children: (ids: ControlIds) => ReactNode
}) => {
  const id = useId()
  const note = error ?? help
  return (
    <div className="space-y-1.5">
      <div className="flex items-baseline justify-between gap-3">
        <label htmlFor={id} className="text-sm font-medium">{label}</label>
        {aside !== undefined && <span className="text-xs text-muted tabular-nums">{aside}</span>}
      </div>
      {children({
        id,
        "aria-describedby": note === undefined ? undefined : `${id}-note`,
        "aria-invalid": error !== undefined
      })}
      {note !== undefined && (
        <p id={`${id}-note`} className={names("text-xs", error === undefined ? "text-muted" : "text-danger")}>{note}</p>
      )}
    </div>
  )
}

/** A labelled text input. `onChange` gets its text. */
export const TextField = (
  { aside, className, error, help, label, onChange, ...props }: Omit<ComponentProps<"input">, "onChange"> & {
    readonly label: string
    readonly aside?: ReactNode
    readonly help?: ReactNode
    readonly error?: string | undefined
    readonly onChange: (text: string) => void
  }
) => (
  <Field label={label} aside={aside} help={help} error={error}>
    {(ids) => (
      <input
        {...ids}
        {...props}
        className={names("control", className)}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
)

/** The part of a field that its form owns: the text, the problem with it, and the reaction to another text. */
export interface FormText {
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (text: string) => void
}

/** A labelled number, which is required. At least 1 by default. */
export const NumberField = ({ min = 1, ...props }: {
  readonly label: string
  readonly min?: number
  /** The number is a multiple of it. Default 1. */
  readonly step?: number
  readonly error?: string | undefined
  readonly value: string
  readonly onChange: (text: string) => void
}) => <TextField type="number" min={min} required {...props} />

/** A labelled e-mail address. */
export const EmailField = (props: FormText & { readonly help?: ReactNode }) => (
  <TextField label="E-mail address" type="email" required maxLength={254} autoComplete="off" {...props} />
)

/** A labelled choice from a list. */
export const SelectField = <T extends string>({ error, help, label, onChange, options, value }: {
  readonly label: string
  readonly help?: ReactNode
  readonly error?: string | undefined
  readonly value: T
  readonly options: ReadonlyArray<{ readonly value: T; readonly label: string }>
  readonly onChange: (value: T) => void
}) => (
  <Field label={label} help={help} error={error}>
    {(ids) => (
      <select
        {...ids}
        className="control"
        value={value}
        onChange={(event) => onChange(options.find(({ value }) => value === event.target.value)?.value ?? value)}
      >
        {options.map(({ label, value }) => <option key={value} value={value}>{label}</option>)}
      </select>
    )}
  </Field>
)

/** A compact choice for filters. Its label is read by screen readers alone. */
export const FilterSelect = <T extends string>({ label, onChange, options, value }: {
  readonly label: string
  readonly value: T | undefined
  readonly options: ReadonlyArray<readonly [value: T, label: string]>
  readonly onChange: (value: T | undefined) => void
}) => (
  <select
    aria-label={label}
    className={names("control !w-auto max-w-48 shrink-0 text-sm", value !== undefined && "border-accent font-medium")}
    value={value ?? ""}
    onChange={(event) => onChange(options.find(([one]) => one === event.target.value)?.[0])}
  >
    <option value="">{label}: all</option>
    {options.map(([one, text]) => <option key={one} value={one}>{text}</option>)}
  </select>
)

/** A labelled checkbox. */
export const Checkbox = ({ help, label, ...props }: ComponentProps<"input"> & {
  readonly label: ReactNode
  readonly help?: ReactNode
}) => (
  <label className="flex items-start gap-2.5 text-sm">
    <input {...props} type="checkbox" className="mt-0.5 size-4 shrink-0 accent-ink" />
    <span>
      <span className="font-medium">{label}</span>
      {help !== undefined && <span className="block text-xs text-muted">{help}</span>}
    </span>
  </label>
)
