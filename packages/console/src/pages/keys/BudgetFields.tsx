/** The limits of an API key. */
import { TextField } from "../../components/Field.tsx"
import { type Budget, limits } from "./budget.ts"

/** Fields for the limits, each optional. */
export const BudgetFields = ({ budget, issues, onChange }: {
  readonly budget: Budget
  readonly issues: ReadonlyMap<string, string>
  readonly onChange: (budget: Budget) => void
}) => (
  <div className="grid grid-cols-2 gap-4">
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
)
