/** The last attempts of an endpoint, and the test event. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { call } from "../../api/call.ts"
import { sendsQuery } from "../../api/manage.ts"
import { queryClient } from "../../api/queries.ts"
import type { Endpoint, Send } from "../../api/types.ts"
import { Badge, Notice } from "../../components/Badge.tsx"
import { Button } from "../../components/Button.tsx"
import { CopyId } from "../../components/Copy.tsx"
import { Icon } from "../../components/Icon.tsx"
import { LoadedTable } from "../../components/LoadedTable.tsx"
import { Problem } from "../../components/Problem.tsx"
import { Empty } from "../../components/States.tsx"
import type { Column } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { duration } from "../../format/time.ts"
import { reasonText } from "./events.ts"

/** The tab. */
export const Sends = ({ canChange, endpoint }: { readonly endpoint: Endpoint; readonly canChange: boolean }) => {
  const test = useMutation({
    mutationFn: () => call("POST /console/v1/webhook-endpoints/:id/test", { params: { id: endpoint.id } }),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: ["sends", endpoint.id] })
  })
  const query = useQuery(sendsQuery(endpoint.id, test.data?.id))
  const result = query.data?.data.find(({ delivery_id }) => delivery_id === test.data?.id)
  return (
    <div>
      <div className="flex flex-wrap items-center justify-between gap-3 px-5 py-4">
        <p className="text-sm text-muted">The last 20 attempts, newest first.</p>
        {canChange && (
          <Button
            busy={test.isPending}
            disabled={endpoint.status === "disabled"}
            onClick={() => test.mutate()}
          >
            <Icon name="send" />Send test event
          </Button>
        )}
      </div>
      {(test.isSuccess || test.isError) && (
        <div className="px-5 pb-4">
          {test.isError
            ? <Problem title="The test event was not sent" error={test.error} />
            : <TestResult send={result} />}
        </div>
      )}
      <LoadedTable
        label="Sends"
        query={query}
        rowKey={({ at, attempt, delivery_id }) => `${delivery_id} ${attempt} ${at}`}
        columns={columns}
        empty={<Empty title="No events sent yet">Send a test event to verify your endpoint.</Empty>}
      />
    </div>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const TestResult = ({ send }: { readonly send: Send | undefined }) =>
  send === undefined
    ? <Notice tone="accent" title="Sending the test event…" />
    : send.reason === "ok"
    ? (
      <Notice tone="positive" title="The receiver accepted the test event">
        HTTP {send.http_status} after {duration(send.duration_ms)}
      </Notice>
    )
    : <Notice title="The test event failed">{reasonText(send.reason)}.</Notice>

const columns: ReadonlyArray<Column<Send>> = [
  { title: "Time", cell: ({ at }) => <Time at={at} /> },
  { title: "Event", cell: ({ type }) => <span className="font-mono text-xs whitespace-nowrap">{type}</span> },
  { title: "Attempt", isNumber: true, cell: ({ attempt }) => attempt },
  {
    title: "Response",
    cell: ({ http_status, reason }) => (
      <Badge tone={reason === "ok" ? "positive" : "danger"}>
        {http_status === null ? "None" : `HTTP ${http_status}`}
      </Badge>
    )
  },
  { title: "Outcome", className: "min-w-52", cell: ({ reason }) => reasonText(reason) },
  {
    title: "Duration",
    isNumber: true,
    cell: ({ duration_ms }) => <span className="font-mono text-xs whitespace-nowrap">{duration_ms} ms</span>
  },
  {
    title: "Delivery",
    className: "max-w-44",
    cell: ({ delivery_id }) => <CopyId id={delivery_id} label="Copy delivery ID" />
  }
]
