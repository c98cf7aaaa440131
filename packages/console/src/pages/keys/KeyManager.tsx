/** The table of API keys and its dialogs, for accounts and operators. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { keysQuery, type Owner, revokeKey } from "../../api/manage.ts"
import { queryClient } from "../../api/queries.ts"
import type { ApiKey, NewApiKey } from "../../api/types.ts"
import { useChange } from "../../api/useChange.ts"
import { Badge } from "../../components/Badge.tsx"
import { Button, IconButton } from "../../components/Button.tsx"
import { Card } from "../../components/Card.tsx"
import { FormDialog } from "../../components/Dialog.tsx"
import { Icon } from "../../components/Icon.tsx"
import { LoadedTable } from "../../components/LoadedTable.tsx"
import { SecretDialog } from "../../components/Secret.tsx"
import { Empty } from "../../components/States.tsx"
import type { Column } from "../../components/Table.tsx"
import { MaybeTime, Time } from "../../components/Time.tsx"
import { useNow } from "../../components/useNow.ts"
import { count, plural } from "../../format/number.ts"
import { relative } from "../../format/time.ts"
import { BudgetDialog } from "./BudgetDialog.tsx"
import { CreateKeyDialog } from "./CreateKeyDialog.tsx"
import { RenameKeyDialog } from "./RenameKeyDialog.tsx"
import { RollKeyDialog } from "./RollKeyDialog.tsx"

/** The dialog that is open. */
type Open =
  | { readonly dialog: "create" }
  | { readonly dialog: "rename" | "budget" | "roll" | "revoke"; readonly key: ApiKey }
  | { readonly dialog: "secret"; readonly key: NewApiKey }

/** Keys in use, then ended ones. */
export const KeyManager = ({ canChange, owner }: { readonly owner: Owner; readonly canChange: boolean }) => {
  const query = useQuery(keysQuery(owner))
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const created = (key: NewApiKey) => {
    void queryClient.invalidateQueries({ queryKey: ["keys", owner] })
    setOpen({ dialog: "secret", key })
  }
  const create = canChange && (
    <Button size="sm" variant="primary" onClick={() => setOpen({ dialog: "create" })}>
      <Icon name="plus" />Create key
    </Button>
  )
  return (
    <Card title="Keys" actions={query.data?.data.length === 0 ? undefined : create} flush>
      <LoadedTable
        label="API keys"
        query={query}
        rowKey={({ id }) => id}
        columns={canChange
          ? [nameColumn(setOpen), ...columns, actions(setOpen)]
          : [nameColumn(null), ...columns]}
        empty={<Empty title="No API keys" action={create}>Create one to use the API from your own code.</Empty>}
      />
      {open?.dialog === "create" && <CreateKeyDialog owner={owner} onClose={close} onCreated={created} />}
      {open?.dialog === "rename" && <RenameKeyDialog owner={owner} apiKey={open.key} onClose={close} />}
      {open?.dialog === "budget" && <BudgetDialog owner={owner} apiKey={open.key} onClose={close} />}
      {open?.dialog === "roll" && <RollKeyDialog owner={owner} apiKey={open.key} onClose={close} onCreated={created} />}
      {open?.dialog === "revoke" && <RevokeDialog owner={owner} apiKey={open.key} onClose={close} />}
      {open?.dialog === "secret" && <NewKeyDialog apiKey={open.key} onClose={close} />}
    </Card>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isActive = ({ expires_at, revoked_at }: ApiKey, now: number) =>
  revoked_at === null && (expires_at === null || Date.parse(expires_at) > now)

const KeyStatus = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  const now = useNow(10_000)
  if (apiKey.revoked_at !== null) return <Badge>Revoked</Badge>
  if (!isActive(apiKey, now)) return <Badge>Expired</Badge>
  return apiKey.expires_at !== null && Date.parse(apiKey.expires_at) - now < 7 * 86_400_000
    ? <Badge tone="warning">Expires {relative(Date.parse(apiKey.expires_at), now)}</Badge>
    : <Badge tone="positive">Active</Badge>
}

const restrictions = ({ ip_ranges, models, scopes }: ApiKey): string =>
  [
    scopes === null ? null : scopes.join(", "),
    models === null ? null : plural(models.length, "model"),
    ip_ranges === null ? null : plural(ip_ranges.length, "network")
  ].filter((part) => part !== null).join(" · ")

/** The limits of a key with their use, such as `12 of 100 credits today`. */
const budgetLines = ({ budget, used }: ApiKey): ReadonlyArray<string> =>
  ([
    [used?.day.credits, budget.credits_per_day, "credits today"],
    [used?.month.credits, budget.credits_per_month, "credits this month"],
    [used?.day.jobs, budget.jobs_per_day, "jobs today"],
    [used?.month.jobs, budget.jobs_per_month, "jobs this month"]
  ] as const).flatMap(([use = 0, limit, unit]) => limit === null ? [] : [`${count(use)} of ${count(limit)} ${unit}`])

const Budget = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  const lines = budgetLines(apiKey)
  if (lines.length === 0) return <span className="text-muted">none</span>
  return (
    <ul className="tabular-nums">{lines.map((line) => <li key={line} className="whitespace-nowrap">{line}</li>)}</ul>
  )
}

