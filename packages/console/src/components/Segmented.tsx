/** Choice between a few values. */
import { type ReactNode, useId } from "react"
import { names } from "./names.ts"

/** An option of a segmented control. */
export interface SegmentedOption<T> {
  readonly value: T
  readonly label: ReactNode
  readonly disabled?: boolean
}

/** A segmented control. It is a radio group: the arrow keys change the value, and Tab leaves the group. */
export const Segmented = <T extends string | number | boolean>({ hideLabel = false, label, onChange, options, value }: {
  readonly label: string
  readonly hideLabel?: boolean
  readonly value: T | undefined
  readonly options: ReadonlyArray<SegmentedOption<T>>
  readonly onChange: (value: T) => void
}) => {
  const name = useId()
  return (
    <fieldset className="min-w-0">
      <legend className={hideLabel ? "sr-only" : "mb-1.5 text-sm font-medium"}>{label}</legend>
      <div className="grid auto-cols-fr grid-flow-col gap-0.5 rounded-lg border border-line bg-raised p-0.5">
        {options.map((option) => (
          <label
            key={String(option.value)}
            className={names(
              "relative flex min-h-7.5 items-center justify-center gap-1.5 rounded-md px-2.5 py-1 text-sm font-medium whitespace-nowrap transition-colors duration-150",
              "has-focus-visible:outline-2 has-focus-visible:outline-accent [&_svg]:size-4",
              option.disabled === true
                ? "cursor-not-allowed text-faint"
                : option.value === value
                ? "bg-thumb text-ink shadow-card"
                : "text-muted hover:text-ink"
            )}
          >
            <input
              type="radio"
              name={name}
              className="absolute inset-0 appearance-none rounded-md outline-none"
              checked={option.value === value}
              disabled={option.disabled}
              onChange={() => onChange(option.value)}
            />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
