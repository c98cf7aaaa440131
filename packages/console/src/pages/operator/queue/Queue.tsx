/** The queues of the models and the lanes of the accounts. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ResponseOf } from "../../../api/contract.ts"
import { Card, Page } from "../../../components/Card.tsx"
import { planName } from "../../../components/JobStatus.tsx"
import { LoadedTable } from "../../../components/LoadedTable.tsx"
import { Empty } from "../../../components/States.tsx"
import type { Column } from "../../../components/Table.tsx"
import { count } from "../../../format/number.ts"
import { duration } from "../../../format/time.ts"
import { ListCard } from "../List.tsx"
import { lanesQuery, queueQuery } from "../queries.ts"

/** The page. */
export const Queue = () => (
  <Page title="Queue" about="Jobs that have not ended. Updates every 5 seconds.">
    <Card title="Models" flush>
      <LoadedTable
        label="Queues of the models"
        what="The queue"
        query={useQuery(queueQuery)}
        rowKey={({ model }) => model}
        columns={models}
        empty={<Empty title="No models" />}
      />
    </Card>
    <ListCard
      title="Lanes"
      empty="No jobs wait or run."
      query={useInfiniteQuery(lanesQuery)}
      rowKey={({ account, plan }) => `${account} ${plan}`}
      columns={lanes}
    />
  </Page>
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type ModelQueue = ResponseOf<"GET /admin/v1/queue">["data"][number]
type Lane = ResponseOf<"GET /admin/v1/queue/lanes">["data"][number]

const models: ReadonlyArray<Column<ModelQueue>> = [
  { title: "Model", cell: ({ model }) => <span className="font-mono text-xs whitespace-nowrap">{model}</span> },
  { title: "Waiting for a slot", isNumber: true, cell: ({ pending }) => count(pending) },
  { title: "Queued", isNumber: true, cell: ({ queued }) => count(queued) },
  { title: "Running", isNumber: true, cell: ({ processing }) => count(processing) },
  {
    title: "Oldest wait",
    isNumber: true,
    cell: ({ oldest_wait_seconds: seconds }) => seconds === null ? "–" : duration(seconds * 1000)
  },
  { title: "Workers", isNumber: true, cell: ({ workers }) => count(workers) }
]

const lanes: ReadonlyArray<Column<Lane>> = [
  {
    title: "Account",
    cell: ({ account }) => (
      <Link to="/operator/accounts/$id" params={{ id: account }} className="font-mono text-xs hover:underline">
        {account}
      </Link>
    )
  },
  { title: "Plan", cell: ({ plan }) => planName(plan) },
  { title: "Slots", isNumber: true, cell: ({ slots }) => count(slots) },
  { title: "Waiting", isNumber: true, cell: ({ pending }) => count(pending) },
  { title: "Queued", isNumber: true, cell: ({ queued }) => count(queued) },
  { title: "Running", isNumber: true, cell: ({ processing }) => count(processing) }
]
