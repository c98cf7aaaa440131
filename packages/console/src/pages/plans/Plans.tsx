/** The plans, the balance, and the statement of the account. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { accountQuery, sessionQuery, statementQuery } from "../../api/queries.ts"
import type { Account } from "../../api/types.ts"
import { Badge } from "../../components/Badge.tsx"
import { Card, Facts, Figure, Figures, Page } from "../../components/Card.tsx"
import { NoAccountRights } from "../../components/NoAccountRights.tsx"
import { Problem } from "../../components/Problem.tsx"
import { ExportStatement, Statement } from "../../components/Statement.tsx"
import { Empty, Loaded, Skeleton, SkeletonRows } from "../../components/States.tsx"
import { LoadMore } from "../../components/Table.tsx"
import { count, money, plural } from "../../format/number.ts"
import { date } from "../../format/time.ts"
import { Lots } from "../overview/cards.tsx"

/** The page. */
export const Plans = () => {
  const { data: session } = useQuery(sessionQuery)
  return (
    <Page title="Plans and wallet" about="Plans renew from the balance. Jobs use the Studio quota or credits.">
      <Loaded query={useQuery(accountQuery)} what="Plans" loading={<Skeleton className="h-64" />}>
        {(account) => (
          <>
            <Balance account={account} />
            <div className="grid items-start gap-4 lg:grid-cols-3">
              <PlanCard name="Studio" plan={account.plans.studio} />
              <PlanCard name="Credits" plan={account.plans.credits} />
              <Card title="Credit lots">
                <p className="text-sm text-muted">In the order in which jobs use them.</p>
                <Lots lots={account.plans.credits.lots ?? []} />
              </Card>
            </div>
          </>
        )}
      </Loaded>
      {session?.scope === "key" ? <NoAccountRights what="read the statement" /> : <Bookings />}
    </Page>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Balance = ({ account: { balance_usd_cents, plans: { credits, studio } } }: { readonly account: Account }) => (
  <Figures>
    <Figure label="Balance" value={money(balance_usd_cents)} note="pays for renewals" />
    <Figure label="Credits" value={count(credits.credits_remaining)} note="that jobs can use" />
    <Figure
      label="Studio images today"
      value={studio.quota === null ? "–" : count(studio.quota.image.remaining)}
      note={studio.quota === null ? "no Studio plan" : `left of ${count(studio.quota.image.limit)}`}
    />
    <Figure
      label="Studio videos today"
      value={studio.quota === null ? "–" : count(studio.quota.video.remaining)}
      note={studio.quota === null ? "no Studio plan" : `left of ${count(studio.quota.video.limit)}`}
    />
  </Figures>
)

const PlanCard = ({ name, plan }: {
  readonly name: string
  readonly plan: Account["plans"]["studio"] | Account["plans"]["credits"]
}) => (
  <Card
    title={name}
    titleAside={plan.active
      ? <Badge tone="positive">{plan.tier?.replace(/^./, (first) => first.toUpperCase())}</Badge>
      : <Badge>No plan</Badge>}
  >
    <Facts
      facts={[
        [plan.auto_renew ? "Renews on" : "Ends on", plan.period_end === null ? null : date(plan.period_end)],
        ["Running at once", plural(plan.concurrency, "job")],
        ["New jobs", `${count(plan.create_rpm)} per minute`]
      ]}
    />
  </Card>
)

const Bookings = () => {
  const query = useInfiniteQuery(statementQuery)
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Card title="Statement" actions={<ExportStatement rows={rows} />} flush>
      {query.isPending && <SkeletonRows />}
      {query.isError && (
        <div className="p-5">
          <Problem title="The statement could not be loaded" error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {query.isSuccess && rows.length === 0 && (
        <Empty title="No bookings yet">Grants, charges, refunds and expiries appear here.</Empty>
      )}
      {rows.length > 0 && <Statement rows={rows} />}
      <LoadMore query={query} />
    </Card>
  )
}
