/** The deliveries of an endpoint, and sending them again. */
import { useInfiniteQuery, useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/call.ts"
import { deliveriesQuery } from "../../api/manage.ts"
import { queryClient } from "../../api/queries.ts"
import type { Delivery, Endpoint } from "../../api/types.ts"
import { Button } from "../../components/Button.tsx"
import { CopyId } from "../../components/Copy.tsx"
import { DeliveryStatus } from "../../components/DeliveryStatus.tsx"
import { Icon } from "../../components/Icon.tsx"
import { Problem } from "../../components/Problem.tsx"
import { Segmented } from "../../components/Segmented.tsx"
import { Empty, SkeletonRows } from "../../components/States.tsx"
import { type Column, LoadMore, Table } from "../../components/Table.tsx"
import { MaybeTime, Time } from "../../components/Time.tsx"
import { DeliveryDialog } from "./DeliveryDialog.tsx"
import { ResendFailed } from "./ResendFailed.tsx"

const filters = [
  { value: "all", label: "All" },
  { value: "delivered", label: "Delivered" },
  { value: "pending", label: "Pending" },
  { value: "failed", label: "Failed" }
] as const

/** The tab. */
export const Deliveries = ({ canChange, endpoint }: { readonly endpoint: Endpoint; readonly canChange: boolean }) => {
  const query = useInfiniteQuery(deliveriesQuery(endpoint.id))
  const [filter, setFilter] = useState<typeof filters[number]["value"]>("all")
  const all = query.data?.pages.flatMap(({ data }) => data) ?? []
  const rows = all.filter(({ status }) => filter === "all" || status === filter)
  const [opened, setOpened] = useState<string | null>(null)
  const [isResending, setResending] = useState(false)
  const resend = useResend(endpoint.id)
  const isEnabled = canChange && endpoint.status === "enabled"
  return (
    <div>
      <div className="flex flex-wrap items-end justify-between gap-3 px-5 py-4">
        <Segmented label="Status" hideLabel value={filter} onChange={setFilter} options={filters} />
        {isEnabled && all.some(({ status }) => status === "failed") && (
          <Button onClick={() => setResending(true)}>
            <Icon name="rotateCcw" />Resend all failed since…
          </Button>
        )}
      </div>
      {resend.isError && (
        <div className="px-5 pb-4">
          <Problem title="The delivery was not sent again" error={resend.error} />
        </div>
      )}
      {query.isPending && <SkeletonRows />}
      {query.isError && (
        <div className="p-5">
          <Problem title="Deliveries could not be loaded" error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {query.isSuccess && rows.length === 0 && (
        <Empty title={all.length === 0 ? "No deliveries" : "No deliveries with this status"}>
          Ended deliveries are kept for 7 days.
        </Empty>
      )}
      {rows.length > 0 && (
        <Table
          label="Deliveries"
          rows={rows}
          rowKey={({ id }) => id}
          columns={[...columns, actions(setOpened, isEnabled ? resend : undefined)]}
        />
      )}
      <LoadMore query={query} />
      {opened !== null && <DeliveryDialog endpoint={endpoint.id} id={opened} onClose={() => setOpened(null)} />}
      {isResending && <ResendFailed endpoint={endpoint.id} onClose={() => setResending(false)} />}
    </div>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const useResend = (endpoint: string) =>
  useMutation({
    mutationFn: (delivery_id: string) =>
      call("POST /console/v1/webhook-endpoints/:id/deliveries/:delivery_id/resend", {
        params: { id: endpoint, delivery_id }
      }),
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: ["deliveries", endpoint] })
      void queryClient.invalidateQueries({ queryKey: ["sends", endpoint] })
    }
  })

const columns: ReadonlyArray<Column<Delivery>> = [
  { title: "Event", cell: ({ type }) => <span className="font-mono text-xs whitespace-nowrap">{type}</span> },
  {
    title: "Status",
    cell: ({ status }) => <DeliveryStatus status={status} />
  },
  { title: "Failed attempts", isNumber: true, cell: ({ failed_sends }) => failed_sends },
  { title: "Next attempt", cell: ({ due_at }) => <MaybeTime at={due_at} /> },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Delivery", className: "max-w-44", cell: ({ id }) => <CopyId id={id} label="Copy delivery ID" /> }
]

/** The payload of a delivery, and sending it again if `resend` is given. */
const actions = (
  open: (id: string) => void,
  resend: ReturnType<typeof useResend> | undefined
): Column<Delivery> => ({
  title: <span className="sr-only">Actions</span>,
  isNumber: true,
  cell: ({ id, status }) => (
    <span className="inline-flex gap-1.5">
      <Button size="sm" onClick={() => open(id)}>Payload</Button>
      {resend !== undefined && status !== "pending" && (
        <Button
          size="sm"
          busy={resend.isPending}
          onClick={() => resend.mutate(id)}
        >
          Resend
        </Button>
      )}
    </span>
  )
})
