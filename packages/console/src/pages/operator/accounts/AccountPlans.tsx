/** The plans and credits of an account. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../../api/call.ts"
import type { ResponseOf } from "../../../api/contract.ts"
import type { OperatorAccount, Plan } from "../../../api/types.ts"
import { Badge } from "../../../components/Badge.tsx"
import { Button } from "../../../components/Button.tsx"
import { Card, Facts, Figure, Figures } from "../../../components/Card.tsx"
import { Icon } from "../../../components/Icon.tsx"
import { planName } from "../../../components/JobStatus.tsx"
import { Empty, Loaded, SkeletonRows } from "../../../components/States.tsx"
import { type Column, Table } from "../../../components/Table.tsx"
import { Time } from "../../../components/Time.tsx"
import { count } from "../../../format/number.ts"
import { capital, lotNames } from "../../../format/text.ts"
import { date } from "../../../format/time.ts"
import { ConfirmButton } from "../Confirm.tsx"
import { usePermits } from "../permits.ts"
import { balancesQuery } from "../queries.ts"
import { GrantDialog } from "./GrantDialog.tsx"
import { PlanDialog } from "./PlanDialog.tsx"

/** The tab. */
export const AccountPlans = ({ account }: { readonly account: OperatorAccount }) => {
  const canChange = usePermits("operator") && account.status !== "deleted" && account.status !== "erased"
  const balances = useQuery(balancesQuery(account.id))
  return (
    <div className="space-y-4">
      {balances.data !== undefined && (
        <Figures>
          <Figure
            label="Credits"
            value={count(balances.data.credits)}
            note={`${count(balances.data.credits_images_only)} for images only`}
          />
          <Figure label="Images today" value={count(balances.data.quota_used.images)} note="of the Studio quota" />
          <Figure label="Videos today" value={count(balances.data.quota_used.videos)} note="of the Studio quota" />
          <Figure label="Lots" value={count(balances.data.lots.length)} note="with credits" />
        </Figures>
      )}
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <PlanCard account={account} plan="studio" canChange={canChange} />
        <PlanCard account={account} plan="credits" canChange={canChange} />
      </div>
      <LotsCard id={account.id} canChange={canChange} />
    </div>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const PlanCard = ({ account, canChange, plan }: {
  readonly account: OperatorAccount
  readonly plan: Plan
  readonly canChange: boolean
}) => {
  const [isOpen, setOpen] = useState(false)
  const current = account.plans[plan]
  const params = { id: account.id }
  return (
    <Card
      title={planName(plan)}
      titleAside={current === null ? <Badge>No plan</Badge> : <Badge tone="positive">{capital(current.tier)}</Badge>}
      actions={canChange && (
        <>
          <Button size="sm" aria-label={`Set plan for ${planName(plan)}`} onClick={() => setOpen(true)}>
            Set plan
          </Button>
          {current !== null && (
            <ConfirmButton
              label="End plan"
              title={`End the ${planName(plan)} plan?`}
              act={() =>
                plan === "studio"
                  ? call("DELETE /admin/v1/accounts/:id/plans/studio", { params })
                  : call("DELETE /admin/v1/accounts/:id/plans/credits", { params })}
            >
              It ends now. Credits stay.
            </ConfirmButton>
          )}
        </>
      )}
    >
      {current === null
        ? <p className="text-sm text-muted">The account has no plan of this group.</p>
        : (
          <Facts
            facts={[
              [current.auto_renew ? "Renews on" : "Ends on", date(current.period_end)],
              ["Next tier", current.next_tier]
            ]}
          />
        )}
      {isOpen && <PlanDialog id={account.id} plan={plan} onClose={() => setOpen(false)} />}
    </Card>
  )
}

type Lot = ResponseOf<"GET /admin/v1/accounts/:id/balances">["lots"][number]

const LotsCard = ({ canChange, id }: { readonly id: string; readonly canChange: boolean }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <Card
      title="Credit lots"
      actions={canChange && (
        <Button size="sm" variant="primary" onClick={() => setOpen(true)}>
          <Icon name="plus" />Grant credits
        </Button>
      )}
      flush
    >
      <Loaded query={useQuery(balancesQuery(id))} what="Credits" loading={<SkeletonRows rows={3} />}>
        {({ lots }) =>
          lots.length === 0
            ? <Empty title="No credits" />
            : (
              <Table
                label="Credit lots"
                rows={lots}
                rowKey={({ id }) => id}
                columns={canChange ? [...columns, revokeColumn(id)] : columns}
              />
            )}
      </Loaded>
      {isOpen && <GrantDialog id={id} onClose={() => setOpen(false)} />}
    </Card>
  )
}

const columns: ReadonlyArray<Column<Lot>> = [
  {
    title: "Lot",
    cell: ({ id, images_only, kind }) => (
      <>
        <span className="block font-medium">{lotNames[kind]}{images_only ? ", images only" : ""}</span>
        <span className="block font-mono text-xs text-muted">{id}</span>
      </>
    )
  },
  { title: "Remaining", isNumber: true, cell: ({ credits, remaining }) => `${count(remaining)} of ${count(credits)}` },
  { title: "Expires", cell: ({ expires_at }) => <Time at={expires_at} /> },
  { title: "Granted", cell: ({ created_at }) => <Time at={created_at} /> }
]

const revokeColumn = (account: string): Column<Lot> => ({
  title: <span className="sr-only">Actions</span>,
  isNumber: true,
  cell: ({ id, remaining }) => (
    <ConfirmButton
      label="Revoke lot"
      title={`Revoke ${count(remaining)} credits?`}
      act={() => call("POST /admin/v1/accounts/:id/lots/:lot_id/revoke", { params: { id: account, lot_id: id } })}
    >
      What is left is booked as expired. Jobs that the lot has paid stay paid.
    </ConfirmButton>
  )
})
