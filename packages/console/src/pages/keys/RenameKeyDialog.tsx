/** The dialog that renames an API key. */
import { useState } from "react"
import { changeKey, keysQuery, type Owner } from "../../api/manage.ts"
import { problemOf } from "../../api/problem.ts"
import type { ApiKey } from "../../api/types.ts"
import { useChange } from "../../api/useChange.ts"
import { FormDialog } from "../../components/Dialog.tsx"
import { KeyNameField } from "./KeyNameField.tsx"

/** The name, which people see only. */
export const RenameKeyDialog = ({ apiKey, onClose, owner }: {
  readonly owner: Owner
  readonly apiKey: ApiKey
  readonly onClose: () => void
}) => {
  const [name, setName] = useState(apiKey.name)
  const rename = useChange(
    () => changeKey(owner, apiKey.id, { name: name.trim() }),
    [keysQuery(owner).queryKey],
    onClose
  )
  return (
    <FormDialog
      title={`Rename ${apiKey.name}`}
      about="The key itself and its restrictions do not change."
      submit="Rename key"
      change={rename}
      invalid={name.trim() === "" || name.trim() === apiKey.name}
      onClose={onClose}
    >
      <KeyNameField value={name} onChange={setName} error={problemOf(rename.error).issues.get("name")} />
    </FormDialog>
  )
}