/** The name, with a button that renames an active key if `open` is given. */
const nameColumn = (open: ((what: Open) => void) | null): Column<ApiKey> => ({
  title: "Name",
  className: "min-w-48",
  cell: (key) => (
    <>
      <span className="flex items-center gap-1">
        <span className="font-medium break-words">{key.name}</span>
        {open !== null && key.revoked_at === null && (
          <IconButton
            label={`Rename ${key.name}`}
            onClick={() => open({ dialog: "rename", key })}
          >
            <Icon name="pencil" />
          </IconButton>
        )}
      </span>
      <span className="block font-mono text-xs text-muted">{key.prefix}…</span>
    </>
  )
})

const columns: ReadonlyArray<Column<ApiKey>> = [
  { title: "Status", cell: (key) => <KeyStatus apiKey={key} /> },
  { title: "Restrictions", cell: (key) => <span className="text-muted">{restrictions(key) || "none"}</span> },
  { title: "Budget", cell: (key) => <Budget apiKey={key} /> },
  { title: "Last used", cell: ({ last_used_at }) => <MaybeTime at={last_used_at} otherwise="never" /> },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Expires", cell: ({ expires_at }) => <MaybeTime at={expires_at} otherwise="never" /> }
]

const actions = (open: (what: Open) => void): Column<ApiKey> => ({
  title: <span className="sr-only">Actions</span>,
  isNumber: true,
  cell: (key) =>
    key.revoked_at === null && (
      <span className="inline-flex gap-1.5">
        <Button size="sm" aria-label={`Budget of ${key.name}`} onClick={() => open({ dialog: "budget", key })}>
          Budget
        </Button>
        <Button size="sm" aria-label={`Roll ${key.name}`} onClick={() => open({ dialog: "roll", key })}>Roll</Button>
        <Button
          size="sm"
          variant="danger"
          aria-label={`Revoke ${key.name}`}
          onClick={() => open({ dialog: "revoke", key })}
        >
          Revoke
        </Button>
      </span>
    )
})

const RevokeDialog = ({ apiKey, onClose, owner }: {
  readonly owner: Owner
  readonly apiKey: ApiKey
  readonly onClose: () => void
}) => {
  const now = useNow(10_000)
  const revoke = useChange(() => revokeKey(owner, apiKey.id), [keysQuery(owner).queryKey], onClose)
  return (
    <FormDialog
      title={`Revoke ${apiKey.name}?`}
      submit="Revoke key"
      tone="danger"
      change={revoke}
      onClose={onClose}
    >
      <p className="text-muted">
        {apiKey.last_used_at === null ? "Never used." : `Used ${relative(Date.parse(apiKey.last_used_at), now)}.`}{" "}
        Requests with this key fail within 5 seconds. Jobs that it created continue.
      </p>
    </FormDialog>
  )
}

const NewKeyDialog = ({ apiKey, onClose }: { readonly apiKey: NewApiKey; readonly onClose: () => void }) => (
  <SecretDialog
    title={`Key ${apiKey.name}`}
    what="key"
    secret={apiKey.key}
    onClose={onClose}
    examples={[
      { label: ".env", text: `KINORA_API_KEY=${apiKey.key}` },
      {
        label: "Try it",
        text: `curl ${location.origin}/v1/account \\\n  -H "Authorization: Bearer ${apiKey.key}"`
      }
    ]}
  />
)
