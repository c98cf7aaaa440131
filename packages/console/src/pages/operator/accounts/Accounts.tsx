/** The accounts. */
import { useInfiniteQuery, useMutation } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../../../api/call.ts"
import { problemOf } from "../../../api/problem.ts"
import { queryClient } from "../../../api/queries.ts"
import type { OperatorAccount } from "../../../api/types.ts"
import { Badge, type Tone } from "../../../components/Badge.tsx"
import { Button } from "../../../components/Button.tsx"
import { Page } from "../../../components/Card.tsx"
import { FormDialog } from "../../../components/Dialog.tsx"
import { EmailField } from "../../../components/Field.tsx"
import { Icon } from "../../../components/Icon.tsx"
import type { Column } from "../../../components/Table.tsx"
import { Time } from "../../../components/Time.tsx"
import { money } from "../../../format/number.ts"
import { capital } from "../../../format/text.ts"
import { ListCard } from "../List.tsx"
import { usePermits } from "../permits.ts"
import { accountsQuery } from "../queries.ts"
import { StatusSearchForm } from "../SearchForm.tsx"

/** The page. */
export const Accounts = () => {
  const search = useSearch({ from: "/operator/accounts" })
  const { status, ...texts } = search
  const navigate = useNavigate({ from: "/operator/accounts" })
  const canCreate = usePermits("operator")
  const [isCreating, setCreating] = useState(false)
  return (
    <Page
      title="Accounts"
      width="max-w-7xl"
      actions={canCreate && (
        <Button variant="primary" onClick={() => setCreating(true)}>
          <Icon name="plus" />Create account
        </Button>
      )}
    >
      <StatusSearchForm
        fields={[["search", "E-mail address or ID"]]}
        texts={texts}
        status={status}
        statuses={[["active", "Active"], ["suspended", "Suspended"], ["deleted", "Deleted"], ["erased", "Erased"]]}
        onChange={(filters) => void navigate({ search: filters })}
      />
      <ListCard
        title="Accounts"
        empty="No accounts match."
        query={useInfiniteQuery(accountsQuery(search))}
        rowKey={({ id }) => id}
        columns={columns}
      />
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
    </Page>
  )
}

const statuses: Readonly<Record<OperatorAccount["status"], readonly [Tone, string]>> = {
  active: ["positive", "Active"],
  suspended: ["warning", "Suspended"],
  deleted: ["danger", "Deleted"],
  erased: ["neutral", "Erased"]
}

/** The status of an account. */
export const AccountStatus = ({ status }: Pick<OperatorAccount, "status">) => (
  <Badge tone={statuses[status][0]}>{statuses[status][1]}</Badge>
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const tierOf = (plan: { readonly tier: string } | null) =>
  plan === null ? <span className="text-muted">–</span> : capital(plan.tier)

const columns: ReadonlyArray<Column<OperatorAccount>> = [
  {
    title: "Account",
    className: "w-full min-w-64 max-w-0",
    cell: ({ email, id }) => (
      <Link to="/operator/accounts/$id" params={{ id }} className="group block rounded">
        <span className="block truncate font-medium group-hover:underline">{email}</span>
        <span className="block truncate font-mono text-xs text-muted">{id}</span>
      </Link>
    )
  },
  { title: "Status", cell: ({ status }) => <AccountStatus status={status} /> },
  { title: "Studio", cell: ({ plans }) => tierOf(plans.studio) },
  { title: "Credits", cell: ({ plans }) => tierOf(plans.credits) },
  { title: "Balance", isNumber: true, cell: ({ balance_usd_cents }) => money(balance_usd_cents) },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> }
]

const CreateDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [email, setEmail] = useState("")
  const navigate = useNavigate()
  const create = useMutation({
    mutationFn: () => call("POST /admin/v1/accounts", { payload: { email: email.trim() } }),
    onSuccess: ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: ["operator", "accounts"] })
      void navigate({ to: "/operator/accounts/$id", params: { id } })
    }
  })
  return (
    <FormDialog
      title="Create an account"
      about="It has no plan, credits or keys at first."
      submit="Create account"
      change={create}
      invalid={email.trim() === ""}
      onClose={onClose}
    >
      <EmailField value={email} error={problemOf(create.error).issues.get("email")} onChange={setEmail} />
    </FormDialog>
  )
}
