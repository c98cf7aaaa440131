/** Deliveries of webhook events. */
import type { Delivery, JobActivity } from "../api/types.ts"
import { capital } from "../format/text.ts"
import { Badge } from "./Badge.tsx"
import { type Column, Table } from "./Table.tsx"

const tones = { delivered: "positive", pending: "accent", failed: "danger" } as const

/** The status of a delivery as a badge. */
export const DeliveryStatus = ({ status }: Pick<Delivery, "status">) => (
  <Badge tone={tones[status]}>{capital(status)}</Badge>
)

/** The deliveries of the events of a job. `columns` follow the column of the event. */
export const DeliveryTable = ({ columns, deliveries }: {
  readonly deliveries: JobActivity["deliveries"]
  readonly columns: ReadonlyArray<Column<JobActivity["deliveries"][number]>>
}) => (
  <Table
    label="Webhook deliveries"
    rows={deliveries}
    rowKey={({ id }) => id}
    columns={[
      { title: "Event", cell: ({ type }) => <span className="font-mono text-xs">{type}</span> },
      ...columns
    ]}
  />
)
