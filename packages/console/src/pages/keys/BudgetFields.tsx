/** The limits of an API key. */
import { TextField } from "../../components/Field.tsx"

const limits = [
  ["credits_per_day", "Credits per day"],
  ["credits_per_month", "Credits per month"],
  ["jobs_per_day", "Jobs per day"],
  ["jobs_per_month", "Jobs per month"]
] as const

/** The limits that are set. Days and months are UTC. */
export type Budget = { readonly [K in typeof limits[number][0]]?: number }

/** The limits, each optional. */
export const BudgetFields = ({ budget, issues, onChange }: {
  readonly budget: Budget
  readonly issues: ReadonlyMap<string, string>
  readonly onChange: (budget: Budget) => void
}) => (
  <details className="rounded-lg border border-line px-3.5 py-2.5">
    <summary className="cursor-pointer text-sm font-medium">Limit what it can spend</summary>
    <div className="grid grid-cols-2 gap-4 pt-3 pb-1">
      {limits.map(([name, label]) => (
        <TextField
          key={name}
          label={label}
          type="number"
          min={0}
          step={1}
          placeholder="No limit"
          value={budget[name] ?? ""}
          error={issues.get(`budget.${name}`)}
          onChange={({ target: { valueAsNumber } }) => {
            const { [name]: _, ...others } = budget
            onChange(Number.isNaN(valueAsNumber) ? others : { ...others, [name]: valueAsNumber })
          }}
        />
      ))}
    </div>
  </details>
)
