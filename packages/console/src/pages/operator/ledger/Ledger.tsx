/** The books: totals and verification. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ResponseOf } from "../../../api/contract.ts"
import { Badge, Notice } from "../../../components/Badge.tsx"
import { Button } from "../../../components/Button.tsx"
import { Card, Page } from "../../../components/Card.tsx"
import { Problem } from "../../../components/Problem.tsx"
import { Loaded, SkeletonRows } from "../../../components/States.tsx"
import { type Column, Table } from "../../../components/Table.tsx"
import { count, plural } from "../../../format/number.ts"
import { capital } from "../../../format/text.ts"
import { trialBalanceQuery } from "../queries.ts"
import { type Discrepancy, useVerification } from "./useVerification.ts"

/** The page. */
export const Ledger = () => (
  <Page title="Ledger" about="Every credit is booked twice. The statement of an account is on its page.">
    <Verification />
    <TrialBalance />
  </Page>
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Verification = () => {
  const { accounts, discrepancies, error, start, state, stop } = useVerification()
  return (
    <Card
      title="Verify"
      actions={state === "running"
        ? <Button size="sm" onClick={stop}>Stop</Button>
        : <Button size="sm" variant="primary" onClick={start}>Verify all accounts</Button>}
    >
      <div className="space-y-4">
        <p className="text-sm text-muted">
          Compares the books of every account with its stored balances, page by page. The service stays available.
        </p>
        <div aria-live="polite" className="space-y-4">
          {state === "running" && <Notice tone="accent" title={`Verifying: ${plural(accounts, "account")} so far`} />}
          {state === "stopped" && <Notice tone="warning" title={`Stopped after ${plural(accounts, "account")}`} />}
          {state === "done" && discrepancies.length === 0 && (
            <Notice tone="positive" title={`Ledger verified: ${plural(accounts, "account")}, no discrepancies`} />
          )}
        </div>
        {error !== null && <Problem title="The verification failed" error={error} />}
        {discrepancies.length > 0 && (
          <>
            <Notice title={plural(discrepancies.length, "discrepancy", "discrepancies")}>
              Accounts whose stored figures differ from their bookings.
            </Notice>
            <Table
              label="Discrepancies"
              rows={discrepancies}
              rowKey={({ account, figure, subject }) => `${account} ${figure} ${subject}`}
              columns={discrepancyColumns}
            />
          </>
        )}
      </div>
    </Card>
  )
}

const discrepancyColumns: ReadonlyArray<Column<Discrepancy>> = [
  {
    title: "Account",
    cell: ({ account }) => (
      <Link to="/operator/accounts/$id" params={{ id: account }} className="font-mono text-xs underline">
        {account}
      </Link>
    )
  },
  { title: "Figure", cell: ({ figure }) => figure },
  { title: "Subject", cell: ({ subject }) => <span className="font-mono text-xs">{subject}</span> },
  { title: "Booked", isNumber: true, cell: ({ booked }) => booked === null ? "none" : count(booked) },
  { title: "Stored", isNumber: true, cell: ({ kept }) => kept === null ? "none" : count(kept) }
]

const TrialBalance = () => {
  const query = useQuery(trialBalanceQuery)
  return (
    <Card
      title="Trial balance"
      titleAside={query.data !== undefined &&
        (query.data.balanced ? <Badge tone="positive">Balanced</Badge> : <Badge tone="danger">Not balanced</Badge>)}
      flush
    >
      <Loaded query={query} what="The trial balance" loading={<SkeletonRows />}>
        {({ data }) => (
          <Table
            label="Trial balance"
            rows={data}
            rowKey={(line) => `${line.class} ${line.unit}`}
            columns={lineColumns}
          />
        )}
      </Loaded>
    </Card>
  )
}

const lineColumns: ReadonlyArray<Column<ResponseOf<"GET /admin/v1/ledger/trial-balance">["data"][number]>> = [
  { title: "Books", cell: (line) => capital(line.class) },
  { title: "Unit", cell: ({ unit }) => capital(unit) },
  { title: "Debits", isNumber: true, cell: ({ debits }) => count(debits) },
  { title: "Credits", isNumber: true, cell: ({ credits }) => count(credits) },
  { title: "Balance", isNumber: true, cell: ({ balance }) => count(balance) }
]
