/** The dialog that changes the budget of an API key. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { changeBudget, keysQuery, type Owner } from "../../api/manage.ts"
import { problemOf } from "../../api/problem.ts"
import { queryClient } from "../../api/queries.ts"
import type { ApiKey } from "../../api/types.ts"
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
  const save = useMutation({
    mutationFn: () => changeBudget(owner, apiKey.id, change),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: keysQuery(owner).queryKey })
      onClose()
    }
  })
  return (
    <FormDialog
      title={`Budget of ${apiKey.name}`}
      about="What jobs of the key can cost per UTC day and month. The keys that it replaced share the budget. It applies within 5 seconds."
      submit="Change budget"
      change={save}
      invalid={Object.keys(change).length === 0}
      onClose={onClose}
      onSubmit={() => save.mutate()}
    >
      <BudgetFields budget={budget} issues={problemOf(save.error).issues} onChange={setBudget} />
    </FormDialog>
  )
}
