/** An account: plans, credits, keys, webhooks, jobs, statement and wallet. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { lazy, Suspense } from "react"
import { endpointsQuery } from "../../../api/manage.ts"
import { Badge } from "../../../components/Badge.tsx"
import { Card, Page } from "../../../components/Card.tsx"
import { CopyId } from "../../../components/Copy.tsx"
import { LoadedTable } from "../../../components/LoadedTable.tsx"
import { ExportStatement, statementColumns } from "../../../components/Statement.tsx"
import { Empty, Loaded, Skeleton } from "../../../components/States.tsx"
import { Tabs } from "../../../components/Tabs.tsx"
import { Time } from "../../../components/Time.tsx"
import { typesText } from "../../webhooks/events.ts"
import { jobColumns } from "../jobs/OperatorJobs.tsx"
import { ListCard, rowsOf } from "../List.tsx"
import { usePermits } from "../permits.ts"
import { operatorAccountQuery, operatorJobsQuery, transactionsQuery } from "../queries.ts"
import { AccountActions } from "./AccountActions.tsx"
import { AccountStatus } from "./Accounts.tsx"
import { type AccountTab, accountTabs } from "./search.ts"

// Tabs are loaded when they are opened.
const AccountPlans = lazy(() => import("./AccountPlans.tsx").then((module) => ({ default: module.AccountPlans })))
const KeyManager = lazy(() => import("../../keys/KeyManager.tsx").then((module) => ({ default: module.KeyManager })))
const MemberManager = lazy(() =>
  import("../../members/MemberManager.tsx").then((module) => ({ default: module.MemberManager }))
)
const Wallet = lazy(() => import("./Wallet.tsx").then((module) => ({ default: module.Wallet })))

/** The page. */
export const AccountPage = () => {
  const { id } = useParams({ from: "/operator/accounts/$id" })
  const { tab = "plans" } = useSearch({ from: "/operator/accounts/$id" })
  const navigate = useNavigate({ from: "/operator/accounts/$id" })
  const canChange = usePermits("operator")
  return (
    <Loaded query={useQuery(operatorAccountQuery(id))} what="The account" loading={<Skeleton className="m-8 h-96" />}>
      {(account) => (
        <Page
          title={account.email}
          width="max-w-7xl"
          about={
            <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
              <AccountStatus status={account.status} />
              <CopyId id={account.id} label="Copy account ID" />
              <span>
                Created <Time at={account.created_at} />
              </span>
            </span>
          }
          actions={<AccountActions account={account} />}
        >
          <Tabs<AccountTab>
            label="Account"
            tabs={accountTabs}
            value={tab}
            onChange={(tab) => void navigate({ search: { tab }, replace: true })}
          >
            <div className="pt-5">
              <Suspense fallback={<Skeleton className="h-64" />}>
                {tab === "plans" && <AccountPlans account={account} />}
                {tab === "keys" && <KeyManager owner={id} canChange={canChange && account.status === "active"} />}
                {tab === "members" && <MemberManager owner={id} canChange={canChange && account.status === "active"} />}
                {tab === "webhooks" && <Endpoints id={id} />}
                {tab === "jobs" && <Jobs id={id} />}
                {tab === "statement" && <Bookings id={id} />}
                {tab === "wallet" && <Wallet account={account} />}
              </Suspense>
            </div>
          </Tabs>
        </Page>
      )}
    </Loaded>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Endpoints = ({ id }: { readonly id: string }) => (
  <Card title="Webhook endpoints" flush>
    <LoadedTable
      label="Webhook endpoints"
      query={useQuery(endpointsQuery(id))}
      skeletonRows={3}
      rowKey={({ id }) => id}
      columns={[
        { title: "URL", className: "w-full min-w-64 max-w-0 truncate font-medium", cell: ({ url }) => url },
        { title: "Events", cell: ({ types }) => <span className="whitespace-nowrap">{typesText(types)}</span> },
        {
          title: "Status",
          cell: ({ status }) => status === "enabled" ? <Badge tone="positive">Enabled</Badge> : <Badge>Disabled</Badge>
        },
        { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> }
      ]}
      empty={<Empty title="No webhook endpoints" />}
    />
  </Card>
)

const Jobs = ({ id }: { readonly id: string }) => (
  <ListCard
    title="Jobs"
    empty="No jobs yet."
    query={useInfiniteQuery(operatorJobsQuery({ account: id }))}
    rowKey={({ id }) => id}
    columns={jobColumns}
  />
)

const Bookings = ({ id }: { readonly id: string }) => {
  const query = useInfiniteQuery(transactionsQuery(id))
  return (
    <ListCard
      title="Statement"
      empty="No bookings yet."
      actions={<ExportStatement rows={rowsOf(query)} />}
      query={query}
      rowKey={({ id }) => id}
      columns={statementColumns}
    />
  )
}
