/** The dialog that replaces an API key. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { type Owner, rollKey } from "../../api/manage.ts"
import type { ApiKey, NewApiKey } from "../../api/types.ts"
import { FormDialog } from "../../components/Dialog.tsx"
import { Segmented } from "../../components/Segmented.tsx"

const overlaps = [
  { value: 0, label: "Now" },
  { value: 3_600, label: "In 1 hour" },
  { value: 86_400, label: "In 24 hours" },
  { value: 604_800, label: "In 7 days" }
]

/** Creates a key with the same restrictions, and chooses when the former one ends. */
export const RollKeyDialog = ({ apiKey, onClose, onCreated, owner }: {
  readonly owner: Owner
  readonly apiKey: ApiKey
  readonly onClose: () => void
  readonly onCreated: (key: NewApiKey) => void
}) => {
  const [overlap, setOverlap] = useState(86_400)
  const roll = useMutation({ mutationFn: () => rollKey(owner, apiKey.id, overlap), onSuccess: onCreated })
  return (
    <FormDialog
      title={`Roll ${apiKey.name}`}
      about="Creates a new key with the same name and restrictions."
      submit="Roll key"
      change={roll}
      onClose={onClose}
    >
      <Segmented label="The former key ends" value={overlap} onChange={setOverlap} options={overlaps} />
    </FormDialog>
  )
}
