/** The dialog that invites a person. */
import { useState } from "react"
import { inviteMember, membersQuery, type Owner } from "../../api/manage.ts"
import { problemOf } from "../../api/problem.ts"
import type { Member } from "../../api/types.ts"
import { useChange } from "../../api/useChange.ts"
import { FormDialog } from "../../components/Dialog.tsx"
import { EmailField, SelectField } from "../../components/Field.tsx"

const roles: ReadonlyArray<{ readonly value: Member["role"]; readonly label: string }> = [
  { value: "member", label: "Member: can change the account" },
  { value: "viewer", label: "Viewer: can read everything" }
]

/** E-mail address and role. */
export const InviteDialog = ({ onClose, onInvited, owner }: {
  readonly owner: Owner
  readonly onClose: () => void
  readonly onInvited: (link: { readonly email: string; readonly url: string }) => void
}) => {
  const [email, setEmail] = useState("")
  const [role, setRole] = useState<Member["role"]>("member")
  const invite = useChange(
    () => inviteMember(owner, { email: email.trim(), role }),
    [membersQuery(owner).queryKey],
    ({ email, link: { url } }) => onInvited({ email, url })
  )
  return (
    <FormDialog
      title="Invite a person"
      about="You get a sign-in link to send. No e-mail is sent."
      submit="Invite"
      change={invite}
      invalid={email.trim() === ""}
      onClose={onClose}
    >
      <EmailField
        help="With this address, the person can also sign in with an identity provider."
        value={email}
        error={problemOf(invite.error).issues.get("email")}
        onChange={setEmail}
      />
      <SelectField label="Role" options={roles} value={role} onChange={setRole} />
    </FormDialog>
  )
}
