/** The page of the operators. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../../api/call.ts"
import type { ResponseOf } from "../../../api/contract.ts"
import { queryClient } from "../../../api/queries.ts"
import { Badge } from "../../../components/Badge.tsx"
import { Button } from "../../../components/Button.tsx"
import { Card, Page } from "../../../components/Card.tsx"
import { FormDialog } from "../../../components/Dialog.tsx"
import { SelectField, TextField } from "../../../components/Field.tsx"
import { Icon } from "../../../components/Icon.tsx"
import { LoadedTable } from "../../../components/LoadedTable.tsx"
import { SecretDialog } from "../../../components/Secret.tsx"
import { Empty } from "../../../components/States.tsx"
import type { Column } from "../../../components/Table.tsx"
import { MaybeTime, Time } from "../../../components/Time.tsx"
import { ConfirmButton } from "../Confirm.tsx"
import { usePermits } from "../permits.ts"
import { operatorsQuery } from "../queries.ts"
import { SignInLinkButton } from "../SignInLink.tsx"
import { SessionsDialog } from "./SessionsDialog.tsx"

type Operator = ResponseOf<"GET /admin/v1/operators">["data"][number]
type NewOperator = ResponseOf<"POST /admin/v1/operators">

const roles = [
  { value: "auditor", label: "Auditor: reads everything" },
  { value: "support", label: "Support: also cancels jobs, suspends accounts" },
  { value: "operator", label: "Operator: everything except operators" },
  { value: "owner", label: "Owner: everything" }
] as const

/** The operator whose sessions are shown. */
type Opened = Pick<Operator, "id" | "name">

/** The page. */
export const Operators = () => {
  const canChange = usePermits("owner")
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<NewOperator | null>(null)
  const [opened, setOpened] = useState<Opened | null>(null)
  const show = (operator: NewOperator) => {
    setCreating(false)
    setCreated(operator)
    void queryClient.invalidateQueries({ queryKey: ["operator", "operators"] })
  }
  return (
    <Page title="Operators" about="People and programs that use the operator API, each with its own token and role.">
      <Card
        title="Operators"
        actions={
          <>
            <Button
              size="sm"
              onClick={() => setOpened({ id: "owner", name: "the owner's token" })}
            >
              Sessions of the owner
            </Button>
            {canChange && (
              <Button
                size="sm"
                variant="primary"
                onClick={() => setCreating(true)}
              >
                <Icon name="plus" />Create operator
              </Button>
            )}
          </>
        }
        flush
      >
        <LoadedTable
          label="Operators"
          query={useQuery(operatorsQuery)}
          rowKey={({ id }) =>
            id}
          columns={[...columns, sessionsColumn(setOpened), ...(canChange ? [actions(show)] : [])]}
          empty={<Empty title="No operators">Until you create one, only the owner's token can sign in.</Empty>}
        />
      </Card>
      {isCreating && (
        <CreateDialog onClose={() => setCreating(false)} onCreated={show} />
      )}
      {opened !== null && <SessionsDialog {...opened} canChange={canChange} onClose={() => setOpened(null)} />}
      {created !== null && (
        <SecretDialog
          title={`Token of ${created.name}`}
          what="token"
          secret={created.token}
          examples={[{
            label: "Try it",
            text: `curl ${location.origin}/admin/v1/accounts \\\n  -H "Authorization: Bearer ${created.token}"`
          }]}
          onClose={() => setCreated(null)}
        />
      )}
    </Page>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const CreateDialog = ({ onClose, onCreated }: {
  readonly onClose: () => void
  readonly onCreated: (operator: NewOperator) => void
}) => {
  const [name, setName] = useState("")
  const [role, setRole] = useState<Operator["role"]>("support")
  const create = useMutation({
    mutationFn: () => call("POST /admin/v1/operators", { payload: { name: name.trim(), role } }),
    onSuccess: onCreated
  })
  return (
    <FormDialog
      title="Create an operator"
      submit="Create operator"
      change={create}
      invalid={name.trim() === ""}
      onClose={onClose}
    >
      <TextField label="Name" required maxLength={100} value={name} onChange={setName} />
      <SelectField label="Role" options={roles} value={role} onChange={setRole} />
    </FormDialog>
  )
}

const columns: ReadonlyArray<Column<Operator>> = [
  {
    title: "Name",
    className: "min-w-44",
    cell: ({ name, prefix }) => (
      <>
        <span className="block font-medium break-words">{name}</span>
        <span className="block font-mono text-xs text-muted">{prefix}…</span>
      </>
    )
  },
  { title: "Role", cell: ({ role }) => role },
  {
    title: "Status",
    cell: ({ revoked_at }) => revoked_at === null ? <Badge tone="positive">Active</Badge> : <Badge>Revoked</Badge>
  },
  { title: "Last used", cell: ({ last_used_at }) => <MaybeTime at={last_used_at} otherwise="never" /> },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Expires", cell: ({ expires_at }) => <MaybeTime at={expires_at} otherwise="never" /> }
]

const sessionsColumn = (open: (operator: Opened) => void): Column<Operator> => ({
  title: <span className="sr-only">Sessions</span>,
  isNumber: true,
  cell: ({ id, name }) => (
    <Button size="sm" aria-label={`Sessions of ${name}`} onClick={() => open({ id, name })}>Sessions</Button>
  )
})

const actions = (show: (operator: NewOperator) => void): Column<Operator> => ({
  title: <span className="sr-only">Actions</span>,
  isNumber: true,
  cell: ({ id, name, revoked_at }) =>
    revoked_at === null && (
      <span className="inline-flex gap-1.5">
        <SignInLinkButton
          who={name}
          create={() => call("POST /admin/v1/operators/:id/sign-in-links", { params: { id } })}
        />
        <ConfirmButton
          label="Rotate token"
          title={`Rotate the token of ${name}?`}
          tone="primary"
          act={async () => show(await call("POST /admin/v1/operators/:id/rotate", { params: { id }, payload: {} }))}
        >
          The former token works for another day.
        </ConfirmButton>
        <ConfirmButton
          label="Revoke"
          title={`Revoke ${name}?`}
          act={() => call("DELETE /admin/v1/operators/:id", { params: { id } })}
        >
          Its tokens are rejected at once.
        </ConfirmButton>
      </span>
    )
})
