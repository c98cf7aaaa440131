/** The settings of the server. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import type { ResponseOf } from "../../../api/contract.ts"
import { Card, Page } from "../../../components/Card.tsx"
import { Segmented } from "../../../components/Segmented.tsx"
import { Empty, Loaded, SkeletonRows } from "../../../components/States.tsx"
import { type Column, Table } from "../../../components/Table.tsx"
import { configurationQuery } from "../queries.ts"

const filters = [{ value: "set", label: "Changed" }, { value: "all", label: "All" }] as const

/** The page. */
export const Configuration = () => {
  const [filter, setFilter] = useState<typeof filters[number]["value"]>("set")
  return (
    <Page
      title="Configuration"
      about="The settings of the server that responds, as at its start, without secrets. Change them in its environment or its configuration file, and restart it."
    >
      <Card
        title="Settings"
        actions={<Segmented label="Settings" hideLabel value={filter} onChange={setFilter} options={filters} />}
        flush
      >
        <Loaded query={useQuery(configurationQuery)} what="The configuration" loading={<SkeletonRows />}>
          {({ data }) => {
            const rows = data.filter(({ source }) => filter === "all" || source !== "default")
            return rows.length === 0
              ? <Empty title="All settings have their defaults">Choose “All” to see them.</Empty>
              : <Table label="Settings" rows={rows} rowKey={({ variable }) => variable} columns={columns} />
          }}
        </Loaded>
      </Card>
    </Page>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Setting = ResponseOf<"GET /admin/v1/configuration">["data"][number]

const columns: ReadonlyArray<Column<Setting>> = [
  { title: "Setting", cell: ({ variable }) => <span className="font-mono text-xs whitespace-nowrap">{variable}</span> },
  {
    title: "Value",
    className: "min-w-48",
    cell: ({ value }) =>
      value === null || value === ""
        ? <span className="text-muted">none</span>
        : <span className="font-mono text-xs break-all">{value}</span>
  },
  { title: "From", className: "min-w-48", cell: ({ source }) => <span className="text-muted break-all">{source}</span> }
]
