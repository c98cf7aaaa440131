/** The dialog that changes the budget of an API key. */
import { useState } from "react"
import { changeKey, keysQuery, type Owner } from "../../api/manage.ts"
import { problemOf } from "../../api/problem.ts"
import type { ApiKey } from "../../api/types.ts"
import { useChange } from "../../api/useChange.ts"
import { FormDialog } from "../../components/Dialog.tsx"
import { budgetOf, changeOf } from "./budget.ts"
import { BudgetFields } from "./BudgetFields.tsx"

/** Shows the limits of a key, and changes those that differ. */
export const BudgetDialog = ({ apiKey, onClose, owner }: {
  readonly owner: Owner
  readonly apiKey: ApiKey
  readonly onClose: () => void
}) => {
  const [budget, setBudget] = useState(() => budgetOf(apiKey.budget))
  const change = changeOf(apiKey.budget, budget)
  const save = useChange(
    () => changeKey(owner, apiKey.id, { budget: change }),
    [keysQuery(owner).queryKey],
    onClose
  )
  return (
    <FormDialog
      title={`Budget of ${apiKey.name}`}
      about="What jobs of the key can cost per UTC day and month. The keys that it replaced share the budget. It applies within 5 seconds."
      submit="Change budget"
      change={save}
      invalid={Object.keys(change).length === 0}
      onClose={onClose}
    >
      <BudgetFields
        budget={budget}
        maximum={owner === null ? apiKey.budget_max : undefined}
        issues={problemOf(save.error).issues}
        onChange={setBudget}
      />
    </FormDialog>
  )
}
