/** The table of members and its dialogs, for accounts and operators. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { changeMember, createMemberLink, membersQuery, type Owner } from "../../api/manage.ts"
import { sessionQuery } from "../../api/queries.ts"
import type { Member } from "../../api/types.ts"
import { useChange } from "../../api/useChange.ts"
import { Badge } from "../../components/Badge.tsx"
import { Button } from "../../components/Button.tsx"
import { Card } from "../../components/Card.tsx"
import { FormDialog } from "../../components/Dialog.tsx"
import { Icon } from "../../components/Icon.tsx"
import { LoadedTable } from "../../components/LoadedTable.tsx"
import { Problem } from "../../components/Problem.tsx"
import { SecretDialog } from "../../components/Secret.tsx"
import { Empty } from "../../components/States.tsx"
import type { Column } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { InviteDialog } from "./InviteDialog.tsx"
import { RemoveDialog } from "./RemoveDialog.tsx"

/** A sign-in link of a member. */
interface Link {
  readonly email: string
  readonly url: string
}

/** The dialog that is open. */
type Open =
  | { readonly dialog: "invite" }
  | { readonly dialog: "role" | "remove"; readonly member: Member }
  | { readonly dialog: "link"; readonly link: Link }

/** Members, newest first. */
export const MemberManager = ({ canChange, owner }: { readonly owner: Owner; readonly canChange: boolean }) => {
  const query = useQuery(membersQuery(owner))
  const self = useQuery(sessionQuery).data?.member?.id
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const showLink = (link: Link) => setOpen({ dialog: "link", link })
  const createLink = useChange(
    async ({ email, id }: Member) => ({ email, url: (await createMemberLink(owner, id)).url }),
    [membersQuery(owner).queryKey],
    showLink
  )
  const invite = canChange && (
    <Button size="sm" variant="primary" onClick={() => setOpen({ dialog: "invite" })}>
      <Icon name="plus" />Invite
    </Button>
  )
  return (
    <Card title="Members" actions={query.data?.data.length === 0 ? undefined : invite} flush>
      {createLink.isError && (
        <div className="px-5 pb-4">
          <Problem title="The link was not created" error={createLink.error} />
        </div>
      )}
      <LoadedTable
        label="Members"
        query={query}
        rowKey={({ id }) => id}
        columns={canChange ? [...columns, actions(self, setOpen, createLink.mutate)] : columns}
        empty={<Empty title="No members" action={invite}>Invite people to work with this account.</Empty>}
      />
      {open?.dialog === "invite" && <InviteDialog owner={owner} onClose={close} onInvited={showLink} />}
      {open?.dialog === "role" && <RoleDialog owner={owner} member={open.member} onClose={close} />}
      {open?.dialog === "remove" && <RemoveDialog owner={owner} member={open.member} onClose={close} />}
      {open?.dialog === "link" && <LinkDialog link={open.link} onClose={close} />}
    </Card>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const roleNames = { member: "Member", viewer: "Viewer" } as const

const otherRole = ({ role }: Member): Member["role"] => role === "member" ? "viewer" : "member"

const columns: ReadonlyArray<Column<Member>> = [
  {
    title: "E-mail",
    className: "min-w-48",
    cell: ({ email }) => <span className="font-medium break-words">{email}</span>
  },
  { title: "Role", cell: ({ role }) => roleNames[role] },
  {
    title: "Status",
    cell: ({ status }) => status === "active" ? <Badge tone="positive">Active</Badge> : <Badge>Invited</Badge>
  },
  { title: "Added", cell: ({ created_at }) => <Time at={created_at} /> }
]

/** `self` is the member who is signed in, who cannot lock themselves out by mistake. */
const actions = (
  self: string | undefined,
  open: (what: Open) => void,
  createLink: (member: Member) => void
): Column<Member> => ({
  title: <span className="sr-only">Actions</span>,
  isNumber: true,
  cell: (member) =>
    member.id === self ? <Badge>You</Badge> : (
      <span className="inline-flex gap-1.5">
        <Button size="sm" aria-label={`Create a sign-in link of ${member.email}`} onClick={() => createLink(member)}>
          Sign-in link
        </Button>
        <Button
          size="sm"
          aria-label={`Make ${member.email} a ${otherRole(member)}`}
          onClick={() => open({ dialog: "role", member })}
        >
          Make {otherRole(member)}
        </Button>
        <Button
          size="sm"
          variant="danger"
          aria-label={`Remove ${member.email}`}
          onClick={() => open({ dialog: "remove", member })}
        >
          Remove
        </Button>
      </span>
    )
})

const RoleDialog = ({ member, onClose, owner }: {
  readonly owner: Owner
  readonly member: Member
  readonly onClose: () => void
}) => {
  const role = otherRole(member)
  const change = useChange(
    () => changeMember(owner, member.id, role),
    [membersQuery(owner).queryKey],
    onClose
  )
  return (
    <FormDialog
      title={`Make ${member.email} a ${role}?`}
      submit={`Make ${role}`}
      change={change}
      onClose={onClose}
    >
      <p className="text-muted">
        {role === "viewer" ? "Viewers can read everything, and change nothing." : "Members can change the account."}
        {" "}
        The person is signed out and has to sign in again.
      </p>
    </FormDialog>
  )
}

const LinkDialog = ({ link: { email, url }, onClose }: { readonly link: Link; readonly onClose: () => void }) => (
  <SecretDialog
    title={`Sign-in link of ${email}`}
    about="Send it to the person. Whoever opens it is signed in. It works once, within 10 minutes."
    what="link"
    secret={url}
    examples={[]}
    onClose={onClose}
  />
)
