/** The workers that run jobs. */
import { useQuery } from "@tanstack/react-query"
import { call } from "../../../api/call.ts"
import type { ResponseOf } from "../../../api/contract.ts"
import { Badge, Meter } from "../../../components/Badge.tsx"
import { Card, Page } from "../../../components/Card.tsx"
import { LoadedTable } from "../../../components/LoadedTable.tsx"
import { Empty } from "../../../components/States.tsx"
import type { Column } from "../../../components/Table.tsx"
import { MaybeTime, Time } from "../../../components/Time.tsx"
import { plural } from "../../../format/number.ts"
import { ConfirmButton } from "../Confirm.tsx"
import { usePermits } from "../permits.ts"
import { workersQuery } from "../queries.ts"

/** The page. */
export const Workers = () => {
  const canChange = usePermits("operator")
  return (
    <Page title="Workers" about="A worker whose lease ends is lost: others take over its jobs.">
      <Card title="Workers" flush>
        <LoadedTable
          label="Workers"
          query={useQuery(workersQuery)}
          rowKey={({ id }) => id}
          columns={canChange ? [...columns, actionColumn] : columns}
          empty={<Empty title="No workers">Jobs wait until a worker starts.</Empty>}
        />
      </Card>
    </Page>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Worker = ResponseOf<"GET /admin/v1/workers">["data"][number]

const columns: ReadonlyArray<Column<Worker>> = [
  {
    title: "Worker",
    className: "min-w-52",
    cell: ({ id, name }) => (
      <>
        <span className="block font-medium break-all">{name}</span>
        <span className="block font-mono text-xs text-muted">{id}</span>
      </>
    )
  },
  {
    title: "Status",
    cell: ({ status }) =>
      status === "running"
        ? <Badge tone="positive">Running</Badge>
        : status === "draining"
        ? <Badge tone="warning">Draining</Badge>
        : <Badge>Drained</Badge>
  },
  {
    title: "Jobs",
    className: "min-w-32",
    cell: ({ concurrency, name, running_jobs }) => (
      <div className="space-y-1">
        <span className="tabular-nums">{running_jobs} of {concurrency}</span>
        <Meter label={`Jobs of ${name}`} value={running_jobs} max={concurrency} />
      </div>
    )
  },
  { title: "Models", cell: ({ models }) => <span title={models.join(", ")}>{plural(models.length, "model")}</span> },
  { title: "Started", cell: ({ started_at }) => <MaybeTime at={started_at} /> },
  { title: "Lease ends", cell: ({ lease_until }) => <Time at={lease_until} /> }
]

const actionColumn: Column<Worker> = {
  title: <span className="sr-only">Actions</span>,
  isNumber: true,
  cell: ({ id, name, running_jobs, status }) =>
    status === "running"
      ? (
        <ConfirmButton
          label="Drain worker"
          title={`Drain ${name}?`}
          act={() => call("POST /admin/v1/workers/:id/drain", { params: { id } })}
        >
          It finishes the {plural(running_jobs, "job")} that it runs, and claims no more until you resume it.
        </ConfirmButton>
      )
      : (
        <ConfirmButton
          label="Resume worker"
          title={`Resume ${name}?`}
          tone="primary"
          act={() => call("POST /admin/v1/workers/:id/resume", { params: { id } })}
        >
          It claims jobs again.
        </ConfirmButton>
      )
}
