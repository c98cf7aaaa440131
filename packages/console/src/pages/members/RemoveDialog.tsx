/** The dialog that removes a member. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { keysQuery, membersQuery, type Owner, removeMember } from "../../api/manage.ts"
import type { Member } from "../../api/types.ts"
import { useChange } from "../../api/useChange.ts"
import { FormDialog } from "../../components/Dialog.tsx"
import { Checkbox } from "../../components/Field.tsx"
import { plural } from "../../format/number.ts"

/** Offers to revoke the API keys that the member has created. */
export const RemoveDialog = ({ member: { email, id }, onClose, owner }: {
  readonly owner: Owner
  readonly member: Member
  readonly onClose: () => void
}) => {
  const [revokesKeys, setRevokesKeys] = useState(false)
  const { data: keys } = useQuery(keysQuery(owner))
  const created = keys?.data.filter(({ created_by, revoked_at }) => created_by === id && revoked_at === null) ?? []
  const remove = useChange(
    () => removeMember(owner, id, revokesKeys),
    [membersQuery(owner).queryKey, keysQuery(owner).queryKey],
    onClose
  )
  return (
    <FormDialog
      title={`Remove ${email}?`}
      submit="Remove member"
      tone="danger"
      change={remove}
      onClose={onClose}
    >
      <p className="text-muted">The person is signed out at once. Jobs and results stay.</p>
      {created.length > 0 && (
        <Checkbox
          label={`Also revoke ${plural(created.length, "API key")} that this member created`}
          help={created.map(({ name }) => name).join(", ")}
          checked={revokesKeys}
          onChange={(event) => setRevokesKeys(event.target.checked)}
        />
      )}
    </FormDialog>
  )
}
