/** The limits of an API key. */
import type { ApiKey } from "../../api/types.ts"
import { TextField } from "../../components/Field.tsx"
import { count } from "../../format/number.ts"
import { type Budget, limits } from "./budget.ts"

/** Fields for the limits, each optional unless `maximum` has it, which an operator has set. */
export const BudgetFields = ({ budget, issues, maximum, onChange }: {
  readonly budget: Budget
  readonly maximum?: ApiKey["budget_max"] | undefined
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
        {...boundsOf(maximum?.[name] ?? null)}
        value={budget[name] ?? ""}
        error={issues.get(`budget.${name}`)}
        onChange={(text) => {
          const { [name]: _, ...others } = budget
          onChange(text === "" ? others : { ...others, [name]: Number(text) })
        }}
      />
    ))}
  </div>
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const boundsOf = (maximum: number | null) =>
  maximum === null
    ? { placeholder: "No limit" }
    : { max: maximum, required: true, help: `At most ${count(maximum)}, set by an operator.` }
