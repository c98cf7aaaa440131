/** The models and their upstreams. */
import { useQuery } from "@tanstack/react-query"
import { call } from "../../../api/call.ts"
import type { ResponseOf } from "../../../api/contract.ts"
import { Badge, type Tone } from "../../../components/Badge.tsx"
import { Card, Page } from "../../../components/Card.tsx"
import { LoadedTable } from "../../../components/LoadedTable.tsx"
import { Empty } from "../../../components/States.tsx"
import type { Column } from "../../../components/Table.tsx"
import { MaybeTime, Time } from "../../../components/Time.tsx"
import { ConfirmButton } from "../Confirm.tsx"
import { usePermits } from "../permits.ts"
import { operatorModelsQuery } from "../queries.ts"

/** The page. */
export const Models = () => {
  const canPause = usePermits("operator")
  return (
    <Page title="Models" about="Models of the configuration. Withdrawn ones are listed while jobs refer to them.">
      <Card title="Models" flush>
        <LoadedTable
          label="Models"
          query={useQuery(operatorModelsQuery)}
          rowKey={({ id }) => id}
          columns={canPause ? [...columns, pauseColumn] : columns}
          empty={<Empty title="No models" />}
        />
      </Card>
    </Page>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Model = ResponseOf<"GET /admin/v1/models">["data"][number]

const tones: Readonly<Record<Model["status"], readonly [Tone, string]>> = {
  available: ["positive", "Available"],
  degraded: ["warning", "Degraded"],
  paused: ["danger", "Paused"],
  withdrawn: ["neutral", "Withdrawn"]
}

const columns: ReadonlyArray<Column<Model>> = [
  { title: "Model", cell: ({ id }) => <span className="font-mono text-xs whitespace-nowrap">{id}</span> },
  { title: "Kind", cell: ({ kind }) => kind === "image" ? "Image" : "Video" },
  { title: "Status", cell: ({ status }) => <Badge tone={tones[status][0]}>{tones[status][1]}</Badge> },
  { title: "Paused by an operator", cell: ({ paused_at }) => <MaybeTime at={paused_at} /> },
  { title: "Upstreams", cell: ({ upstreams }) => <span className="font-mono text-xs">{upstreams.join(", ")}</span> },
  {
    title: "Failing upstreams",
    className: "min-w-52",
    cell: ({ reports }) =>
      reports.length === 0 ? <span className="text-muted">none</span> : (
        <ul className="text-xs">
          {reports.map(({ retry_at, status, upstream, worker }) => (
            <li key={`${worker} ${upstream}`}>
              {upstream} {status} in {worker}, next test <Time at={retry_at} />
            </li>
          ))}
        </ul>
      )
  }
]

const pauseColumn: Column<Model> = {
  title: <span className="sr-only">Actions</span>,
  isNumber: true,
  cell: ({ id, paused_at, status }) => {
    if (status === "withdrawn") return null
    return paused_at === null
      ? (
        <ConfirmButton
          label="Pause model"
          title={`Pause ${id}?`}
          act={() => call("POST /admin/v1/models/:id/pause", { params: { id } })}
        >
          New jobs are rejected with model_unavailable. Waiting jobs stay in the queue, and running ones continue.
        </ConfirmButton>
      )
      : (
        <ConfirmButton
          label="Resume model"
          title={`Resume ${id}?`}
          tone="primary"
          act={() => call("POST /admin/v1/models/:id/resume", { params: { id } })}
        >
          New jobs are accepted within 5 seconds.
        </ConfirmButton>
      )
  }
}
